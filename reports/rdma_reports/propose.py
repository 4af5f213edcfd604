"""Entries for the known deviations, proposed from what failed in a run. Pure.

A proposal lacks reason, cause and address, which only a person can give: the loader refuses it
until they are written.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from rdma_conformance.deviations import Deviation, version
from rdma_conformance.terminal import fact_words
from rdma_reports.lines import Result
from rdma_reports.runfile import Run

REVIEW_AFTER = timedelta(days=182)
MOST_VALUES = 8  # of a fact in one entry: more mean that the fact differs from case to case
_RANGES = ("kernel", "firmware")


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entry: cases of one requirement that failed alike, and patterns that cover only them."""

    id: str
    requirement: str
    title: str
    patterns: tuple[str, ...]
    observed: Mapping[str, tuple[Any, ...]]
    cases: int
    expected: str


def propose(run: Run, known: Iterable[Deviation]) -> list[Proposal]:
    """One proposal for each way in which cases of a requirement failed.

    Cases that hung or crashed observed nothing and are left out: a deviation lists an outcome.
    """
    results = list(run.results.values())
    alike: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.verdict == "FAIL" and result.differences:
            facts = {each["fact"]: each["observed"] for each in result.differences}
            plain = {name: facts[name] if _stable(facts[name]) else "" for name in sorted(facts)}
            alike.setdefault((result.requirement, json.dumps(plain)), []).append(result)
    names = _free_names(str(run.header.device.get("driver", "driver")), known)
    proposals = []
    for (requirement, _), cases in alike.items():
        failing = {case.case for case in cases}
        others = [r.case for r in results if r.case not in failing and r.requirement == requirement]
        proposals.append(
            Proposal(
                next(names),
                requirement,
                cases[0].title,
                tuple(patterns(sorted(failing), others)),
                _observed(cases),
                len(cases),
                _expected(cases[0]),
            )
        )
    return proposals


def fixed(run: Run) -> Mapping[str, int]:
    """The deviations of which cases conform now, with their number."""
    found: dict[str, int] = {}
    for result in run.results.values():
        if result.verdict == "FIXED" and result.deviation:
            found[result.deviation] = found.get(result.deviation, 0) + 1
    return found


def patterns(cases: Sequence[str], others: Iterable[str]) -> list[str]:
    """Patterns that cover all of `cases` and none of `others`, few and short.

    A pattern is the beginning of an id, up to the end of a word, with * behind it; an id whose
    every beginning is that of another case stands as it is.
    """
    others = list(others)
    found: list[str] = []
    for case in cases:
        if any(case.startswith(each[:-1]) for each in found if each.endswith("*")):
            continue
        start = case.index("::") + 2 if "::" in case else 0
        ends = [match.end() for match in re.finditer(r"[\[:+@=-]|$", case) if match.end() > start]
        for end in ends:
            if not any(other.startswith(case[:end]) for other in others):
                found.append(case if end == len(case) else f"{case[:end]}*")
                break
        else:
            found.append(case)
    return found


def as_toml(run: Run, proposals: Iterable[Proposal], today: date) -> str:
    """The proposals as a file of deviations, and notes on entries that are to be deleted."""
    device = run.header.device
    lines = [f"# Proposed from a run of {run.header.started} on {device.get('device')}."]
    for name, count in sorted(fixed(run).items()):
        lines += ["", f"# {name}: {_cases(count)} conform now. Narrow its versions, or delete it."]
    for each in proposals:
        lines += [
            "",
            f"# {each.title}.",
            f"# {_cases(each.cases)}. Expected: {each.expected}",
            f"[{each.id}]",
            f"driver = {_toml(str(device.get('driver')))}",
            *_versions(device),
            f"requirement = {_toml(each.requirement)}",
            "cases = [",
            *(f"    {_toml(pattern)}," for pattern in each.patterns),
            "]",
            f"observed = {_toml({name: list(values) for name, values in each.observed.items()})}",
            "# Write what is wrong, what causes it, and where that can be read:",
            '# reason = ""',
            '# cause = ""',
            '# url = "https://"',
            f"found = {today}",
            f"review = {today + REVIEW_AFTER}",
        ]
    return "\n".join(lines) + "\n"


def _versions(device: Mapping[str, Any]) -> list[str]:
    """The versions that ran, and no other: a person knows where the fault begins and ends."""
    found = []
    for name in _RANGES:
        numbers = version(str(device.get(name, "")))
        if numbers:
            found.append(f"{name} = {_toml('==' + '.'.join(map(str, numbers)))}")
    return found


def _observed(cases: Sequence[Result]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, list[Any]] = {}
    for case in cases:
        for each in case.differences:
            values = found.setdefault(each["fact"], [])
            if each["observed"] not in values:
                values.append(each["observed"])
    return {fact: tuple(values) for fact, values in found.items()}


def _expected(case: Result) -> str:
    return "; ".join(
        f"{each['fact']} " + " or ".join(fact_words(each["fact"], one) for one in each["allowed"])
        for each in case.differences
    )


def _stable(value: Any) -> bool:
    """Whether cases that fail alike have this value: not if it holds bytes, which differ."""
    return not (isinstance(value, list) and any(isinstance(each, list) for each in value))


def _free_names(driver: str, known: Iterable[Deviation]) -> Iterable[str]:
    ours = [each for each in known if each.driver == driver]
    word = re.sub("[^A-Z0-9]", "", driver.upper()) or "DRIVER"
    prefix = ours[0].id.rpartition("-")[0] if ours else word.lstrip("0123456789") or "DRIVER"
    taken = [int(each.id.rpartition("-")[2]) for each in ours if each.id[-1].isdigit()]
    number = max(taken, default=0)
    while True:
        number += 1
        yield f"{prefix}-{number:03}"


def _cases(count: int) -> str:
    return f"{count} case{'s' if count > 1 else ''}"


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name)


def _toml(value: Any) -> str:
    """A value of a fact as TOML on one line. A JSON string is a TOML basic string."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(k))} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
