"""What happens in the wrong order: in use, twice, after the memory has gone?"""

from conformance.spec.lifetime import Busy, Handle, Handled, InUse, Wrong, WrongOrder
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks


@asks("DEREG-WINDOW-BOUND", "DEALLOC-IN-USE", cases=[InUse(what) for what in Busy])
def test_what_is_in_use_stays(case, verify):
    verify(case)


@asks("DEREG-TWICE", cases=[Handled(handle) for handle in Handle])
def test_a_handle_is_good_for_one_deregistration(case, verify):
    verify(case)


@asks(
    "DEREG-WRONG-ORDER",
    cases=[
        WrongOrder(wrong, operation)
        for wrong in Wrong
        for operation in (Operation.WRITE, Operation.READ, Operation.FETCH_ADD)
    ],
)
def test_memory_that_goes_before_its_registration(case, verify):
    verify(case)
