"""What does a request meet that needs a receive, when none is posted?"""

from dataclasses import replace

from conformance.remote.operations import SEND, WRITE_IMM, in_both_topologies
from conformance.spec.model import Posted
from rdma_conformance.suite import asks


@asks(
    "RECEIVER-NOT-READY",
    cases=in_both_topologies(
        replace(operation, posted=posted)
        for operation in (SEND, WRITE_IMM)
        for posted in (Posted.LATE, Posted.NEVER)
    ),
)
def test_no_receive_is_posted(case, verify):
    verify(case)
