"""Does a region keep to the memory that was registered, when the process forks or maps anew?"""

from conformance.spec.crowd import Forked, Remapped
from conformance.spec.vocabulary import PAGE
from rdma_conformance.suite import asks


@asks(
    "REG-FORK",
    cases=[Forked(100, 200), Forked(1, PAGE - 1), Forked(PAGE, 0), Forked(2 * PAGE + 10, 17)],
)
def test_a_process_that_forks(case, verify):
    verify(case)


@asks(
    "REG-REMAP",
    cases=[
        *(Remapped(length) for length in (64, PAGE, 3 * PAGE)),
        # Short ones: what lies deeper in a page is asked with the other kinds of memory.
        *(Remapped(length, on_demand=True) for length in (1, 64)),
    ],
)
def test_other_memory_at_the_same_address(case, verify):
    verify(case)
