"""Which planted fault turns each requirement red: the evidence that its check can fail. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rdma_conformance.catalogue import Catalogue, Requirement
from rdma_conformance.plants import Plant

FORMAT = "rdma-conformance-faults"
VERSION = 1
PERFORMED, REPORTED = "performed", "reported"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A requirement with the faults that break it, performed ones first."""

    rule: Requirement
    faults: tuple[Plant, ...]

    @property
    def strongest(self) -> str | None:
        """`performed` if one of the faults is, else `reported`; None without any."""
        return way(self.faults[0]) if self.faults else None


def way(fault: Plant) -> str:
    """Whether a fault is performed at the verbs, or an observation only reported otherwise."""
    return PERFORMED if fault.performed else REPORTED


def gather(catalogue: Catalogue, plants: Iterable[Plant]) -> tuple[Evidence, ...]:
    """The evidence for each requirement, in the order of the catalogue.

    Faults of the suite itself are left out: that they are seen proves nothing of a requirement.
    """
    faults: dict[str, list[Plant]] = {rule.id: [] for rule in catalogue}
    for plant in plants:
        if not plant.of_suite:
            faults[plant.breaks].append(plant)
    return tuple(
        Evidence(rule, tuple(sorted(faults[rule.id], key=lambda each: not each.performed)))
        for rule in catalogue
    )


def summary(evidence: Iterable[Evidence]) -> str:
    """One sentence: how many requirements have which kind of fault."""
    strongest = [each.strongest for each in evidence]
    without = strongest.count(None)
    return (
        f"{len(strongest)} requirements: {strongest.count(PERFORMED)} with a fault that is "
        f"performed, {strongest.count(REPORTED)} with reported ones only, {without} without"
    )


def as_markdown(evidence: Iterable[Evidence]) -> str:
    """A table with a line for each fault, and what it proves."""
    found = tuple(evidence)
    lines = [
        "## What turns each requirement red",
        "",
        f"{summary(found)}.",
        "",
        "A *performed* fault makes the endpoints ask the device for something else than the case",
        "says, so that all of the chain behind it is tested. A *reported* one alters what was",
        "seen: it proves the oracle and the judge. Of a SHOULD the fault is noted, and never red.",
        "",
        "| requirement | level | fault (`--plant`) | how | what the driver does wrong |",
        "|---|---|---|---|---|",
    ]
    for each in found:
        head = f"| {each.rule.id} | {each.rule.level} |"
        lines += [
            f"{head} {fault.name} | {way(fault)} | {fault.summary} |" for fault in each.faults
        ] or [f"{head} none | | |"]
    return "\n".join(lines) + "\n"


def as_json(evidence: Iterable[Evidence]) -> Mapping[str, Any]:
    """The same as a JSON object."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "requirements": [
            {
                "id": each.rule.id,
                "level": each.rule.level.value,
                "title": each.rule.title,
                "faults": [
                    {"name": fault.name, "how": way(fault), "summary": fault.summary}
                    for fault in each.faults
                ],
            }
            for each in evidence
        ],
    }
