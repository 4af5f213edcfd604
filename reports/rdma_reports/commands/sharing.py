"""What the subcommands share: exit statuses, options, and how results are handed over."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rdma_reports.errors import ReportError
from rdma_reports.places import save

OK, NOT_CONFORMING, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


def declare(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    summary: str,
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    """A subcommand's parser, with its examples below the options."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_runs(parser: argparse.ArgumentParser) -> None:
    """The argument RUN..., a list of run files and folders."""
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="a run file, or a folder of them"
    )


def add_deviations(parser: argparse.ArgumentParser, purpose: str) -> None:
    """The option --deviations, a list of files; `purpose` says what they are for."""
    parser.add_argument(
        "--deviations",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help=f"{purpose} (TOML); repeatable",
    )


def add_outputs(parser: argparse.ArgumentParser, forms: str) -> None:
    """The option -o, a list of files; `forms` says what their names may end in."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help=f"{forms}; repeatable (default: Markdown to the terminal)",
    )


def hand_over(
    outputs: Sequence[Path],
    forms: Mapping[str, Callable[[Any], str | bytes]],
    make: Callable[[], Any],
) -> int:
    """Write what `make` gives in the form that each output's name ends in, and say where.

    Without outputs print it as Markdown. Raises ReportError, for a form that is none before
    anything is made.
    """
    for path in outputs:
        if path.suffix not in forms:
            raise ReportError(f"-o {path}: end the name in one of {', '.join(forms)}")
    made = make()
    if not outputs:
        print(forms[".md"](made), end="")
    for path in outputs:
        save(path, forms[path.suffix](made))
        print(path.absolute().as_uri())
    return OK
