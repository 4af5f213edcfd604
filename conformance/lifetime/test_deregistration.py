"""Is a key dead when its region was deregistered, in each role that a region can have?"""

from conformance.spec.lifetime import Retired, Side
from conformance.spec.operations import ATOMICS, REACHING
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks

LOCALLY = (Operation.SEND, Operation.WRITE, Operation.READ, *sorted(ATOMICS))


@asks(
    "DEREG-KEY",
    cases=[Retired(Side.REMOTE, operation) for operation in REACHING]
    + [Retired(Side.LOCAL, operation) for operation in LOCALLY],
)
def test_the_keys_of_a_region_that_is_gone(case, verify):
    verify(case)


@asks("DEREG-RECEIVE", cases=[Retired(Side.RECEIVE, Operation.SEND)])
def test_a_receive_that_was_posted_before(case, verify):
    verify(case)


@asks(
    "DEREG-KEY-REUSE",
    cases=[
        Retired(side, operation, again=again)
        for side in (Side.REMOTE, Side.LOCAL)
        for operation in (Operation.WRITE, Operation.READ)
        for again in (1, 300, 2000)
    ],
)
def test_an_old_key_never_opens_a_new_region(case, verify):
    verify(case)
