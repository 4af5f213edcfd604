"""Are the first and the last byte of a region exact, and is the protection domain asked?"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from conformance.remote.operations import NAMING, READ, WRITE, WRITE_IMM
from conformance.spec.model import PAGE, Key, Transfer
from conformance.spec.operations import EIGHT_BYTES
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks

# (length, page_offset) in bytes: a whole page, the middle of a page, and over a page's edge.
PLACES = ((4096, 0), (1000, 1000), (1000, 3600))
FAR = 1 << 30


def edges(case: Transfer) -> Iterator[int]:
    """Offsets of an operation around both ends of its region, from inside to far away."""
    last = case.remote.length - case.length  # of the last byte that fits
    step = 8 if case.operation in EIGHT_BYTES else 1  # atomics are aligned
    yield from (step, last - step, last)
    yield from (-step, -case.length, last + step, last + case.length, -FAR, FAR)


@asks(
    "MR-RANGE",
    cases=[
        replace(placed, remote_offset=offset)
        for operation in NAMING
        for length, page_offset in PLACES
        for placed in [
            replace(
                operation,
                remote=replace(operation.remote, length=length, page_offset=page_offset),
            )
        ]
        for offset in dict.fromkeys(edges(placed))
    ],
)
def test_the_ends_of_a_region(case, verify):
    verify(case)


@asks(
    "MR-RANGE",
    cases=[
        # Of several packets, which leave the region with their last byte or their last packet.
        replace(
            operation,
            length=length,
            local=replace(operation.local, length=16384),
            remote=replace(operation.remote, length=room),
            remote_offset=offset,
        )
        for operation in (WRITE, WRITE_IMM, READ)
        for room in (1024, 2048, 4096, 8192)
        for length, offset in ((room + 1, 0), (room + 1024, 0), (room, 1), (room, -1), (256, room))
        # Of a WRITE with immediate data the path MTU must not decide what is expected.
        if operation is not WRITE_IMM or length > PAGE
    ],
)
def test_messages_of_several_packets(case, verify):
    verify(case)


@pytest.mark.hazard
@asks(
    "MR-RANGE",
    cases=[
        replace(operation, remote_address=(1 << 64) - operation.length // 2)
        for operation in (WRITE, READ)
    ],
)
def test_over_the_end_of_the_address_space(case, verify):
    verify(case)


@asks(
    "MR-DOMAIN",
    cases=[replace(operation, rkey=Key.OTHER_DOMAIN) for operation in NAMING],
)
def test_a_region_of_another_protection_domain(case, verify):
    verify(case)


@asks(
    "MR-ZERO-LENGTH",
    cases=[
        replace(operation, length=0, **fault)
        for operation in NAMING
        if operation.operation in (Operation.WRITE, Operation.WRITE_IMM, Operation.READ)
        for fault in ({}, {"rkey_xor": 0xFF}, {"rkey": Key.ZERO}, {"remote_offset": FAR})
    ],
)
def test_no_byte_needs_no_key(case, verify):
    verify(case)


@asks(
    "FLUSH-ZERO-LENGTH",
    cases=[
        replace(operation, length=0, **fault)
        for operation in NAMING
        if operation.operation is Operation.FLUSH
        for fault in ({}, {"rkey_xor": 0xFF}, {"rkey": Key.ZERO}, {"remote_offset": FAR})
    ],
)
def test_a_flush_of_no_byte(case, verify):
    verify(case)
