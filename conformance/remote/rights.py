"""The sets of access rights over which the remote suites range."""

from collections.abc import Iterator
from itertools import combinations

from conformance.spec.registration import NEEDS_LOCAL_WRITE
from conformance.spec.vocabulary import Access

RIGHTS = (
    Access.LOCAL_WRITE,
    Access.REMOTE_WRITE,
    Access.REMOTE_READ,
    Access.REMOTE_ATOMIC,
    Access.FLUSH_GLOBAL,
    Access.FLUSH_PERSISTENT,
)

# Flags that give no right. Each is tried with every set of rights, as it may take another path
# through a driver: none, window binding, relaxed ordering, on-demand paging.
MODIFIERS = (Access(0), Access.MW_BIND, Access.RELAXED_ORDERING, Access.ON_DEMAND)


def subsets(flags: tuple[Access, ...]) -> Iterator[Access]:
    """Every subset of `flags`, the smaller first."""
    for size in range(len(flags) + 1):
        for chosen in combinations(flags, size):
            yield Access(sum(chosen))


def legal_region_rights() -> Iterator[Access]:
    """Every set of rights that a region may have: remote write and atomic need local write."""
    for rights in subsets(RIGHTS):
        if Access.LOCAL_WRITE in rights or not rights & NEEDS_LOCAL_WRITE:
            yield rights
