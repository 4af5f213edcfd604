"""A conformance statement as one HTML page, and as Markdown. Pure."""

from collections.abc import Sequence

from rdma_conformance.options import DEFAULT_PROFILE, PROFILES
from rdma_conformance.terminal import checks
from rdma_reports.devices import facts
from rdma_reports.pages import render
from rdma_reports.statement import Statement


def as_html(statement: Statement) -> str:
    """One self-contained page, laid out for a sheet of A4."""
    return _rendered("statement.html", statement)


def as_markdown(statement: Statement) -> str:
    """The same in Markdown."""
    return _rendered("statement.md", statement)


def profile(argv: Sequence[str]) -> str:
    """The profile that a run's command line names; the standard one if none."""
    for number, word in enumerate(argv):
        name, separator, value = word.partition("=")
        if name == "--profile":
            return value if separator else " ".join(argv[number + 1 : number + 2])
    return DEFAULT_PROFILE


def least_profile(argv: Sequence[str]) -> str:
    """The profile in which a run has to be whole: its own, and the standard one at least."""
    known = PROFILES.index(DEFAULT_PROFILE)
    named = profile(argv)
    return PROFILES[max(known, PROFILES.index(named) if named in PROFILES else known)]


def _rendered(template: str, statement: Statement) -> str:
    run = statement.run
    return render(
        template,
        said=statement,
        header=run.header,
        footer=run.footer,
        device={"device": "device", "driver": "unknown", **run.header.device},
        facts=facts,
        profile=profile(run.header.argv),
        checks=checks(run.checks),
        rules=len({result.requirement for result in run.results.values()}),
    )
