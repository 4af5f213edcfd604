"""What a suite file uses: `asks` ties a test function to its requirements and its cases."""

from collections import Counter
from collections.abc import Iterable
from functools import cache

import pytest

from conformance.spec import oracle
from conformance.spec.crowding import effort
from conformance.spec.model import Case
from rdma_conformance.options import PROFILES

QUICK = 2  # cases of a rule in a test that the quick profile asks
_QUICK, _STANDARD, _EXHAUSTIVE = (pytest.mark.profile(name) for name in PROFILES)


@cache
def _mark(requirement: str) -> pytest.MarkDecorator:
    return pytest.mark.requirement(requirement)


def asks(
    *requirements: str, cases: Iterable[Case], exhaustive: bool = False
) -> pytest.MarkDecorator:
    """Parametrize a test over `cases`; `requirements` are the rules that they may ask.

    `exhaustive` cases take too long for every run: they need --profile exhaustive. The first cases
    of each rule are those of --profile quick.

    Each case carries the mark of the one rule that the oracle says it asks. Raises ValueError
    (a collection error) when that rule is not among `requirements`, or when one of
    `requirements` has no case: a test can't claim what it does not ask.
    """
    params = []
    asked: Counter[str] = Counter()
    for case in cases:
        requirement = oracle.requirement(case)
        if requirement not in requirements:
            raise ValueError(f"case {case.id} asks {requirement}, which the test does not name")
        asked[requirement] += 1
        profile = _EXHAUSTIVE if exhaustive else _STANDARD
        if asked[requirement] <= QUICK and not exhaustive and effort(case) == 1:
            profile = _QUICK
        params.append(pytest.param(case, id=case.id, marks=(_mark(requirement), profile)))
    if idle := sorted(set(requirements) - asked.keys()):
        raise ValueError(f"no case asks {', '.join(idle)}")
    return pytest.mark.parametrize("case", params)
