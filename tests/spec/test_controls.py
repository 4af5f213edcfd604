"""Each refusal that the suites ask for is told from a driver that refuses everything.

Either a positive control is asked before the case, or the case itself holds something that has to
succeed.
"""

import errno
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from conformance.spec import oracle
from conformance.spec.memlock import About, Memlock, Step
from conformance.spec.model import Capabilities, Expectation, Outcome, Registration
from conformance.spec.vocabulary import Access, Verdict
from rdma_conformance.suites import all_cases

REFUSED = {"refused", *errno.errorcode.values()}
SUCCEEDED = {"SUCCESS", "OK", "granted", "exact"}
# How many regions a process has to get in before the one that is refused.
COUNTED = {"filled"}


class Claims(Capabilities):
    """A device that claims whatever it is asked for."""

    def has(self, name: str) -> bool:
        return True


DEVICES = {"claims everything": Claims({}), "claims nothing": Capabilities({})}


def words(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple):
            yield from words(value)


def refuses(outcome: Outcome) -> bool:
    """Whether one of its facts can only be that something was refused."""
    return any(
        told and all(word in REFUSED or word.endswith("_ERR") for word in told)
        for told in map(list, map(words, outcome.facts.values()))
    )


def succeeds(outcome: Outcome) -> bool:
    """Whether one of its facts can only be that something succeeded."""
    return any(
        fact in COUNTED
        or any(isinstance(value, list) and "OK" in value for value in values)
        or all(isinstance(value, str) and value in SUCCEEDED for value in values)
        for fact, values in outcome.facts.items()
    )


def uncontrolled(expectation: Expectation) -> bool:
    """Whether a driver that refuses everything could pass the case of `expectation`."""
    if expectation.control is not None:
        return False
    return any(
        outcome.verdict is Verdict.PASS and refuses(outcome) and not succeeds(outcome)
        for outcome in expectation.outcomes
    )


@cache
def expected(device: str) -> dict[str, Expectation]:
    return {name: oracle.expect(case, DEVICES[device]) for name, case in all_cases().items()}


@pytest.mark.parametrize("device", DEVICES)
def test_every_refusal_has_a_control(device):
    assert [name for name, each in expected(device).items() if uncontrolled(each)] == []


def test_a_refusal_without_control_is_seen():
    refused = oracle.expect(Registration(Access.REMOTE_WRITE), Claims({}))
    assert not uncontrolled(refused)
    assert uncontrolled(replace(refused, control=None))
    below = oracle.expect(Memlock(About.TOO_LOW, "row", 1, (Step(), Step())), Claims({}))
    assert uncontrolled(replace(below, control=None))


@pytest.mark.parametrize("device", DEVICES)
def test_a_control_succeeds_and_needs_none(device):
    for name, expectation in expected(device).items():
        if expectation.control is None:
            continue
        found = oracle.expect(expectation.control, DEVICES[device])
        assert found.control is None, name
        if found.unclaimed is None:
            assert not any(map(refuses, found.outcomes)) or any(map(succeeds, found.outcomes)), name
