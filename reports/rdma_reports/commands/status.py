"""Exit statuses, and how a subcommand is declared."""

import argparse
from collections.abc import Callable
from typing import Any

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
