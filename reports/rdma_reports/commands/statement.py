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
from rdma_conformance.suites import all_cases
from rdma_reports.commands.status import OK, declare
from rdma_reports.errors import ReportError
from rdma_reports.pdf import print_pdf
from rdma_reports.places import save
from rdma_reports.runfile import read_run
from rdma_reports.statement import Statement, state
from rdma_reports.statement_page import as_html, as_markdown

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
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help=".html, .pdf or .md; repeatable (default: Markdown to the terminal)",
    )
    parser.add_argument(
        "--deviations",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="the overlay that the run was made with (TOML), for its links; repeatable",
    )


def _run(options: argparse.Namespace) -> int:
    forms: dict[str, Callable[[Statement], str | bytes]] = {
        ".html": as_html,
        ".pdf": lambda statement: print_pdf(as_html(statement)),
        ".md": as_markdown,
    }
    for path in options.output:
        if path.suffix not in forms:
            raise ReportError(f"-o {path}: end the name in one of {', '.join(forms)}")
    statement = _statement(options.path, options.deviations)
    if not options.output:
        print(as_markdown(statement), end="")
    for path in options.output:
        save(path, forms[path.suffix](statement))
        print(path.absolute().as_uri())
    return OK


def _statement(path: Path, more: list[Path]) -> Statement:
    run = read_run(path)
    catalogue = load_catalogue()
    return state(
        run,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        catalogue,
        load_deviations(more, catalogue),
        suite_cases={name: oracle.requirement(case) for name, case in all_cases().items()},
        suite=importlib.metadata.version("rdma-conformance"),
    )
