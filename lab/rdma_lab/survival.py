"""A guest may die of a case: the lab boots another, and the run goes on with the rest."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from rdma_lab import boot
from rdma_lab.building import LAB
from rdma_lab.cache import Cache
from rdma_lab.errors import GuestDied, LabError
from rdma_lab.job import TICKETS
from rdma_lab.options import Options
from rdma_lab.prepared import Prepared
from rdma_lab.progress import say
from rdma_lab.relay import TIMED_OUT
from rdma_lab.tickets import (
    State,
    Ticket,
    gained,
    going_on,
    remove_tickets,
    state_of,
    ticket_for,
)

MOST_BOOTS = 40
_IN_VAIN = 2  # boots that may end without having brought the run on
_LAST_WORDS = "last-words"


def run(options: Options, prepared: Prepared, cache: Cache, owner: tuple[int, int]) -> int:
    """Runs the command in as many guests as it takes; its exit status. Raises LabError."""
    started = time.monotonic()
    with _folder(owner) as folder:
        console, tickets = options.console or folder / "console.log", folder / "tickets"
        tickets.mkdir()
        os.chown(tickets, *owner)
        if console.is_file():
            os.truncate(console, 0)  # of an earlier lab: from here on it is appended to
        survivor = _Survivor(options, console, tickets)
        for number in range(1, MOST_BOOTS + 1):
            left = options.timeout and options.timeout - (time.monotonic() - started)
            if left is not None and left <= 0:
                say("no other guest: the time of --timeout is over")
                return TIMED_OUT
            try:
                ended = boot.run(
                    survivor.options,
                    prepared,
                    cache,
                    owner,
                    console=console,
                    tickets=tickets,
                    timeout=left,
                )
                if ended.stopped or not survivor.is_cut_short():
                    return ended.status
            except GuestDied as death:
                survivor.died(death)
            except LabError as error:
                raise LabError(survivor.with_console(str(error))) from error
            say(f"the run goes on in another guest (boot {number + 1}): {survivor.left()}")
        said = f"{MOST_BOOTS} guests did not bring the run to its end"
        raise LabError(survivor.with_console(said))


class _Survivor:
    """What there is to do after a guest: ``options`` are those of the next one."""

    def __init__(self, options: Options, console: Path, tickets: Path) -> None:
        self.options = options
        self._command = options.command
        self._console, self._tickets = console, tickets
        self._read = 0  # bytes of the console, up to the present guest's
        self._ticket: Ticket | None = None
        # The last words are those of the guest that asked, not of one that died before it did.
        self._told: PurePosixPath | None = None
        self._state: State | None = None
        self._in_vain = 0

    def is_cut_short(self) -> bool:
        """Whether the command has ended before its run, by a task stuck in the guest's kernel."""
        ticket = self._new_ticket()
        if ticket is None or not ticket.stuck:
            return False
        say("a task is stuck in the guest's kernel")
        self._go_on(ticket, "", None)
        return True

    def died(self, death: GuestDied) -> None:
        """Prepare the next guest after ``death``; raises LabError if there is nothing to do."""
        words = boot.last_words(self._console_now())
        shown = f"{death}\n" + "".join(f"    {line}\n" for line in words)
        new = self._new_ticket()
        ticket = new or self._ticket
        if ticket is None:
            raise LabError(self.with_console(shown.rstrip("\n"))) from death
        say(shown.rstrip("\n"))
        told = self._told
        if new is not None:
            told = TICKETS / _LAST_WORDS if death.guilty else None
            (self._tickets / _LAST_WORDS).write_text(f"lab: {death}\n" + "\n".join(words) + "\n")
        self._go_on(ticket, shown, told)

    def left(self) -> str:
        """What the run has so far, in words."""
        return f"{self._state.results} results so far"

    def with_console(self, text: str) -> str:
        """``text``, and where the console log is: a temporary one is copied out of its folder."""
        kept = self._console
        if not self.options.console and self._console.exists():
            number, name = tempfile.mkstemp(prefix="rdma-lab-console-", suffix=".log")
            with open(number, "wb") as file:  # noqa: PTH123 - an open file number
                file.write(self._console.read_bytes())
            kept = Path(name)
        return f"{text}\nthe guest's console: {kept}"

    def _new_ticket(self) -> Ticket | None:
        """The ticket that the present guest has left."""
        if not self.options.survive or self.options.stdin:
            return None
        return ticket_for(self._tickets, self.options.command)

    def _go_on(self, ticket: Ticket, shown: str, told: PurePosixPath | None) -> None:
        state = state_of(ticket, LAB.parent)
        self._in_vain = 0 if gained(self._state, state) else self._in_vain + 1
        self._ticket, self._state, self._told = ticket, state, told
        remove_tickets(self._tickets)
        if self._in_vain >= _IN_VAIN:
            raise LabError(
                self.with_console(
                    f"{_IN_VAIN} guests in a row died without a result and without asking a case: "
                    f"the run does not go on. What it has is in {ticket.run_file}\n{shown}".rstrip()
                )
            )
        self.options = replace(self.options, command=going_on(self._command, ticket, told))
        self._read = self._console.stat().st_size if self._console.exists() else 0

    def _console_now(self) -> bytes:
        try:
            return self._console.read_bytes()[self._read :]
        except OSError:
            return b""


@contextlib.contextmanager
def _folder(owner: tuple[int, int]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rdma-lab-") as folder:
        os.chown(folder, *owner)
        yield Path(folder)
