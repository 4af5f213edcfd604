"""Do remote operations reach a region through its iova, to the byte, and not by its address?"""

from dataclasses import replace

from conformance.spec.model import ALL_RIGHTS, Region, Transfer
from conformance.spec.operations import ATOMICS
from conformance.spec.vocabulary import Operation
from conformance.zero_based.iovas import IOVAS, LENGTH
from rdma_conformance.suite import asks

MOVING = (Operation.WRITE, Operation.READ)
SIZE = 64


def at(
    operation: Operation, iova: int, offset: int, page_offset: int = 0, length: int = LENGTH
) -> Transfer:
    """`operation` at `offset` bytes from the first byte of a region with that iova."""
    region = Region(ALL_RIGHTS, length, page_offset, iova=iova + page_offset)
    size = 8 if operation in ATOMICS else SIZE
    return Transfer(operation, length=size, remote=region, remote_offset=offset)


@asks(
    "ZB-REMOTE",
    cases=[
        at(operation, iova, offset)
        for operation in MOVING
        for iova in IOVAS
        for offset in (0, LENGTH // 2 - SIZE // 2, LENGTH - SIZE)
    ]
    + [
        at(operation, iova, offset, 100, 300)
        for operation in MOVING
        for iova in (0, 1 << 32)
        for offset in (0, 300 - SIZE)
    ],
)
def test_the_first_and_the_last_bytes(case, verify):
    verify(case)


@asks(
    "ZB-REMOTE",
    cases=[
        at(operation, iova, offset)
        for operation in MOVING
        for iova in IOVAS
        for offset in (LENGTH - SIZE + 1, LENGTH)
    ]
    + [
        at(operation, iova, -1)
        for operation in MOVING
        for iova in IOVAS
        if iova  # before 0 lies the end of all addresses
    ]
    + [
        at(operation, iova, offset, 100, 300)
        for operation in MOVING
        for iova in (0, 1 << 32)
        for offset in (-1, -100, 300 - SIZE + 1)
    ],
)
def test_a_byte_outside_is_refused(case, verify):
    verify(case)


@asks(
    "ZB-REMOTE",
    cases=[
        replace(case, remote=replace(case.remote, by_address=True))
        for case in (at(operation, iova, 0) for operation in MOVING for iova in IOVAS)
    ],
)
def test_the_virtual_address_is_refused(case, verify):
    verify(case)


@asks(
    "ZB-ATOMIC",
    cases=[
        at(operation, iova, offset)
        for operation in sorted(ATOMICS)
        for iova in IOVAS
        for offset in (0, LENGTH - 8)
    ]
    + [
        at(operation, iova, offset)
        for operation in sorted(ATOMICS)
        for iova in (0, 1 << 32)
        for offset in (1, 4, 7)
    ]
    + [at(operation, iova, LENGTH) for operation in sorted(ATOMICS) for iova in (0, 1 << 32)],
)
def test_atomics(case, verify):
    verify(case)
