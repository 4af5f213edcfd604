"""The command `rdma-conformance`: what can be done with what a run left."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rdma_reports.allure_report import ReportError, make_report
from rdma_reports.runfile import Run, RunFileError, read_run

OK, NOT_CONFORMING, UNUSABLE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; 0 if all is well, 1 if a run does not conform, 2 if it cannot be told."""
    options = _parser().parse_args(argv)
    try:
        return options.run(options)
    except (ReportError, RunFileError) as error:
        print(f"rdma-conformance: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rdma-conformance",
        description="Reads what a run of the suite left: run files and Allure results.",
    )
    commands = parser.add_subparsers(required=True, dest="command")
    allure = commands.add_parser(
        "allure",
        help="make an HTML report from Allure results",
        description="Makes one HTML page that opens from the disk, from the results that pytest "
        "left with --alluredir. Needs Node.js; the pinned Allure is installed on first use.",
    )
    allure.add_argument(
        "results", nargs="+", type=Path, metavar="RESULTS_DIR", help="what --alluredir named"
    )
    allure.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("allure-report"),
        metavar="OUT",
        help="directory of the report (default: %(default)s)",
    )
    allure.add_argument("--name", help="title of the report (default: the devices)")
    allure.add_argument(
        "--history",
        type=Path,
        metavar="FILE",
        help="file that collects the trend from one report to the next",
    )
    allure.set_defaults(run=_allure)
    validate = commands.add_parser(
        "validate",
        help="check a run file",
        description="Checks each line of a run file. Exit status: 0 for a whole run that "
        "conforms, 1 for one that does not, 2 for a file that is no whole run.",
    )
    validate.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run file")
    validate.set_defaults(run=_validate)
    return parser


def _allure(options: argparse.Namespace) -> int:
    page = make_report(options.results, options.output, name=options.name, history=options.history)
    print(page.absolute().as_uri())
    return OK


def _validate(options: argparse.Namespace) -> int:
    worst = OK
    for path in options.runs:
        try:
            run = read_run(path)
        except RunFileError as error:
            print(f"rdma-conformance: {error}", file=sys.stderr)
            worst = UNUSABLE
            continue
        print(f"{path}: {summary(run)}")
        worst = max(worst, _status(run))
    return worst


def summary(run: Run) -> str:
    """One line on a run: verdict, device, counts."""
    verdict = run.footer.verdict if run.footer else "INCOMPLETE (no footer: the run did not end)"
    device = " ".join(
        str(run.header.device[name])
        for name in ("device", "driver", "kernel")
        if run.header.device.get(name)
    )
    counts = ", ".join(f"{count} {name}" for name, count in sorted(run.counts.items()))
    planted = f", planted fault {run.header.planted}" if run.header.planted else ""
    return f"{verdict}, {device}{planted}: {counts or 'no case'}"


def _status(run: Run) -> int:
    if run.footer is None or run.footer.verdict == "INVALID":
        return UNUSABLE
    return OK if run.footer.verdict == "CONFORMING" else NOT_CONFORMING
