"""The command `rdma-conformance`: what can be done with what a run left."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from rdma_conformance.entries import EntryError
from rdma_conformance.visible import visible
from rdma_reports.commands import (
    allure,
    bundle,
    compare,
    deviations,
    explain,
    faults,
    junit,
    matrix,
    statement,
    validate,
)
from rdma_reports.commands.sharing import INTERRUPTED, UNUSABLE
from rdma_reports.errors import ReportError
from rdma_reports.runfile import RunFileError

_COMMANDS = (
    explain,
    faults,
    matrix,
    compare,
    statement,
    bundle,
    deviations,
    junit,
    allure,
    validate,
)
_EXAMPLES = """\
examples:
  rdma-conformance matrix results/ -o matrix.html        all devices on one page
  rdma-conformance explain MR-RIGHT-READ                 a rule, its sources, its deviations
  rdma-conformance faults                                which planted fault each check has caught
  rdma-conformance compare yesterday.ndjson today.ndjson what changed; exit status 1 if worse
  rdma-conformance statement results/mlx5_0.ndjson -o statement.pdf
  rdma-conformance bundle results/mlx5_0.ndjson --redact

Each subcommand has a --help with examples of its own.
exit status: 0 all is well; 1 a run does not conform, or is worse; 2 it can't be told."""


class _Shown:
    """A stream that prints what it is given, and obeys none of it: file names are anybody's."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(visible(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; 0 if all is well, 1 if a run does not conform, 2 if it cannot be told."""
    with redirect_stdout(_Shown(sys.stdout)), redirect_stderr(_Shown(sys.stderr)):
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    parser = _parser()
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help(sys.stderr)
        return UNUSABLE
    try:
        return options.run(options)
    except (ReportError, RunFileError, EntryError) as error:
        print(f"rdma-conformance: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has seen enough; Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rdma-conformance",
        description="Reads what runs of the suite left: run files and Allure results.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in _COMMANDS:
        command.add(commands)
    return parser
