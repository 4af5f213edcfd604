"""`rdma-conformance deviations`: check the known ones, propose new ones from a run."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import Deviation, load_deviations, overdue
from rdma_conformance.suites import all_cases
from rdma_reports.commands.sharing import NOT_CONFORMING, OK, add_deviations, declare
from rdma_reports.explain import versions
from rdma_reports.places import save
from rdma_reports.propose import MOST_VALUES, as_toml, fixed, propose
from rdma_reports.runfile import read_run

_EXAMPLES = """\
  rdma-conformance deviations check                       those that come with the suite
  rdma-conformance deviations check vendor.toml           and an overlay
  rdma-conformance deviations propose results/mlx5_0.ndjson -o vendor.toml
  pytest conformance/ --device mlx5_0 --deviations vendor.toml

A proposal lacks reason, cause and url: write them, or the file is refused."""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "deviations",
        _check,
        summary="check known deviations, or propose new ones",
        description="Known deviations are listed in TOML, strictly: an entry names cases, versions "
        "and the outcome\nthat they fail with; the run fails when they fail otherwise, or pass.",
        examples=_EXAMPLES,
    )
    actions = parser.add_subparsers(required=True, dest="action", metavar="ACTION")
    check = actions.add_parser("check", help="load them; name what is overdue or idle")
    check.add_argument("files", nargs="*", type=Path, metavar="FILE", help="an overlay (TOML)")
    check.set_defaults(run=_check)
    made = actions.add_parser("propose", help="entries for what failed in a run")
    made.add_argument("path", type=Path, metavar="RUN", help="a run file")
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: the terminal")
    add_deviations(made, "the overlay there is already, so that ids go on from there")
    made.set_defaults(run=_propose)


def _check(options: argparse.Namespace) -> int:
    found = load_deviations(options.files, load_catalogue())
    late = overdue(found, datetime.now(UTC).date())
    cases = list(all_cases())
    idle = 0
    for each in found:
        covered = sum(each.names(case) for case in cases)
        marks = [f"{covered} cases"]
        if not covered:
            marks.append("covers no case of this suite: correct its patterns or delete it")
            idle += 1
        if each in late:
            marks.append(f"was to be reviewed by {each.review}")
        print(f"{each.id}  {each.requirement}  {versions(each)}: {'; '.join(marks)}")
    return NOT_CONFORMING if idle else OK


def _propose(options: argparse.Namespace) -> int:
    run = read_run(options.path)
    known: tuple[Deviation, ...] = load_deviations(options.deviations, load_catalogue())
    proposals = propose(run, known)
    if not proposals and not fixed(run):
        print(f"{options.path}: no case failed in a way that can be listed", file=sys.stderr)
        return OK
    for each in proposals:
        wide = [fact for fact, values in each.observed.items() if len(values) > MOST_VALUES]
        if wide:
            print(
                f"{each.id}: {', '.join(wide)} differs from case to case; look whether it is one "
                "fault",
                file=sys.stderr,
            )
    text = as_toml(run, proposals, datetime.now(UTC).date())
    if options.output:
        save(options.output, text)
        print(f"{options.output}: {len(proposals)} entries; write reason, cause and url in each")
    else:
        print(text, end="")
    return OK
