"""What can a window be bound to, and how? A bind that is refused opens nothing."""

from dataclasses import replace
from itertools import product

from conformance.spec.model import PAGE
from conformance.spec.vocabulary import Access
from conformance.spec.window import BINDABLE, FAR, WINDOW_RIGHTS, Domain, Region, WrongCall
from conformance.windows.operations import TYPES, WRITES
from rdma_conformance.suite import asks

LW, RW, RR, RA = (
    Access.LOCAL_WRITE,
    Access.REMOTE_WRITE,
    Access.REMOTE_READ,
    Access.REMOTE_ATOMIC,
)
WITHOUT_BIND = (Access(0), LW, LW | RW, LW | RW | RR | RA)
# (start, extent) in bytes from the region's first: what fits to the byte, and what does not.
FITTING = ((0, PAGE), (0, 64), (PAGE - 64, 64), (1, PAGE - 1), (0, PAGE - 1), (1000, 65))
OUTSIDE = (
    (0, PAGE + 1),
    (-1, PAGE),
    (-1, 64),
    (PAGE - 63, 64),
    (PAGE, 64),
    (1, PAGE),
    (FAR, 64),
    (-FAR, 64),
)
WRAPPING = ((64, (1 << 64) - 64), (PAGE - 1, (1 << 64) - 1))
EMPTY = ((0, 0), (64, 0))


@asks(
    "MW-BIND-RIGHT",
    cases=[
        replace(window, region=Region(access), rights=rights)
        for window in WRITES
        for access, rights in [
            *product(WITHOUT_BIND, (RW, RR, Access(0))),
            *product((Access.MW_BIND, RR | Access.MW_BIND), (RW, RA, RW | RR, RR | RA)),
        ]
    ],
)
def test_what_the_region_must_allow(case, verify):
    verify(case)


@asks(
    "MW-BIND-RANGE",
    cases=[
        replace(window, start=start, extent=extent)
        for window in WRITES
        for start, extent in FITTING + OUTSIDE + WRAPPING
    ],
)
def test_the_range_lies_in_the_region(case, verify):
    verify(case)


@asks(
    "MW-BIND-RANGE",
    cases=[
        replace(window, start=start, extent=extent)
        for window in WRITES
        if window.type == 2  # of type 1 it unbinds
        for start, extent in EMPTY
    ],
)
def test_no_byte_is_no_range(case, verify):
    verify(case)


@asks(
    "MW-DOMAIN",
    cases=[
        replace(window, domain=domain, region=replace(BINDABLE, domain=region))
        for window in WRITES
        for domain, region in product(Domain, Domain)
        if Domain.OTHER in (domain, region)
    ],
)
def test_one_protection_domain_for_all(case, verify):
    verify(case)


@asks(
    "MW-ACCESS-BITS",
    cases=[
        replace(window, rights=WINDOW_RIGHTS | bit)
        for window in WRITES
        for bit in (Access.MW_BIND, Access.ON_DEMAND, Access.HUGETLB, 1 << 13, 1 << 31)
    ],
)
def test_bits_that_are_no_right_of_a_window(case, verify):
    verify(case)


@asks("MW-BIND-CALL", cases=[WrongCall(number) for number in TYPES])
def test_the_call_for_the_other_type(case, verify):
    verify(case)
