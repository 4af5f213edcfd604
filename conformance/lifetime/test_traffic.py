"""Does a registration end in the middle of traffic, in time, with nothing written after?"""

from conformance.spec.lifetime import Forked, Killed, Midway, Rounds, Side
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks


@asks(
    "DEREG-MIDWAY",
    cases=[
        Midway(operation, side, after_us)
        for operation in (Operation.WRITE, Operation.READ)
        for side in (Side.REMOTE, Side.LOCAL)
        for after_us in (0, 1000, 5000)
    ],
)
def test_deregistration_during_a_large_transfer(case, verify):
    verify(case)


@asks("DEREG-ROUNDS", cases=[Rounds(10_000)])
def test_many_rounds_leave_nothing(case, verify):
    verify(case)


@asks("DEREG-FORK", cases=[Forked(killed) for killed in (False, True)])
def test_a_child_takes_nothing_along(case, verify):
    verify(case)


@asks("DEREG-KILLED", cases=[Killed(operation) for operation in (Operation.WRITE, Operation.READ)])
def test_a_process_that_is_killed_leaves_nothing(case, verify):
    verify(case)
