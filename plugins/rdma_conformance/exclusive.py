"""Who may use a device at the same time: one case that takes all of it, or any number of others.

The locks are on files of the device in sysfs (flock(2)), so that they hold across the processes of
a distributed run and across runs on this host, and leave nothing behind.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rdma_conformance.device import SYSFS

# Whoever wants the device waits at the gate, so that nobody passes one that waits for all others.
GATE, ROOM = "node_type", "node_guid"
LOCKS = Path("/proc/locks")
_TRY_S = 0.01
_LOOK_S = 1.0


class DeviceBusy(Exception):
    """Somebody holds the device who will not let it go."""


@contextmanager
def hold(device: str, alone: bool, patience_s: float, root: Path = SYSFS) -> Iterator[None]:
    """Wait until the device can be used, `alone` or with others, and keep it so.

    Whoever holds it is bound in time itself, unless it was stopped: raises DeviceBusy when the
    wait for a stopped process takes longer than `patience_s` seconds.
    """
    if not (root / device / ROOM).exists():  # it is gone: asking it will say so
        yield
        return
    with (root / device / ROOM).open() as room:
        with (root / device / GATE).open() as gate:
            _take(gate, fcntl.LOCK_EX, device, patience_s)
            _take(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, device, patience_s)
        yield


def _take(file: IO[str], how: int, device: str, patience_s: float) -> None:
    looked = start = time.monotonic()
    while True:
        try:
            return fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_TRY_S)
        now = time.monotonic()
        if now - looked < _LOOK_S and now - start < patience_s:
            continue
        looked = now
        stopped = [pid for pid in holders(file) if _state(pid) in ("T", "t")]
        if not stopped:
            start = now
        elif now - start > patience_s:
            who = ", ".join(map(str, stopped))
            raise DeviceBusy(
                f"{device} was not free for {patience_s:g} s: process {who} asks it and is "
                f"stopped. Let it go on (kill -CONT {who}), or end it"
            )


def holders(file: IO[str], locks: Path = LOCKS) -> list[int]:
    """The processes that hold a flock(2) on an open file, by /proc/locks; see proc(5)."""
    status = os.fstat(file.fileno())
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    place = f"{device}:{status.st_ino}"
    try:
        lines = locks.read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        words = line.split()  # number, kind, mode, access, pid, place, first and last byte
        if len(words) == 8 and words[1] == "FLOCK" and words[5] == place:
            found.append(int(words[4]))
    return found


def _state(pid: int) -> str:
    """The letter of a process's state, '' if there is none; see proc(5), stat."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return ""
