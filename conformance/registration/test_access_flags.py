"""Which access values register? Every subset of the defined flags, and every other bit."""

from collections.abc import Iterator
from itertools import product

from conformance.spec.model import ALL_RIGHTS, Registration
from conformance.spec.registration import DEFINED
from conformance.spec.vocabulary import OPTIONAL_BITS, Access
from rdma_conformance.suite import asks

BASES = (Access(0), Access.LOCAL_WRITE, ALL_RIGHTS)
UNDEFINED_BITS = (*range(10, 20), 30, 31)


def every_subset() -> Iterator[Registration]:
    """All 2^11 subsets of the defined access flags."""
    for chosen in product((False, True), repeat=len(Access)):
        yield Registration(sum(flag for flag, on in zip(Access, chosen, strict=True) if on))


@asks(
    "REG-FLAGS-LEGAL",
    "REG-NO-RIGHTS",
    "REG-REMOTE-NEEDS-LOCAL",
    "REG-CAPABILITY",
    "REG-FLUSH-PERSISTENT",
    "REG-OPTIONAL-BITS",
    cases=every_subset(),
)
def test_every_subset_of_the_defined_flags(case, verify):
    verify(case)


@asks(
    "REG-UNDEFINED-BIT",
    cases=[Registration(base | 1 << bit) for bit in UNDEFINED_BITS for base in BASES],
)
def test_an_undefined_bit_is_refused(case, verify):
    verify(case)


@asks(
    "REG-OPTIONAL-BITS",
    cases=[
        Registration(base | 1 << bit)
        for bit in OPTIONAL_BITS
        for base in BASES
        if not 1 << bit & DEFINED
    ],
)
def test_an_optional_bit_never_fails(case, verify):
    verify(case)
