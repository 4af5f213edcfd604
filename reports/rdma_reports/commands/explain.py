"""`rdma-conformance explain`: a requirement in plain words."""

import argparse
from pathlib import Path
from typing import Any

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations
from rdma_reports.commands.sharing import OK, add_deviations, declare
from rdma_reports.explain import as_html, as_text, explain, list_text
from rdma_reports.places import save

_EXAMPLES = """\
  rdma-conformance explain                  the ids there are
  rdma-conformance explain MR-RIGHT-READ    a requirement
  rdma-conformance explain RXE-002          a known deviation, with its requirement
  rdma-conformance explain -o rules.html    all of them, as one page
  rdma-conformance explain MR-KEY --deviations vendor.toml"""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "explain",
        _run,
        summary="say what a requirement demands, and why",
        description="Prints the rule, why it exists, where it is written, what its cases do, "
        "what usually\ncauses a failure, and which drivers are known to deviate.",
        examples=_EXAMPLES,
    )
    parser.add_argument(
        "id", nargs="?", metavar="ID", help="a requirement or a deviation (default: list them)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write all of them as an HTML page"
    )
    add_deviations(parser, "more known deviations")


def _run(options: argparse.Namespace) -> int:
    catalogue = load_catalogue()
    deviations = load_deviations(options.deviations, catalogue)
    if options.output:
        save(options.output, as_html(catalogue, deviations))
        print(options.output.absolute().as_uri())
    elif options.id is None:
        print(list_text(catalogue))
    else:
        print(as_text(explain(options.id, catalogue, deviations)))
    return OK
