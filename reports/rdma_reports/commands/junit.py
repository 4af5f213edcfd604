"""`rdma-conformance junit`: a run file as JUnit XML."""

import argparse
from pathlib import Path
from typing import Any

from rdma_reports.commands.sharing import OK, declare
from rdma_reports.junit import as_junit
from rdma_reports.places import save
from rdma_reports.runfile import read_run

_EXAMPLES = """\
  rdma-conformance junit results/rxe0.ndjson -o results/rxe0.xml
  rdma-conformance junit results/rxe0.ndjson | xmllint --format -

The device's identity stands in it as properties, also for a run that was cut off (where pytest's
own --junitxml has no file). DEVIATION and NOT_SUPPORTED are skipped there, with their reason."""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "junit",
        _run,
        summary="write a run as JUnit XML",
        description="Writes a run file as JUnit XML, which CI systems read.",
        examples=_EXAMPLES,
    )
    parser.add_argument("path", type=Path, metavar="RUN", help="a run file")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: the terminal")


def _run(options: argparse.Namespace) -> int:
    xml = as_junit(read_run(options.path))
    if options.output:
        save(options.output, xml)
    else:
        print(xml.decode())
    return OK
