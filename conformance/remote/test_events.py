"""Is the responder's consumer told of a refusal by an asynchronous event?

A refused WRITE with immediate data is left out: its receive completion tells.
"""

from dataclasses import replace

from conformance.remote.operations import OPERATIONS
from conformance.spec.model import Region
from conformance.spec.operations import needed_right
from conformance.spec.vocabulary import Access, Operation
from rdma_conformance.suite import asks

TOLD_BY_EVENT = [
    operation
    for operation in OPERATIONS
    if operation.operation not in (Operation.SEND, Operation.WRITE_IMM)
]


@asks(
    "EVENT-ACCESS-ERR",
    cases=[
        replace(operation, remote=Region(Access.LOCAL_WRITE), await_event=True)
        for operation in TOLD_BY_EVENT
    ],
)
def test_a_refusal_by_the_region_is_told(case, verify):
    verify(case)


@asks(
    "EVENT-REQ-ERR",
    cases=[
        replace(
            operation,
            qp_access=operation.qp_access
            & ~needed_right(operation.operation, operation.placement)
            & ~Access.LOCAL_WRITE,
            await_event=True,
        )
        for operation in TOLD_BY_EVENT
    ],
)
def test_a_refusal_by_the_queue_pair_is_told(case, verify):
    verify(case)
