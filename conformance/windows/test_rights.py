"""Is an operation through a window allowed exactly when the window has the operation's right?"""

from dataclasses import replace
from itertools import combinations

from conformance.spec.vocabulary import Access
from conformance.spec.window import WINDOW_RIGHTS, Region
from conformance.windows.operations import GRANTED
from rdma_conformance.suite import asks

SETS = [
    Access(sum(chosen)) for size in range(4) for chosen in combinations(tuple(WINDOW_RIGHTS), size)
]
# The window's rights are its own: this region has none of them for itself.
CLOSED = Region(Access.LOCAL_WRITE | Access.MW_BIND)


@asks("MW-RIGHT", cases=[replace(window, rights=rights) for window in GRANTED for rights in SETS])
def test_the_rights_of_a_window(case, verify):
    verify(case)


@asks("MW-BIND-RIGHT", cases=[replace(window, region=CLOSED) for window in GRANTED])
def test_they_may_exceed_those_of_the_region(case, verify):
    verify(case)
