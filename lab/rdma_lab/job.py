"""What the guest is told of one run: command, folder, environment, streams; as shell text."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath

from rdma_lab.errors import LabError

SUITE = PurePosixPath("/suite")
TICKETS = PurePosixPath("/run/lab")
TICKETS_VARIABLE = "RDMA_CONFORMANCE_LAB"
BEAT_SECONDS = 5
PASSED_ON = ("TERM", "COLUMNS", "CI", "PYTEST_ADDOPTS", "NO_COLOR", "FORCE_COLOR")


class Stream(Enum):
    """How a standard stream of the command is connected."""

    NOTHING = "nothing"
    PIPE = "pipe"
    TERMINAL = "terminal"


@dataclass(frozen=True)
class Job:
    """One command for the guest; ``folder`` is a guest path, ``window`` (rows, columns).

    ``live``: what changes on the host meanwhile is seen in the guest, at a price.
    """

    command: tuple[str, ...]
    folder: PurePosixPath
    environment: tuple[tuple[str, str], ...]
    stdin: Stream
    stdout: Stream
    stderr: Stream
    window: tuple[int, int]
    fabric: bool
    mtu: int
    end_mark: str
    live: bool


def guest_folder(checkout: Path, current: Path) -> PurePosixPath:
    """Where ``current`` is in the guest; the checkout's own folder if it lies outside.

    Both are host paths, resolved.
    """
    if current.is_relative_to(checkout):
        return SUITE / current.relative_to(checkout)
    return SUITE


def passed_on(environment: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """The variables of the host's ``environment`` that the command sees too."""
    return tuple((name, environment[name]) for name in PASSED_ON if name in environment)


def settings(job: Job) -> bytes:
    """The assignments that the guest's session reads, as POSIX shell text."""
    rows, columns = job.window
    values = {
        "cwd": str(job.folder),
        "stdin_kind": job.stdin.value,
        "stdout_kind": job.stdout.value,
        "stderr_kind": job.stderr.value,
        "rows": str(rows),
        "columns": str(columns),
        "fabric": "rxe" if job.fabric else "none",
        "mtu": str(job.mtu),
        "end_mark": job.end_mark,
        "beat": str(BEAT_SECONDS),
        "host_files": "none" if job.live else "0xb",
    }
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in values.items()]
    environment = (*job.environment, (TICKETS_VARIABLE, str(TICKETS)))
    lines += [f"export {name}={shlex.quote(value)}\n" for name, value in environment]
    return _bytes("".join(lines))


def command_script(job: Job) -> bytes:
    """The script that runs the command in a process group whose id the session knows.

    The shell stays to give a command that died of a signal the status 128 + signal; its own
    trap keeps it alive when the whole group is interrupted.
    """
    if not job.command:
        raise LabError("no command: say what to run in the guest, or --shell")
    words = " ".join(shlex.quote(word) for word in job.command)
    return _bytes(
        f"#!/bin/sh\ntrap : HUP INT QUIT TERM\necho $$ >/run/command-group\n{words}\nexit $?\n"
    )


def _bytes(text: str) -> bytes:
    if "\0" in text:
        raise LabError("an argument or variable holds a NUL byte, which no command can be given")
    return text.encode("utf-8", "surrogateescape")
