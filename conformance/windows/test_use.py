"""Which key, which bytes and which queue pair open a window?"""

from dataclasses import replace

from conformance.spec.operations import EIGHT_BYTES, size
from conformance.spec.vocabulary import Access, Operation
from conformance.spec.window import ELSEWHERE, EXTENT, FAR, START, Through, Window
from conformance.windows.operations import GRANTED, TWO, WRITES, WRITES_AND_READS
from rdma_conformance.suite import asks


def edges(window: Window) -> list[int]:
    """Offsets around both ends of a window that lies within its region."""
    length = size(window.operation)
    last = EXTENT - length  # the last start that fits
    step = 8 if window.operation in EIGHT_BYTES else 1  # atomics are aligned
    inside = [step, last - step, last]
    outside = [-step, -length, last + step, last + length, -START, ELSEWHERE, -FAR, FAR]
    return list(dict.fromkeys(inside + outside))


@asks("MW-RANGE", cases=[replace(window, at=at) for window in GRANTED for at in edges(window)])
def test_the_ends_of_a_window(case, verify):
    verify(case)


@asks(
    "MW-QUEUE-PAIR",
    cases=[
        replace(window, through=through)
        for window in GRANTED
        for through in (Through.OTHER, Through.FOREIGN)
    ],
)
def test_the_queue_pairs_that_may_use_a_window(case, verify):
    verify(case)


@asks(
    "MW-KEY",
    cases=[
        replace(window, key_xor=bits)
        for window in WRITES
        if window.type == TWO
        for bits in range(256)
        if bits != 1
    ],
)
def test_every_key_byte_can_be_bound(case, verify):
    verify(case)


@asks(
    "MW-KEY",
    cases=[
        replace(window, rkey_xor=bits)
        for window in WRITES
        for bits in [*(1 << bit for bit in range(13)), 0x55, 0xAA, 0xFF]
    ]
    + [replace(window, old_key=True) for window in GRANTED],
)
def test_only_the_bound_key_opens(case, verify):
    verify(case)


@asks(
    "MW-ZERO-BASED",
    cases=[
        replace(window, rights=window.rights | Access.ZERO_BASED, **where)
        for window in WRITES_AND_READS
        for where in (
            {},
            {"at": 1},
            {"at": EXTENT - size(Operation.WRITE)},
            {"at": EXTENT - size(Operation.WRITE) + 1},
            {"at": EXTENT},
            {"at": -1},
            {"by_address": True},
        )
        if window.type == TWO or not where
    ],
)
def test_a_zero_based_window_is_addressed_by_offset(case, verify):
    verify(case)
