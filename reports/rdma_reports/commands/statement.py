"""`rdma-conformance statement`: one page that says of a device whether it conforms."""

import argparse
import hashlib
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.spec import oracle
from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations
from rdma_conformance.suites import all_cases, cases_of_profile, hazardous
from rdma_reports.commands.sharing import add_deviations, add_outputs, declare, hand_over
from rdma_reports.controls import faults, suite_cases
from rdma_reports.errors import ReportError
from rdma_reports.pdf import print_pdf
from rdma_reports.runfile import read_run
from rdma_reports.statement import Statement, state
from rdma_reports.statement_page import as_html, as_markdown, least_profile

_EXAMPLES = """\
  rdma-conformance statement results/mlx5_0.ndjson                    Markdown, to the terminal
  rdma-conformance statement results/mlx5_0.ndjson -o statement.html
  rdma-conformance statement results/mlx5_0.ndjson -o statement.pdf   with the Chromium there is

Refused for a run that did not end, with a planted fault, with cases of a MUST left out (-k,
--deselect, a single file), or with an ERROR. A run that does not conform can be stated: the
statement says so."""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "statement",
        _run,
        summary="make a device's conformance statement",
        description="Makes the one-page statement of a whole run: identity, versions, verdicts, "
        "deviations with\nreasons, what is not supported and how that was probed.",
        examples=_EXAMPLES,
    )
    parser.add_argument("path", type=Path, metavar="RUN", help="a run file")
    add_outputs(parser, ".html, .pdf or .md")
    add_deviations(parser, "the overlay that the run was made with, for its links")


def _run(options: argparse.Namespace) -> int:
    forms: dict[str, Callable[[Statement], str | bytes]] = {
        ".html": as_html,
        ".pdf": lambda statement: print_pdf(as_html(statement)),
        ".md": as_markdown,
    }
    return hand_over(options.output, forms, lambda: _statement(options.path, options.deviations))


def _statement(path: Path, more: list[Path]) -> Statement:
    run = read_run(path)
    catalogue = load_catalogue()
    asked = cases_of_profile(least_profile(run.header.argv))
    hazards = hazardous() & asked.keys()
    if why := faults(run, suite_cases(run)):
        raise ReportError(f"no statement can be made: {'; '.join(why)}")
    return state(
        run,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        catalogue,
        load_deviations(more, catalogue),
        suite_cases={name: oracle.requirement(case) for name, case in all_cases().items()},
        profile_cases=asked.keys() - hazards,
        hazards=hazards,
        suite=importlib.metadata.version("rdma-conformance"),
    )
