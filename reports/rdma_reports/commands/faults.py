"""`rdma-conformance faults`: which planted fault turns each requirement red."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.plants import PLANTS
from rdma_reports.commands.sharing import add_outputs, declare, hand_over
from rdma_reports.errors import ReportError
from rdma_reports.faults import Evidence, as_json, as_markdown, gather

_EXAMPLES = """\
  rdma-conformance faults                     all of them, Markdown, to the terminal
  rdma-conformance faults MR-KEY DEREG-KEY    those of two requirements
  rdma-conformance faults -o faults.json
  pytest conformance/ --device rxe0 --plant ignores-key-byte -k key    see one being caught"""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "faults",
        _run,
        summary="say which planted fault each check has caught",
        description="Lists the faults that the suite's own tests plant, by the requirement that "
        "each turns red\nand no other: tests/device/test_planted_faults.py does it on a real "
        "device. It is the evidence\nthat a check can fail.",
        examples=_EXAMPLES,
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="a requirement (default: all of them)")
    add_outputs(parser, ".md or .json")


def _run(options: argparse.Namespace) -> int:
    forms: dict[str, Callable[[tuple[Evidence, ...]], str]] = {
        ".md": as_markdown,
        ".json": lambda evidence: json.dumps(as_json(evidence), indent=1) + "\n",
    }
    return hand_over(options.output, forms, lambda: _evidence(options.ids))


def _evidence(names: list[str]) -> tuple[Evidence, ...]:
    found = gather(load_catalogue(), PLANTS.values())
    wanted = {name.upper() for name in names}
    if unknown := sorted(wanted - {each.rule.id for each in found}):
        raise ReportError(
            f"no requirement is called {unknown[0]}: `rdma-conformance explain` lists them"
        )
    return tuple(each for each in found if not wanted or each.rule.id in wanted)
