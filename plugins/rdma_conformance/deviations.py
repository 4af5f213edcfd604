"""Known deviations of drivers: which case fails how, on which versions, and why. Strict both ways.

One TOML file per driver, one table per deviation:

    [RXE-001]
    driver = "rdma_rxe"
    kernel = ">=6.3,<7.4"             # and/or firmware = "..."; see `in_range`
    requirement = "EVENT-REQ-ERR"
    cases = ["remote/test_events.py::*[write-*"]      # only * is special
    observed = {responder_events = [[]]}              # every fact that fails, and more that
                                                      # must hold; an array lists the values
    also = ["leak"]                                   # what else may come of it: see ALSO
    reason = "what is wrong, in a sentence"
    cause = "kernel function, or what else is known of the cause"
    url = "https://..."
    found = 2026-01-31
    review = 2026-07-31
"""

import hashlib
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rdma_conformance.catalogue import Catalogue
from rdma_conformance.entries import (
    Entry,
    EntryError,
    package_directory,
    read_entries,
    toml_files,
)

_KEYS = (
    "driver",
    "requirement",
    "cases",
    "observed",
    "reason",
    "cause",
    "url",
    "found",
    "review",
)
_RANGES = ("kernel", "firmware")
# What a case that fails as listed may bring along: objects or memory that the driver keeps, and
# warnings in the kernel's log. Neither has to come: the kernel gives some warnings only once.
LEAK, KERNEL = "leak", "kernel"
ALSO = (LEAK, KERNEL)
_NUMBERS = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})*")
_COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_DEPTH = 8  # of lists and tables in an observed value; real facts have three at most
_BOUND = re.compile(rf"\s*(>=|<=|==|>|<)\s*({_NUMBERS.pattern})\s*")


class DeviationError(EntryError):
    """A file of known deviations is not as it must be, or two entries cover one case."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One known deviation; the loader's module docstring says what the fields mean."""

    id: str
    driver: str
    kernel: str | None
    firmware: str | None
    requirement: str
    cases: tuple[str, ...]
    observed: Mapping[str, tuple[Any, ...]]
    reason: str
    cause: str
    url: str
    found: date
    review: date
    also: tuple[str, ...] = ()

    def explains(self, observed: Mapping[str, Any], differing: Iterable[str]) -> bool:
        """Whether each listed fact was observed, with one of the values listed for it.

        `differing` are the facts in which the case fails: one that is not listed is not known.
        """
        return self.observed.keys() >= set(differing) and all(
            fact in observed and observed[fact] in values for fact, values in self.observed.items()
        )

    def covers(
        self, driver: str, kernel: str, firmware: str, requirement: str, case_id: str
    ) -> bool:
        """Whether the entry is about this case on this driver, kernel and firmware."""
        return (
            self.driver == driver
            and self.requirement == requirement
            and (self.kernel is None or in_range(kernel, self.kernel))
            and (self.firmware is None or in_range(firmware, self.firmware))
            and self.names(case_id)
        )

    def names(self, case_id: str) -> bool:
        """Whether one of the entry's patterns is that of this case."""
        return any(_matches(pattern, case_id) for pattern in self.cases)


def load_deviations(paths: Iterable[Path], catalogue: Catalogue) -> tuple[Deviation, ...]:
    """The deviations that come with the suites, and those of `paths` (TOML files or folders).

    Raises DeviationError, naming file, entry and mend, whatever the files hold.
    """
    files = toml_files(package_directory("deviations"), DeviationError)
    for path in paths:
        files += toml_files(path, DeviationError)
    return tuple(
        read_entries(files, DeviationError, lambda entry: _deviation(entry, catalogue)).values()
    )


def match(  # noqa: PLR0917  the words by which a case is known
    deviations: Iterable[Deviation],
    driver: str,
    kernel: str,
    firmware: str,
    requirement: str,
    case_id: str,
) -> Deviation | None:
    """The deviation that covers a case, if any. Raises DeviationError if more than one does."""
    found = [d for d in deviations if d.covers(driver, kernel, firmware, requirement, case_id)]
    if len(found) > 1:
        raise DeviationError(
            f"{case_id} is covered by {' and '.join(d.id for d in found)}; "
            "narrow their versions or cases until one is left"
        )
    return found[0] if found else None


def digest(deviations: Iterable[Deviation]) -> str:
    """12 hexadecimal digits that two runs share only if they know the same deviations."""
    texts = sorted(repr(deviation) for deviation in deviations)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]


def overdue(deviations: Iterable[Deviation], today: date) -> tuple[Deviation, ...]:
    """The deviations whose day of review is past."""
    return tuple(deviation for deviation in deviations if deviation.review < today)


