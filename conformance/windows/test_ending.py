"""Is a window dead after its end, whichever way it ended, and only then?"""

from dataclasses import replace

import pytest

from conformance.spec.window import (
    ELSEWHERE,
    START,
    Allocation,
    Ending,
    Fault,
    Invalidation,
    LentMidway,
)
from conformance.windows.operations import GRANTED, ONE, TWO, WRITES_AND_READS
from rdma_conformance.suite import asks

ENDINGS = {
    ONE: (Ending.UNBOUND, Ending.DEALLOCATED),
    TWO: (Ending.INVALIDATED, Ending.INVALIDATED_BY_PEER, Ending.DEALLOCATED),
}
FAULTS = [fault for fault in Fault if fault is not Fault.NEVER_BOUND]


@asks(
    "MW-ALLOC",
    cases=[Allocation(number) for number in (1, 2, 0, 3, 255)]
    + [replace(window, ending=Ending.NEVER_BOUND) for window in GRANTED],
)
def test_a_window_is_allocated_and_opens_nothing(case, verify):
    verify(case)


@asks(
    "MW-END",
    cases=[replace(window, ending=ending) for window in GRANTED for ending in ENDINGS[window.type]],
)
def test_the_key_is_dead_after_the_end(case, verify):
    verify(case)


@asks(
    "MW-TRAFFIC",
    cases=[
        LentMidway(type, ending)
        for type in (ONE, TWO)
        for ending in ENDINGS[type]
        if ending is not Ending.INVALIDATED_BY_PEER  # it would wait behind the peer's own WRITE
    ],
)
def test_the_end_of_a_window_in_the_middle_of_traffic(case, verify):
    verify(case)


@asks(
    "MW-REBIND",
    cases=[
        replace(window, ending=ending, **where)
        for window in WRITES_AND_READS
        for ending in (Ending.MOVED, Ending.BOUND_AGAIN)
        for where in ({}, {"at": START - ELSEWHERE}, {"old_key": True})
        # Of type 2 the bind that moves it is refused: then there is no second place or key.
        if (window.type == ONE) is (ending is Ending.MOVED)
    ]
    # The key of the allocation again: what is judged then is the bind, not its key.
    + [
        replace(window, ending=ending, key_xor=bits)
        for window in WRITES_AND_READS
        if window.type == TWO
        for ending, bits in ((Ending.BOUND_AGAIN, 0), (Ending.MOVED, 0), (Ending.MOVED, 1))
    ],
)
def test_a_second_bind(case, verify):
    verify(case)


@asks(
    "MW-INVALIDATE",
    cases=[Invalidation(by_peer, fault) for by_peer in (False, True) for fault in FAULTS],
)
def test_what_may_not_be_invalidated_lives(case, verify):
    verify(case)


@pytest.mark.hazard
@asks(
    "MW-INVALIDATE-UNBOUND",
    cases=[Invalidation(by_peer, Fault.NEVER_BOUND) for by_peer in (False, True)],
)
def test_invalidating_what_was_never_bound(case, verify):
    verify(case)


@pytest.mark.hazard
@asks(
    "MW-QP-DESTROYED",
    cases=[
        replace(window, ending=Ending.QUEUE_PAIR_DESTROYED)
        for window in WRITES_AND_READS
        if window.type == TWO
    ],
)
def test_a_window_dies_with_its_queue_pair(case, verify):
    verify(case)
