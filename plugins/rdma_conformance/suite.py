"""What a suite file uses: `asks` ties a test function to its requirements and its cases."""

from collections.abc import Iterable
from functools import cache

import pytest

from conformance.spec import oracle
from conformance.spec.model import Case


@cache
def _mark(requirement: str) -> pytest.MarkDecorator:
    return pytest.mark.requirement(requirement)


def asks(*requirements: str, cases: Iterable[Case]) -> pytest.MarkDecorator:
    """Parametrize a test over `cases`; `requirements` are the rules that they may ask.

    Each case carries the mark of the one rule that the oracle says it asks. Raises ValueError
    (a collection error) when that rule is not among `requirements`, or when one of
    `requirements` has no case: a test can't claim what it does not ask.
    """
    params = []
    asked = set()
    for case in cases:
        requirement = oracle.requirement(case)
        if requirement not in requirements:
            raise ValueError(f"case {case.id} asks {requirement}, which the test does not name")
        asked.add(requirement)
        params.append(pytest.param(case, id=case.id, marks=_mark(requirement)))
    if idle := sorted(set(requirements) - asked):
        raise ValueError(f"no case asks {', '.join(idle)}")
    return pytest.mark.parametrize("case", params)
