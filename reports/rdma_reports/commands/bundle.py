"""`rdma-conformance bundle`: one archive of all that a run left."""

import argparse
import socket
from pathlib import Path
from typing import Any

from rdma_reports.bundle import members, pack
from rdma_reports.commands.sharing import OK, declare
from rdma_reports.errors import ReportError
from rdma_reports.places import kernel_log_of, save
from rdma_reports.redact import Redactor
from rdma_reports.runfile import read_run

_EXAMPLES = """\
  rdma-conformance bundle results/mlx5_0.ndjson              results/mlx5_0.tar.gz
  rdma-conformance bundle results/mlx5_0.ndjson --redact     results/mlx5_0.redacted.tar.gz
  rdma-conformance bundle results/rxe0.ndjson --kernel-log console.log -o report.tar.gz

In it: run.ndjson, junit.xml, kernel.log (if there is one), versions.json, capabilities.json,
configuration.json, SHA256SUMS. --redact takes out GUIDs, IP and MAC addresses, the name of this
host and of those that --peer named; look at the result all the same before you post it."""


def add(commands: Any) -> None:
    parser = declare(
        commands,
        "bundle",
        _run,
        summary="pack what a run left into one archive",
        description="Packs a run file, its JUnit XML, the kernel log, versions, capabilities and "
        "configuration.",
        examples=_EXAMPLES,
    )
    parser.add_argument("path", type=Path, metavar="RUN", help="a run file")
    parser.add_argument(
        "--redact", action="store_true", help="take out GUIDs, addresses and host names"
    )
    parser.add_argument(
        "--kernel-log",
        type=Path,
        metavar="FILE",
        help="the kernel's log of the run (default: RUN with .kernel.log for .ndjson, if there)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="default: RUN with .tar.gz for .ndjson, or .redacted.tar.gz",
    )


def _run(options: argparse.Namespace) -> int:
    run = read_run(options.path)
    base = options.path.name.removesuffix(".ndjson")
    kind = ".redacted" if options.redact else ""
    out = options.output or options.path.with_name(f"{base}{kind}.tar.gz")
    if not out.name.endswith((".tar.gz", ".tgz")):
        raise ReportError(f"-o {out}: end the name in .tar.gz")
    log = _kernel_log(options.kernel_log, kernel_log_of(options.path))
    sources = {source for result in run.lines for source in result.sources}
    redactor = Redactor(run.header, [socket.gethostname()], sources) if options.redact else None
    files = members(run, options.path.read_bytes(), log, redactor)
    save(out, pack(out.name.removesuffix(".tar.gz").removesuffix(".tgz"), run, files))
    print(f"{out}: {', '.join(files)}")
    if options.redact:
        print("redacted: look at it before you post it")
    return OK


def _kernel_log(named: Path | None, beside: Path) -> str | None:
    path = named or beside
    if named is None and not beside.is_file():
        return None
    try:
        return path.read_text("utf-8", "replace")
    except OSError as error:
        raise ReportError(f"--kernel-log {path} cannot be read: {error.strerror}") from error
