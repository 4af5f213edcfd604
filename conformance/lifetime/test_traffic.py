"""Does a registration end in the middle of traffic, in time, with nothing written after?"""

from conformance.spec.lifetime import ChildProcess, Killed, Midway, Rounds, Side
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks


@asks(
    "DEREG-MIDWAY",
    cases=[
        Midway(operation, side, after_us)
        for operation in (Operation.WRITE, Operation.READ)
        for side in (Side.REMOTE, Side.LOCAL)
        for after_us in (0, 500, 2000)
        # The fault of a requester is told apart only while its transfer lasts.
        if after_us < 2000 or side is Side.REMOTE
    ],
)
def test_deregistration_during_a_large_transfer(case, verify):
    verify(case)


@asks("DEREG-ROUNDS", cases=[Rounds(10_000)])
def test_many_rounds_leave_nothing(case, verify):
    verify(case)


@asks("DEREG-FORK", cases=[ChildProcess(killed) for killed in (False, True)])
def test_a_child_takes_nothing_along(case, verify):
    verify(case)


@asks(
    "DEREG-KILLED",
    cases=[
        Killed(operation, retries)
        for operation, retries in (
            (Operation.WRITE, 6),
            (Operation.READ, 6),
            (Operation.WRITE, 7),
        )
    ],
)
def test_a_process_that_is_killed_leaves_nothing(case, verify):
    verify(case)
