"""What changed from one run to another, case by case. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rdma_reports.devices import facts
from rdma_reports.errors import ReportError
from rdma_reports.hexdump import MEMORY
from rdma_reports.lines import FAILING, Result
from rdma_reports.matrix import one_catalogue
from rdma_reports.runfile import Run

FORMAT = "rdma-conformance-comparison"
VERSION = 1

# Key, heading, and whether it fails a gate, in the order in which a person wants to know.
KINDS = (
    ("newly_failing", "newly failing", True),
    ("new_failing", "new and failing", True),
    ("vanished", "vanished", True),
    ("no_longer_asked", "no longer asked: the device does not claim it any more", True),
    ("still_failing", "still failing", False),
    ("fixed", "fixed", False),
    ("changed_verdict", "changed verdict", False),
    ("changed_outcome", "changed outcome", False),
    ("new", "new", False),
)
HEADINGS = {key: heading for key, heading, _ in KINDS}
GATING = frozenset(key for key, _, gates in KINDS if gates)


@dataclass(frozen=True, slots=True)
class Change:
    """One case: its results before and after, None where a run does not have it."""

    kind: str
    before: Result | None
    after: Result | None

    @property
    def last(self) -> Result:
        """The newest result that there is."""
        return self.before if self.after is None else self.after

    @property
    def case(self) -> str:
        return self.last.case

    @property
    def requirement(self) -> str:
        return self.last.requirement

    @property
    def words(self) -> str:
        """The verdicts in words, and the facts whose outcome changed: of bytes only that they did.

        A case that one run did not ask has no facts to compare.
        """
        old = self.before.verdict if self.before else "absent"
        new = self.after.verdict if self.after else "absent"
        told = old if old == new else f"{old} -> {new}"
        if self.after and self.after.unstable:
            told += ", unstable"
        if not (self.before and self.after and self.before.observed and self.after.observed):
            return told
        facts_told = [
            f"{fact} changed"
            if fact in MEMORY
            else f"{fact} {self.before.observed.get(fact)} -> {self.after.observed.get(fact)}"
            for fact in changed_facts(self.before, self.after)
        ]
        return f"{told} ({'; '.join(facts_told)})" if facts_told else told


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs and what changed; `identity` tells what of the device is not the same."""

    before: str
    after: str
    device: str
    identity: tuple[tuple[str, str, str], ...]
    changes: tuple[Change, ...]
    same: int

    def of(self, kind: str) -> list[Change]:
        return [change for change in self.changes if change.kind == kind]

    def alike(self, kind: str) -> list[tuple[str, str, list[str]]]:
        """The changes of a kind as requirement, words and the cases that changed so."""
        found: dict[tuple[str, str], list[str]] = {}
        for change in self.of(kind):
            found.setdefault((change.requirement, change.words), []).append(change.case)
        return [(rule, words, cases) for (rule, words), cases in found.items()]

    @property
    def worse(self) -> bool:
        """Whether a gate has to close: something fails, or is not asked, that was fine before."""
        return any(change.kind in GATING for change in self.changes)


def compare(before: tuple[str, Run], after: tuple[str, Run]) -> Comparison:
    """What changed from one run to another, each with the name of its file.

    Raises ReportError for runs that can't be compared: unlike catalogues or drivers, a run that
    did not end or has a planted fault, or that asked another part of the suite.
    """
    _comparable(before, after)
    (old_name, old), (new_name, new) = before, after
    changes = []
    same = 0
    cases = list(dict.fromkeys([*old.results, *new.results]))
    for case in cases:
        was, now = old.results.get(case), new.results.get(case)
        kind = _kind(was, now)
        if kind is None:
            same += 1
        else:
            changes.append(Change(kind, was, now))
    device = titled(new.header.device)
    return Comparison(old_name, new_name, device, tuple(_identity(old, new)), tuple(changes), same)


def titled(identity: Mapping[str, Any]) -> str:
    """A device with its driver and kernel, of which a night has several."""
    told = [str(identity[name]) for name in ("driver", "kernel") if identity.get(name)]
    return f"{identity.get('device', 'device')} ({', '.join(told)})"


def _comparable(before: tuple[str, Run], after: tuple[str, Run]) -> None:
    for name, run in (before, after):
        if run.footer is None or run.footer.interrupted:
            raise ReportError(f"{name} is of a run that did not end: run it again, to its end")
        if run.header.planted:
            raise ReportError(f"{name} has a planted fault ({run.header.planted}): run without")
    one_catalogue((before, after))
    (old_name, old), (new_name, new) = before, after
    drivers = [run.header.device.get("driver") for run in (old, new)]
    if drivers[0] != drivers[1]:
        raise ReportError(
            f"{old_name} is of driver {drivers[0]} and {new_name} of {drivers[1]}: a change of "
            "verdict says nothing there; `rdma-conformance matrix` shows them side by side"
        )
    parts = [bool(run.header.deselected or run.footer.unasked) for run in (old, new)]
    if parts[0] != parts[1]:
        part = old_name if parts[0] else new_name
        raise ReportError(f"{part} asked a part of the suite only: compare runs of the same part")


def _kind(was: Result | None, now: Result | None) -> str | None:
    if now is None:
        return "vanished"
    if was is None:
        return "new_failing" if now.verdict in FAILING else "new"
    return _kind_of_both(was, now)


def _kind_of_both(was: Result, now: Result) -> str | None:
    failed, fails = was.verdict in FAILING, now.verdict in FAILING
    if fails:
        return "still_failing" if failed else "newly_failing"
    if now.verdict == "NOT_SUPPORTED" and was.verdict != "NOT_SUPPORTED":
        return "no_longer_asked"
    if failed:
        return "fixed"
    if was.verdict != now.verdict:
        return "changed_verdict"
    return "changed_outcome" if changed_facts(was, now) else None


def changed_facts(was: Result, now: Result) -> list[str]:
    """The facts that were observed differently, bytes only where both had the same seed."""
    named = dict.fromkeys([*was.observed, *now.observed])
    return [
        fact
        for fact in named
        if was.observed.get(fact) != now.observed.get(fact)
        and (was.seed == now.seed or fact not in MEMORY)
    ]


def _identity(old: Run, new: Run) -> Iterable[tuple[str, str, str]]:
    was, now = dict(facts(old.header.device)), dict(facts(new.header.device))
    for label in dict.fromkeys([*was, *now]):
        if was.get(label) != now.get(label):
            yield label, was.get(label, "none"), now.get(label, "none")


def as_json(comparisons: Iterable[Comparison]) -> Mapping[str, Any]:
    """Comparisons as a JSON object, one entry of `devices` each."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "devices": [
            {
                "device": each.device,
                "before": each.before,
                "after": each.after,
                "worse": each.worse,
                "identity": [
                    {"name": name, "before": was, "after": now} for name, was, now in each.identity
                ],
                "same": each.same,
                **{key: [_change(change) for change in each.of(key)] for key, _, _ in KINDS},
            }
            for each in comparisons
        ],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "case": change.case,
        "requirement": change.requirement,
        "before": change.before and change.before.verdict,
        "after": change.after and change.after.verdict,
        "facts": changed_facts(change.before, change.after)
        if change.before and change.after
        else [],
        "again": change.last.again,
    }
