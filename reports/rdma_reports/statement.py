"""What a conformance statement says of one run, and when there can be none. Pure."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from rdma_conformance.catalogue import Catalogue
from rdma_conformance.deviations import Deviation
from rdma_reports.errors import ReportError
from rdma_reports.lines import SEVERITY
from rdma_reports.runfile import Run

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class KnownDeviation:
    """A deviation that cases of the run failed as, and how many did."""

    id: str
    requirement: str
    cases: int
    reason: str
    url: str | None


@dataclass(frozen=True, slots=True)
class Statement:
    """A run that may be stated: `digest` is the SHA-256 of its file, in hexadecimal digits."""

    run: Run
    digest: str
    verdicts: tuple[str, ...]  # those that occur
    areas: tuple[tuple[str, Mapping[str, int]], ...]
    failing: tuple[tuple[str, str, int], ...]  # requirement, title, cases
    deviations: tuple[KnownDeviation, ...]
    unsupported: tuple[tuple[str, int, tuple[str, ...]], ...]  # how probed, cases, requirements
    unasked: tuple[str, ...]  # requirements: SHOULDs, and what only a longer profile asks
    hazards: int  # cases that may take a broken kernel down, and were not asked

    @property
    def rows(self) -> int:
        """Rows of its tables: a sheet of paper takes some ten in the usual size."""
        return len(self.failing) + len(self.alike) + len(self.unsupported)

    @property
    def alike(self) -> list[list[KnownDeviation]]:
        """The deviations, those of one reason together."""
        found: dict[str, list[KnownDeviation]] = {}
        for each in self.deviations:
            found.setdefault(each.reason, []).append(each)
        return list(found.values())


def refusals(
    run: Run,
    catalogue: Catalogue,
    *,
    suite_cases: Mapping[str, str],
    profile_cases: Container[str],
    suite: str,
) -> list[str]:
    """Why the run can't be stated; empty if it can.

    `suite_cases` has the requirement of every case of the suite that is installed, whose version
    is `suite`: what the run left out is seen only there.
    """
    why = []
    if run.footer is None:
        why.append("the run did not end (no footer)")
    elif run.footer.interrupted:
        why.append("the run was interrupted")
    if run.header.planted:
        why.append(f"the fault {run.header.planted!r} was planted")
    if errors := run.counts.get("ERROR"):
        why.append(f"{errors} cases are ERROR: the suite could not ask them")
    if run.header.catalogue != catalogue.digest or run.header.suite != suite:
        why.append(
            f"the run is of suite {run.header.suite}, catalogue {run.header.catalogue}, and here "
            f"is suite {suite}, catalogue {catalogue.digest}: state it with the suite that ran"
        )
        return why
    left_out = [
        case
        for case, rule in suite_cases.items()
        if case in profile_cases and case not in run.results and catalogue[rule].level == "MUST"
    ]
    if left_out:
        rules = sorted({suite_cases[case] for case in left_out})
        more = f" and {len(rules) - _SHOWN} more" if len(rules) > _SHOWN else ""
        told = ", ".join(rules[:_SHOWN]) + more
        why.append(
            f"{len(left_out)} cases of MUST rules were left out ({told}): run the whole suite "
            "to its end"
        )
    if foreign := [case for case in run.results if case not in suite_cases]:
        why.append(f"{len(foreign)} cases are not of this suite, such as {foreign[0]}")
    return why


def state(
    run: Run,
    digest: str,
    catalogue: Catalogue,
    deviations: Iterable[Deviation],
    *,
    suite_cases: Mapping[str, str],
    profile_cases: Container[str],
    suite: str,
    hazards: Iterable[str] = (),
) -> Statement:
    """The statement of a run. Raises ReportError with every reason why there can be none.

    `hazards` are cases that a run may leave out, as it does without --allow-hazard: they are
    counted, not missed, and are none of `profile_cases`.
    """
    if why := refusals(
        run, catalogue, suite_cases=suite_cases, profile_cases=profile_cases, suite=suite
    ):
        raise ReportError(f"no statement can be made: {'; '.join(why)}")
    results = run.results.values()
    areas: dict[str, Counter[str]] = {}
    for result in results:
        areas.setdefault(result.area, Counter())[result.verdict] += 1
    failing = Counter(r.requirement for r in results if r.verdict in ("FAIL", "CRASH", "FIXED"))
    met = {result.requirement for result in results}
    return Statement(
        run=run,
        digest=digest,
        verdicts=tuple(verdict for verdict in SEVERITY[::-1] if run.counts.get(verdict)),
        areas=tuple(sorted(areas.items())),
        failing=tuple((name, catalogue[name].title, failing[name]) for name in sorted(failing)),
        deviations=_deviations(run, {each.id: each for each in deviations}),
        unsupported=_unsupported(run),
        unasked=tuple(rule.id for rule in catalogue if rule.id not in met),
        hazards=sum(case not in run.results for case in hazards),
    )


def _deviations(run: Run, known: Mapping[str, Deviation]) -> tuple[KnownDeviation, ...]:
    found: dict[str, list] = {}
    for result in run.results.values():
        if result.verdict == "DEVIATION":
            found.setdefault(str(result.deviation), []).append(result)
    return tuple(
        KnownDeviation(
            name,
            cases[0].requirement,
            len(cases),
            cases[0].reason or "",
            known[name].url if name in known else None,
        )
        for name, cases in sorted(found.items())
    )


def _unsupported(run: Run) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for result in run.results.values():
        if result.verdict == "NOT_SUPPORTED":
            found.setdefault(result.reason or "not claimed", []).append(result.requirement)
    return tuple(
        (how, len(rules), tuple(sorted(set(rules))))
        for how, rules in sorted(found.items(), key=lambda pair: -len(pair[1]))
    )
