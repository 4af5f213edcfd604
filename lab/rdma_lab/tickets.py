"""What a run of the suite tells the lab of itself, and the command that goes on with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rdma_lab.job import SUITE

PATTERN = "ticket-*.json"
_RESULT = b'{"type":"result"'


@dataclass(frozen=True)
class Ticket:
    """A run that is under way; the paths are the guest's.

    ``arguments`` are pytest's, ``part`` counts how often the run went on, and ``stuck`` says that
    a task in the kernel keeps it from its rest.
    """

    arguments: tuple[str, ...]
    run_file: PurePosixPath
    running: PurePosixPath
    part: int
    stuck: bool


@dataclass(frozen=True)
class State:
    """How far a run has come: how many results it has, which cases run, and in which part."""

    results: int
    running: tuple[str, ...]
    part: int


def ticket_for(folder: Path, command: Sequence[str]) -> Ticket | None:
    """The ticket in ``folder`` of the pytest whose arguments are the end of ``command``.

    None if there is none, as for a pytest inside of another, or if the guest took the run's file
    along: the lab can't go on then.
    """
    for path in sorted(folder.glob(PATTERN)):
        with suppress(OSError, ValueError, KeyError, TypeError):
            content = json.loads(path.read_text())
            ticket = Ticket(
                tuple(content["arguments"]),
                PurePosixPath(content["run_file"]),
                PurePosixPath(content["running"]),
                content["part"],
                content["stuck"],
            )
            ours = ticket.arguments and tuple(command[-len(ticket.arguments) :]) == ticket.arguments
            if ours and ticket.run_file.is_relative_to(SUITE):
                return ticket
    return None


def remove_tickets(folder: Path) -> None:
    """The next guest leaves its own."""
    for path in folder.glob(PATTERN):
        path.unlink()


def state_of(ticket: Ticket, checkout: Path) -> State:
    """How far the run has come, read on the host."""
    results, running = 0, ""
    with suppress(OSError), on_host(ticket.run_file, checkout).open("rb") as lines:
        results = sum(line.startswith(_RESULT) for line in lines)
    with suppress(OSError):
        running = on_host(ticket.running, checkout).read_text(errors="replace")
    return State(results, tuple(running.split("\n")), ticket.part)


def gained(before: State | None, after: State) -> bool:
    """Whether a boot has brought a run on: by a result, or by a case that was being asked."""
    if before is None or after.results > before.results:
        return True
    return after.part != before.part and any(after.running)


def going_on(
    command: Sequence[str], ticket: Ticket, last_words: PurePosixPath | None
) -> tuple[str, ...]:
    """``command``, the original one, with the options by which its pytest goes on.

    ``ticket`` may be of the original command or of one that goes on already.
    """
    first = next(
        number
        for number in range(len(command))
        if ticket.arguments[-(len(command) - number) :] == tuple(command[number:])
    )
    options = [f"--resume={ticket.run_file}"]
    if last_words is not None:
        options.append(f"--last-words={last_words}")
    return (*command[:first], *options, *command[first:])


def on_host(path: PurePosixPath, checkout: Path) -> Path:
    """Where a guest's file in the checkout is on the host."""
    return checkout / path.relative_to(SUITE)
