"""How a run ends: its verdict, why, and its exit status. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.spec.vocabulary import Level, Verdict
from rdma_conformance.catalogue import Catalogue
from rdma_conformance.endpoint.environment import HOSTS
from rdma_conformance.outcomes import ASKED, BAD
from rdma_reports.lines import count_checks, worse

CONFORMING = "CONFORMING"
NOT_CONFORMING = "NOT CONFORMING"
INVALID = "INVALID"

OK, FAILED, NOTHING_ASKED = 0, 1, 5  # pytest's own numbers for the same


@dataclass
class Tally:
    """What was found so far. Of several answers to one case the worst counts."""

    records: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, record: Mapping[str, Any]) -> None:
        seen = self.records.get(record["case"])
        if seen is None or worse(record["verdict"], seen["verdict"]):
            self.records[record["case"]] = record

    def counts(self) -> Counter[str]:
        return Counter(record["verdict"] for record in self.records.values())

    def checks(self) -> dict[str, int]:
        """The number of refusals, controls, cases asked twice and unstable ones."""
        found = self.records.values()
        return count_checks((each.get("control"), each.get("twice")) for each in found)

    def lacking(self, denials: Mapping[str, str]) -> Counter[str]:
        """Number of cases that were not asked for each of `denials`: what a host or user lacks."""
        lacks = {denials[name] for name in HOSTS & denials.keys()}
        reasons = (
            record["reason"] or ""
            for record in self.records.values()
            if record["verdict"] == Verdict.NOT_SUPPORTED
        )
        return Counter(lack for reason in reasons for lack in lacks if reason.endswith(lack))

    def deviations(self) -> Counter[str]:
        """Number of cases that failed as listed, by the id of the deviation."""
        return Counter(
            record["deviation"]
            for record in self.records.values()
            if record["verdict"] == Verdict.DEVIATION
        )

    def bad(self) -> list[str]:
        """The requirements that cases did not meet, by id."""
        return list(
            dict.fromkeys(
                record["requirement"]
                for record in self.records.values()
                if record["verdict"] in BAD
            )
        )

    def unasked(self, catalogue: Catalogue) -> list[str]:
        """The MUSTs of which this run has no case at all, by id."""
        met = {record["requirement"] for record in self.records.values()}
        return [rule.id for rule in catalogue if rule.level is Level.MUST and rule.id not in met]


@dataclass(frozen=True, slots=True)
class Closing:
    """The run's verdict with its reasons, and the exit status that says the same."""

    verdict: str
    why: tuple[str, ...]
    exit_status: int


def close(
    counts: Mapping[str, int],
    *,
    selected: int,
    planted: str | None,
    interrupted: bool,
    exit_status: int,
    unwritten: str | None = None,
    ending: Sequence[Sequence[str]] = (),
    lost: str | None = None,
    stuck: str | None = None,
) -> Closing:
    """The end of a run whose pytest session would exit with `exit_status`.

    `selected` is the number of cases that were to be asked; `unwritten` says why the run file is
    not whole, `lost` which device is gone and `stuck` which task, so that the run was stopped;
    `ending` are verdicts and words on what came after the last case. CONFORMING needs every
    selected case answered, none of them bad, at least one asked, nothing bad after them, and no
    planted fault.
    """
    why = []
    if planted:
        why.append(f"the fault {planted!r} was planted")
    answered = sum(counts.values())
    if lost:
        why.append(lost)
    elif stuck and answered < selected:
        why.append(stuck)
    elif interrupted:
        why.append("the run was interrupted")
    if answered < selected:
        why.append(f"{selected - answered} of {selected} cases have no result")
    if unwritten:
        why.append(unwritten)
    late = dict.fromkeys(words for _, words in ending)  # several processes saw the same
    bad = {verdict for verdict in BAD if counts.get(verdict)}
    bad |= {Verdict(verdict) for verdict, _ in ending}
    # Errors alone are the suite's own: they say nothing of the driver.
    invalid = bool(why) or bad == {Verdict.ERROR}
    why += [f"{counts[verdict]} {verdict}" for verdict in Verdict if verdict in BAD & counts.keys()]
    why += late
    if not any(counts.get(verdict) for verdict in ASKED):
        why.append("nothing was asked of the driver")
        return Closing(INVALID, tuple(why), exit_status or NOTHING_ASKED)
    if not why and exit_status:
        why.append(f"pytest ended with exit status {exit_status}")
    if not why:
        return Closing(CONFORMING, (), OK)
    return Closing(INVALID if invalid else NOT_CONFORMING, tuple(why), exit_status or FAILED)
