"""Is a region without any right never a sink? Its use as a source is asked with the flags."""

from dataclasses import replace

from conformance.remote.operations import OPERATIONS
from conformance.spec.model import Region
from conformance.spec.operations import FETCHING
from conformance.spec.vocabulary import Access, Operation
from rdma_conformance.suite import asks


@asks(
    "REG-NO-RIGHTS",
    cases=[
        replace(operation, local=Region(Access(0)))
        for operation in OPERATIONS
        if operation.operation in FETCHING | {Operation.SEND, Operation.WRITE}
    ],
)
def test_a_source_and_never_a_sink(case, verify):
    verify(case)