def version(text: str) -> tuple[int, ...] | None:
    """The dotted numbers that a version begins with: (7, 2, 12) of "7.2.12+deb14-amd64".

    Zeros at the end count for nothing (7.2 is 7.2.0); what follows the numbers counts for
    nothing either, so a release candidate is as its release. None when no number begins it.
    """
    numbers = _NUMBERS.match(text)
    if numbers is None:
        return None
    parts = [int(part) for part in numbers[0].split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def in_range(text: str, bounds: str) -> bool:
    """Whether a version lies within bounds such as ">=6.3,<7.4", of >= > <= < ==.

    Raises ValueError for bounds of another form. A text that is no version is in no range.
    """
    value = version(text)
    return value is not None and all(_holds(value, bound) for bound in bounds.split(","))


def _holds(value: tuple[int, ...], bound: str) -> bool:
    parsed = _BOUND.fullmatch(bound)
    if parsed is None:
        raise ValueError(f"{bound!r} is no bound")
    return _COMPARE[parsed[1]](value, version(parsed[2]))


def _matches(pattern: str, case_id: str) -> bool:
    """Whether the whole id is as the pattern says, in which only * stands for any text."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == case_id
    *middle, last = rest
    if len(case_id) < len(first) + len(last):
        return False
    if not (case_id.startswith(first) and case_id.endswith(last)):
        return False
    position, end = len(first), len(case_id) - len(last)
    for piece in middle:
        position = case_id.find(piece, position, end)
        if position < 0:
            return False
        position += len(piece)
    return True


def _deviation(entry: Entry, catalogue: Catalogue) -> Deviation:
    entry.check_keys(_KEYS, (*_RANGES, "also"))
    requirement = entry.text("requirement")
    if requirement not in catalogue:
        raise entry.fail(
            f"the catalogue has no requirement {requirement!r}", "name one that it has"
        )
    ranges = {key: _range(entry, key) for key in _RANGES}
    if not any(ranges.values()):
        raise entry.fail("no versions are named", 'add kernel = ">=6.3,<7.4", or firmware')
    found, review = _day(entry, "found"), _day(entry, "review")
    if review < found:
        raise entry.fail("'review' lies before 'found'", "give a later day")
    return Deviation(
        id=entry.name,
        driver=entry.text("driver"),
        kernel=ranges["kernel"],
        firmware=ranges["firmware"],
        requirement=requirement,
        cases=_cases(entry),
        observed=MappingProxyType(_observed(entry)),
        reason=entry.text("reason"),
        cause=entry.text("cause"),
        url=entry.link("url"),
        found=found,
        review=review,
        also=_also(entry),
    )


def _range(entry: Entry, key: str) -> str | None:
    bounds = entry.optional_text(key)
    if bounds is not None:
        for bound in bounds.split(","):
            if not _BOUND.fullmatch(bound):
                raise entry.fail(
                    f"{key!r} holds {bound.strip()!r}", 'write bounds such as ">=6.3,<7.4"'
                )
    return bounds


def _cases(entry: Entry) -> tuple[str, ...]:
    patterns = entry.list_of("cases", str, 'write cases = ["remote/test_events.py::*"]')
    for pattern in patterns:
        if not pattern.strip("*"):
            raise entry.fail(f"the pattern {pattern!r} covers every case", "name the cases")
    return tuple(patterns)


def _also(entry: Entry) -> tuple[str, ...]:
    if "also" not in entry.values:
        return ()
    mend = f'write some of {", ".join(ALSO)}, as also = ["{LEAK}"]'
    named = entry.list_of("also", str, mend)
    for word in named:
        if word not in ALSO:
            raise entry.fail(f"'also' names {word!r}", mend)
    return tuple(named)


def _observed(entry: Entry) -> dict[str, tuple[Any, ...]]:
    facts = entry.values["observed"]
    if not isinstance(facts, dict) or not facts:
        raise entry.fail("'observed' names no fact", 'write observed = {requester = ["SUCCESS"]}')
    return {fact: _allowed(entry, fact, value) for fact, value in facts.items()}


def _allowed(entry: Entry, fact: str, value: Any) -> tuple[Any, ...]:
    """The values of a fact: those of an array, else the one value."""
    values: Sequence[Any] = value if isinstance(value, list) else [value]
    if not values:
        raise entry.fail(
            f"the fact {fact!r} has no value", "write [[]] if an empty list was observed"
        )
    if not all(_plain(item, _DEPTH) for item in values):
        raise entry.fail(
            f"the fact {fact!r} holds a number with a point, a date or a time, or is nested deep",
            "use strings, whole numbers, true, false, and lists and tables of these",
        )
    return tuple(values)


def _plain(value: Any, depth: int) -> bool:
    if isinstance(value, list | dict):
        inner = value if isinstance(value, list) else value.values()
        return depth > 0 and all(_plain(item, depth - 1) for item in inner)
    return isinstance(value, str | int)  # bool is an int


def _day(entry: Entry, key: str) -> date:
    value = entry.values[key]
    if not isinstance(value, date) or isinstance(value, datetime):
        raise entry.fail(f"{key!r} is not a day", f"write {key} = 2026-01-31, without quotes")
    return value
