"""Are atomic operations exact, aligned, and of eight bytes?"""

from dataclasses import replace

from conformance.remote.operations import (
    CMP_SWAP,
    FETCH_ADD,
    NAMING,
    in_both_topologies,
)
from conformance.spec.model import Operand, Segment
from conformance.spec.operations import EIGHT_BYTES
from rdma_conformance.suite import asks

PLACES = (0, 8, 1024, 4088)  # offsets in bytes


@asks(
    "ATOMIC-RESULT",
    cases=in_both_topologies(
        replace(operation, operand=operand, remote_offset=offset)
        for operation, operand in (
            (CMP_SWAP, Operand.MISS_FIRST),
            (CMP_SWAP, Operand.MISS_LAST),
            (FETCH_ADD, Operand.WRAP),
        )
        for offset in PLACES
    ),
)
def test_the_result(case, verify):
    verify(case)


@asks(
    "ATOMIC-ALIGNMENT",
    cases=in_both_topologies(
        replace(operation, remote_offset=place + offset)
        for operation in NAMING
        if operation.operation in EIGHT_BYTES
        for place in (0, 1024)
        for offset in range(1, 8)
    ),
)
def test_an_address_that_is_not_aligned(case, verify):
    verify(case)


@asks(
    "ATOMIC-SIZE",
    cases=[
        replace(operation, local_sgl=(Segment(length, 64),))
        for operation in (CMP_SWAP, FETCH_ADD)
        for length in (1, 4, 7, 9, 12, 16)
    ],
)
def test_a_local_buffer_of_another_size(case, verify):
    verify(case)
