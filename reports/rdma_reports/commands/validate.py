"""`rdma-conformance validate`: whether a run file is whole, and what its run found."""

import argparse
import sys
from typing import Any

from rdma_reports.commands.sharing import NOT_CONFORMING, OK, UNUSABLE, add_runs, declare
from rdma_reports.controls import faults, suite_cases
from rdma_reports.lines import partial
from rdma_reports.places import cut_off, run_files
from rdma_reports.runfile import Run, RunFileError, read_run

_EXAMPLES = """\
  rdma-conformance validate results/rxe0.ndjson
  rdma-conformance validate results/ && echo all conform"""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "validate",
        _run,
        summary="check a run file",
        description="Checks each line of a run file, and that each refusal was judged after its "
        "positive\ncontrol had succeeded. Says which rules a run left out, and of one that was "
        "cut off\nthe case that was being asked.\n\nexit status:\n"
        "  0  the run came to its end and conforms, as far as it asked\n"
        "  1  it does not conform\n"
        "  2  the run did not end, or its file can't be trusted",
        examples=_EXAMPLES,
    )
    add_runs(parser)


def _run(options: argparse.Namespace) -> int:
    worst = OK
    for path in (each for place in options.runs for each in run_files(place)):
        try:
            run = read_run(path)
        except RunFileError as error:
            print(f"rdma-conformance: {error}", file=sys.stderr)
            worst = UNUSABLE
            continue
        print(f"{path}: {summary(run)}")
        if run.footer and (note := partial(run.footer.unasked)):
            print(f"  {note}")
        for case in (running := cut_off(path, run)):
            print(f"  cut off while it asked {case}")
        if running or (run.footer and run.footer.stuck):
            print(f"  to go on: the same pytest command with --resume {path}")
        for fault in (found := faults(run, suite_cases(run))):
            print(f"  {fault}")
        worst = max(worst, UNUSABLE if found else _status(run))
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
    times = len(run.header.resumed)
    resumed = f", resumed {'once' if times == 1 else f'{times} times'}" if times else ""
    unstable = f", {run.checks['unstable']} unstable" if run.checks["unstable"] else ""
    return f"{verdict}, {device}{planted}{resumed}: {counts or 'no case'}{unstable}"


def _status(run: Run) -> int:
    if run.footer is None or run.footer.verdict == "INVALID":
        return UNUSABLE
    return OK if run.footer.verdict == "CONFORMING" else NOT_CONFORMING
