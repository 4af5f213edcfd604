"""Which of two faults is told? Either may be; that the request is refused is certain."""

from dataclasses import replace

from conformance.remote.operations import CMP_SWAP, FETCH_ADD, READ, WITH_BUFFER, WRITE
from conformance.spec.model import Key, Region, Segment
from conformance.spec.operations import needed_right
from conformance.spec.vocabulary import Access, Operation
from rdma_conformance.suite import asks

REMOTE = [operation for operation in WITH_BUFFER if operation.operation is not Operation.SEND]


@asks(
    "TWO-FAULTS",
    cases=[
        *(
            replace(
                operation,
                rkey_xor=0xFF,
                local_sgl=(Segment(operation.length, key=Key.ZERO),),
            )
            for operation in REMOTE
        ),
        *(
            replace(
                operation,
                remote=Region(Access.LOCAL_WRITE),
                qp_access=operation.qp_access & ~needed_right(operation.operation),
            )
            for operation in REMOTE
        ),
        *(replace(operation, remote_offset=4097) for operation in (CMP_SWAP, FETCH_ADD)),
        *(
            replace(operation, remote_offset=4096, local=Region(Access.REMOTE_READ))
            for operation in (READ, CMP_SWAP, FETCH_ADD)
        ),
        replace(WRITE, remote_offset=4096, local_sgl=(Segment(64, 4096),)),
    ],
)
def test_two_faults_at_once(case, verify):
    verify(case)
