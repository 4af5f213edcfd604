"""`rdma-conformance matrix`: requirement by device, from one run file or several."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations
from rdma_reports.badge import badge
from rdma_reports.commands.status import OK, declare
from rdma_reports.errors import ReportError
from rdma_reports.matrix import Matrix, as_json, build
from rdma_reports.matrix_page import as_html, as_markdown
from rdma_reports.places import read_runs, save

_EXAMPLES = """\
  rdma-conformance matrix results/rxe0.ndjson               Markdown, to the terminal
  rdma-conformance matrix results/ -o matrix.html           all runs of a folder on one page
  rdma-conformance matrix a.ndjson b.ndjson -o matrix.html -o matrix.json -o badge.svg
  rdma-conformance matrix results/ >> "$GITHUB_STEP_SUMMARY"

The page is one file: it opens from the disk, and can be mailed. What it shows (filters, an
open cell) stands in its address, so that a link leads to it."""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "matrix",
        _run,
        summary="show requirement by device",
        description="Makes the conformance matrix of one run or several, of one catalogue.",
        examples=_EXAMPLES,
    )
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="a run file, or a folder of them"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="what its name ends in says the form: .html, .md, .json, or .svg for a badge; "
        "repeatable (default: Markdown to the terminal)",
    )
    parser.add_argument(
        "--deviations",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="more known deviations (TOML), to be told with their rules; repeatable",
    )


def _run(options: argparse.Namespace) -> int:
    forms: dict[str, Callable[[Matrix], str]] = {
        ".html": lambda matrix: _html(matrix, options.deviations),
        ".md": as_markdown,
        ".json": lambda matrix: json.dumps(as_json(matrix), indent=1) + "\n",
        ".svg": badge,
    }
    for path in options.output:
        if path.suffix not in forms:
            raise ReportError(f"-o {path}: end the name in one of {', '.join(forms)}")
    matrix = build(read_runs(options.runs))
    if not options.output:
        print(as_markdown(matrix), end="")
    for path in options.output:
        save(path, forms[path.suffix](matrix))
        print(path.absolute().as_uri())
    return OK


def _html(matrix: Matrix, more: list[Path]) -> str:
    catalogue = load_catalogue()
    return as_html(matrix, catalogue, load_deviations(more, catalogue))
