"""After a region was re-registered, does the new contract hold, and the old one no more?"""

from dataclasses import replace
from itertools import product

from conformance.spec.reregistration import PART, Change, Fault, Reregistered, Way
from rdma_conformance.suite import asks

CHANGES = [Change(bits) for bits in range(1, 8)]
PLAIN = [Reregistered(way, change) for way, change in product(Way, CHANGES)]


def invalid():
    """Each subset of the three changes in which one part is invalid, and flags that mean none."""
    for case in PLAIN:
        for fault, part in PART.items():
            # The library takes a domain as an object of its own, which can't be an unknown one.
            if part in case.change and (fault, case.way) != (Fault.UNKNOWN_DOMAIN, Way.LIBRARY):
                # Rights that the region has not yet: what the request would have given.
                yield replace(case, fault=fault, more=Change.ACCESS in case.change)
    for way in Way:
        yield Reregistered(way, Change(0), Fault.NO_FLAGS)
        for change in Change:
            more = change is Change.ACCESS
            yield Reregistered(way, change, Fault.UNKNOWN_FLAG, more=more)


@asks(
    "REREG-CHANGE",
    cases=PLAIN
    + [replace(case, more=True) for case in PLAIN if Change.ACCESS in case.change]
    + [replace(case, paged=True) for case in PLAIN],
)
def test_the_new_contract_holds_alone(case, verify):
    verify(case)


@asks("REREG-INVALID", cases=invalid())
def test_an_invalid_request_changes_nothing_for_the_better(case, verify):
    verify(case)


@asks(
    "REREG-READ-ONLY",
    cases=[Reregistered(way, Change.ACCESS, Fault.READ_ONLY, more=True) for way in Way],
)
def test_read_only_memory_stays_unwritten(case, verify):
    verify(case)


@asks(
    "REREG-WINDOW",
    cases=[
        replace(case, fault=Fault.WINDOW)
        for case in PLAIN
        if case.change in (Change.TRANSLATION, Change.DOMAIN, Change.ACCESS)
    ],
)
def test_a_bound_window_does_not_outlive_the_contract(case, verify):
    verify(case)
