"""`rdma-conformance matrix`: requirement by device, from one run file or several."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations
from rdma_reports.badge import badge
from rdma_reports.commands.sharing import add_deviations, add_outputs, add_runs, declare, hand_over
from rdma_reports.matrix import Matrix, as_json, build
from rdma_reports.matrix_page import as_html, as_markdown
from rdma_reports.places import read_runs

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
    add_runs(parser)
    add_outputs(parser, ".html, .md, .json, or .svg for a badge: the name says which")
    add_deviations(parser, "more known deviations, to be told with their rules")


def _run(options: argparse.Namespace) -> int:
    forms: dict[str, Callable[[Matrix], str]] = {
        ".html": lambda matrix: _html(matrix, options.deviations),
        ".md": as_markdown,
        ".json": lambda matrix: json.dumps(as_json(matrix), indent=1) + "\n",
        ".svg": badge,
    }
    return hand_over(options.output, forms, lambda: build(read_runs(options.runs)))


def _html(matrix: Matrix, more: list[Path]) -> str:
    catalogue = load_catalogue()
    return as_html(matrix, catalogue, load_deviations(more, catalogue))
