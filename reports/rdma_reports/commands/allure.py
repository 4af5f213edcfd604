"""`rdma-conformance allure`: an HTML report from Allure results."""

import argparse
from pathlib import Path
from typing import Any

from rdma_reports.allure_report import make_report
from rdma_reports.commands.sharing import OK, declare

_EXAMPLES = """\
  pytest conformance/ --device rxe0 --alluredir results/allure
  rdma-conformance allure results/allure -o results/report
  rdma-conformance allure results/allure-rxe0 results/allure-mlx5_0 -o report
                                                 devices side by side, as environments
  rdma-conformance allure results/allure --history trend.jsonl -o report
                                                 with the trend since the first such report"""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "allure",
        _run,
        summary="make an HTML report from Allure results",
        description="Makes one HTML page that opens from the disk, from the results that pytest "
        "left with --alluredir.\nNeeds Node.js; the pinned Allure is installed on first use.",
        examples=_EXAMPLES,
    )
    parser.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS_DIR", help="what --alluredir named"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("allure-report"),
        metavar="OUT",
        help="directory of the report (default: %(default)s)",
    )
    parser.add_argument("--name", help="title of the report (default: the devices)")
    parser.add_argument(
        "--history",
        type=Path,
        metavar="FILE",
        help="file that collects the trend from one report to the next",
    )


def _run(options: argparse.Namespace) -> int:
    page = make_report(options.results, options.output, name=options.name, history=options.history)
    print(page.absolute().as_uri())
    return OK
