"""`rdma-conformance compare`: what changed from one run to another."""

import argparse
import json
from pathlib import Path
from typing import Any

from rdma_reports.commands.sharing import NOT_CONFORMING, OK, declare
from rdma_reports.compare import KINDS, Comparison, as_json, compare
from rdma_reports.pages import render
from rdma_reports.places import pairs, save, short_names
from rdma_reports.runfile import read_run

MOST = 50  # ways of change of a kind that a person is shown
FEW = 3  # cases of each
_EXAMPLES = """\
  rdma-conformance compare yesterday.ndjson today.ndjson
  rdma-conformance compare last-night/ tonight/        run files of one name belong together
  rdma-conformance compare a.ndjson b.ndjson --format md >> "$GITHUB_STEP_SUMMARY"
  rdma-conformance compare a.ndjson b.ndjson --format json -o changes.json

exit status: 0 no worse; 1 worse: cases fail newly, are gone, or are not claimed any more;
  2 the runs can't be compared (it says why). A case that failed before and fails still does not
  make it worse: `rdma-conformance validate` tells whether a run conforms."""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "compare",
        _run,
        summary="say what changed between two runs",
        description="Compares two runs of one driver and one catalogue, case by case: newly "
        "failing, fixed, still\nfailing, vanished, new, changed verdict, changed outcome.",
        examples=_EXAMPLES,
    )
    parser.add_argument("before", type=Path, metavar="A", help="a run file, or a folder of them")
    parser.add_argument("after", type=Path, metavar="B", help="the same, later")
    parser.add_argument(
        "--format", choices=("text", "md", "json"), default="text", help="default: %(default)s"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: the terminal")


def _run(options: argparse.Namespace) -> int:
    comparisons = [
        compare(*zip(short_names(pair), map(read_run, pair), strict=True))
        for pair in pairs(options.before, options.after)
    ]
    text = _told(comparisons, options.format)
    if options.output:
        save(options.output, text)
    else:
        print(text, end="")
    return NOT_CONFORMING if any(each.worse for each in comparisons) else OK


def _told(comparisons: list[Comparison], form: str) -> str:
    if form == "json":
        return json.dumps(as_json(comparisons), indent=1) + "\n"
    template = {"text": "compare.txt", "md": "compare.md"}[form]
    return render(template, comparisons=comparisons, kinds=KINDS, most=MOST, few=FEW)
