"""The lines of a run file as frozen dataclasses, and their JSON form.

runfile.schema.json describes that form.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from rdma_reports.schema import definitions, problem

SCHEMA = 1
# Worst first. Of several lines for one case (a crash after its answer, a repeated test) the worst
# counts: repeating a case does not clean it, and no ERROR hides what a driver did.
SEVERITY = ("CRASH", "FAIL", "FIXED", "ERROR", "DEVIATION", "NOT_SUPPORTED", "NOTE", "PASS")
FAILING = frozenset({"CRASH", "ERROR", "FAIL", "FIXED"})


def now() -> str:
    """The present time in UTC as ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was run on what. `catalogue` is 12 hexadecimal digits, `started` ISO 8601 in UTC."""

    schema: int = SCHEMA
    suite: str
    catalogue: str
    started: str = field(default_factory=now)
    device: Mapping[str, Any]
    fabric: str
    capabilities: Mapping[str, Mapping[str, str]]  # keys: claims, denials
    seed: int
    planted: str | None = None
    argv: Sequence[str]
    selected: int
    deselected: int
    workers: int
    kernel_watch: str | None = None  # what is watched, or why nothing is
    selection: str | None = None  # 12 hexadecimal digits of the ids of the selected cases
    boot: str | None = None  # the kernel's boot_id: whether a machine went down since
    # One entry each time that the run went on after its end: at, boot, and the cases of which one
    # may have taken the machine down (suspects).
    resumed: Sequence[Mapping[str, Any]] = ()
    leak_guard: str | None = None  # what is watched, and what is not
    twice: str | None = None  # which cases are asked twice, in words
    peer: str | None = None  # as in --peer; None of one that --setup-rxe made
    port: int | None = None
    deviations: str | None = None  # 12 hexadecimal digits of the known deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer to one case. `case` is the stable case id, `duration` is in seconds."""

    case: str
    area: str
    requirement: str
    level: str
    verdict: str
    title: str
    asked: Mapping[str, Any]
    expected: Sequence[Mapping[str, Any]] = ()
    observed: Mapping[str, Any] = field(default_factory=dict)
    differences: Sequence[Mapping[str, Any]] = ()
    reason: str | None = None
    deviation: str | None = None
    sources: Sequence[str] = ()
    again: str
    seed: int
    duration: float
    hazard: bool = False
    kernel: Sequence[str] = ()  # lines in which the kernel complained
    left: Sequence[str] = ()  # what was left behind, by the driver or the suite
    control: str | None = None  # what became of the positive control; None: the case has none
    twice: Mapping[str, Any] | None = None  # both answers, of a case that was asked twice

    @property
    def unstable(self) -> bool:
        """Whether the case was asked twice and did not answer alike."""
        return self.twice is not None and self.twice["unstable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """How the run ended. `counts` maps a verdict to its number of cases."""

    finished: str = field(default_factory=now)
    verdict: str
    counts: Mapping[str, int]
    exit_status: int
    interrupted: bool = False
    unasked: Sequence[str] = ()
    stuck: str | None = None  # the case that left a task in the kernel which does not end
    checks: Mapping[str, int] | None = None  # as `count_checks` counts


Line = Header | Result | Footer
_KINDS: Mapping[str, type] = {"header": Header, "result": Result, "footer": Footer}


def as_dict(line: Line) -> dict[str, Any]:
    """The line as the JSON object of the run file, in the order of the dataclass's fields."""
    kind = type(line).__name__.lower()
    return {"type": kind, **{item.name: getattr(line, item.name) for item in fields(line)}}


def from_dict(data: Any) -> Line:
    """Inverse of `as_dict`. Raises ValueError that says what does not fit the schema."""
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError("it is no JSON object with a type of header, result or footer")
    if kind == "header" and data.get("schema") != SCHEMA:
        raise ValueError(f"it is of schema {data.get('schema')!r}, and this version reads {SCHEMA}")
    found = problem(data, definitions()[kind])
    if found:
        raise ValueError(found)
    return _KINDS[kind](**{name: value for name, value in data.items() if name != "type"})


def count_checks(results: Iterable[tuple[str | None, Mapping[str, Any] | None]]) -> dict[str, int]:
    """What a run did to be trusted, from `control` and `twice` of the result of each case.

    `refusals`: cases that ask for a refusal, and were asked; `controls`: those of them whose
    positive control succeeded; `twice`: cases that were asked twice; `unstable`: those of them
    that did not answer alike.
    """
    found = dict.fromkeys(("refusals", "controls", "twice", "unstable"), 0)
    for control, twice in results:
        found["refusals"] += control not in (None, "not asked")
        found["controls"] += control == "succeeded"
        found["twice"] += twice is not None
        found["unstable"] += twice is not None and twice["unstable"]
    return found


def worse(verdict: str, than: str) -> bool:
    """Whether the first verdict weighs more than the second."""
    return SEVERITY.index(verdict) < SEVERITY.index(than)


def partial(unasked: Iterable[str]) -> str | None:
    """A sentence on the MUSTs that the run left out, or None when it asked them all."""
    names = list(unasked)
    if not names:
        return None
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"partial run: no case of {shown}"
