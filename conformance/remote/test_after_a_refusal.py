"""Does a new connection reach the same region as before, after a refusal?"""

from dataclasses import replace

from conformance.remote.operations import (
    NAMING,
    READ,
    SEND,
    WITH_BUFFER,
    in_both_topologies,
)
from conformance.spec.model import Key, Region, Segment, Transfer
from conformance.spec.operations import needed_right
from conformance.spec.vocabulary import Access
from rdma_conformance.suite import asks


def refusals(operation: Transfer) -> list[Transfer]:
    """`operation` with each kind of fault that the responder finds."""
    right = needed_right(operation.operation, operation.placement)
    faults = (
        {"remote": Region(Access.LOCAL_WRITE)},
        {"qp_access": operation.qp_access & ~right},
        {"rkey_xor": 0xFF},
        {"rkey": Key.OTHER_DOMAIN},
        {"remote_offset": 4096},
    )
    return [replace(operation, recover=True, **fault) for fault in faults]


@asks(
    "REFUSAL-RECOVERY",
    cases=in_both_topologies(
        [
            *(refusal for operation in NAMING for refusal in refusals(operation)),
            *(
                replace(operation, recover=True, local_sgl=(Segment(operation.length, key=key),))
                for operation in WITH_BUFFER
                for key in (Key.ZERO, Key.OTHER_DOMAIN)
            ),
            replace(READ, recover=True, local=Region(Access.REMOTE_READ)),
            replace(SEND, recover=True, receive_sgl=(Segment(64, key=Key.ZERO),)),
            replace(SEND, recover=True, receive_sgl=(Segment(63),)),
        ]
    ),
)
def test_a_new_connection_works(case, verify):
    verify(case)
