"""Rows written by hand from the documents, and how the oracle is held against them.

The oracle and the suites could share a mistake; the rows were derived from the catalogue's
sources alone. `allowed` holds, for each verdict that the oracle may lead to, one answer or several:
facts and the values each may take. Each answer has to be an outcome of the oracle, and each outcome
one of the answers, with the same sets of values for the facts that the answer names: what two
answers allow apart can't be mixed into a third.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from conformance.spec import oracle
from conformance.spec.memory import AnyPrefix
from conformance.spec.model import Capabilities, Case, Outcome
from conformance.spec.vocabulary import Access, Verdict

Facts = Mapping[str, list[Any]]
Answers = Facts | Sequence[Facts]

SEED = 7
LW, RW, RR, RA = (
    Access.LOCAL_WRITE,
    Access.REMOTE_WRITE,
    Access.REMOTE_READ,
    Access.REMOTE_ATOMIC,
)
MWB, ZB, ODP, HT = Access.MW_BIND, Access.ZERO_BASED, Access.ON_DEMAND, Access.HUGETLB
FG, FP, RO = Access.FLUSH_GLOBAL, Access.FLUSH_PERSISTENT, Access.RELAXED_ORDERING
NONE = Access(0)
ALL = LW | RW | RR | RA

CLAIMED = Capabilities(
    {
        name: f"{name} was probed"
        for name in (
            "atomic",
            "atomic_write",
            "flush_global",
            "flush_persistent",
            "memory_window",
            "odp",
        )
    }
)
BARE = Capabilities({}, {"atomic_write": "bit 40 is clear", "flush_global": "bit 38 is clear"})


@dataclass(frozen=True)
class Row:
    requirement: str
    case: Case
    allowed: Mapping[Verdict, Answers]
    caps: Capabilities = field(default=CLAIMED)


def rows(*tables: Iterable[Row]) -> pytest.MarkDecorator:
    """Parametrize a test over the rows of `tables`, by number, requirement and case."""
    every = [row for table in tables for row in table]
    return pytest.mark.parametrize(
        "row",
        [
            pytest.param(row, id=f"{number}-{row.requirement}-{row.case.id}")
            for number, row in enumerate(every)
        ],
    )


def agrees(row: Row) -> None:
    """The oracle says of the row's case what the row says."""
    expectation = oracle.expect(row.case, row.caps, SEED)
    assert expectation.requirement == row.requirement
    assert expectation.unclaimed is None
    assert {outcome.verdict for outcome in expectation.outcomes} == set(row.allowed)
    for verdict, answers in row.allowed.items():
        outcomes = [o for o in expectation.outcomes if o.verdict is verdict]
        listed = _listed(answers)
        for outcome in outcomes:
            assert any(_is(outcome, answer) for answer in listed), f"not in the row: {outcome}"
        for answer in listed:
            assert any(_is(outcome, answer) for outcome in outcomes), f"not said: {answer}"


def _listed(answers: Answers) -> Sequence[Facts]:
    return [answers] if isinstance(answers, Mapping) else answers


def _is(outcome: Outcome, answer: Facts) -> bool:
    """Whether an outcome allows just what an answer says of the facts that it names."""
    return all(
        fact in outcome.facts and _set(outcome.facts[fact]) == _set(values)
        for fact, values in answer.items()
    )


def _set(values: Iterable[Any]) -> set[str]:
    return {json.dumps(value, sort_keys=True, default=AnyPrefix.plain) for value in values}


EVERYTHING = Capabilities(
    {
        **CLAIMED.claims,
        **dict.fromkeys(
            ("transport_uc", "transport_ud", "sge_lists", "inline", "shared_receive_queue"),
            "probed",
        ),
    }
)
EMPTY = {"byte_len": 0, "imm": None, "opcode": "RECV"}


def row(requirement: str, case: Case, *allowed: dict[Verdict, Answers]) -> Row:
    """A row on a device that claims everything; several `allowed` are alternatives."""
    answers: dict[Verdict, list[Facts]] = {}
    for one in allowed:
        for verdict, facts in one.items():
            answers.setdefault(verdict, []).extend(_listed(facts))
    return Row(requirement, case, answers, EVERYTHING)


def answer(**facts: Any) -> dict[Verdict, Facts]:
    """One answer: each fact with its one value."""
    return {Verdict.PASS: {name: [value] for name, value in facts.items()}}


def any_of(*runs: list[Any]) -> dict[str, list[Any]]:
    return {"any prefix of": list(runs)}
