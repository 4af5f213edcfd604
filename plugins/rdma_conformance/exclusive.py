"""Who may use a device at the same time: one case that takes all of it, or any number of others.

The locks are on the device's own files (flock(2)), so that they hold across the processes of a
distributed run and across runs on this host, and leave nothing behind. The file in /dev is the same
in all network namespaces, while each has a sysfs of its own.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from rdma_conformance.device import SYSFS
from rdma_conformance.processes import is_stopped

# Whoever wants the device waits at the gate, so that nobody passes one that waits for all others.
GATE, ROOM = "node_type", "node_guid"  # ROOM where the file in /dev can't be opened
NODES = Path("/dev/infiniband")
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
    with _room(device, root) as room:
        with (root / device / GATE).open() as gate:
            _take(gate, fcntl.LOCK_EX, device, patience_s)
            _take(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH, device, patience_s)
        yield


def _room(device: str, root: Path) -> IO[bytes]:
    for node in sorted((root.parent / "infiniband_verbs").glob("uverbs*")):
        with suppress(OSError):
            if (node / "ibdev").read_text().strip() == device:
                return (NODES / node.name).open("rb", buffering=0)
    return (root / device / ROOM).open("rb", buffering=0)


def _take(file: IO[Any], how: int, device: str, patience_s: float) -> None:
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
        stopped = [pid for pid in holders(file) if is_stopped(pid)]
        if not stopped:
            start = now
        elif now - start > patience_s:
            who = ", ".join(map(str, stopped))
            raise DeviceBusy(
                f"{device} was not free for {patience_s:g} s: process {who} asks it and is "
                f"stopped. Let it go on (kill -CONT {who}), or end it"
            )


def holders(file: IO[Any], locks: Path = LOCKS) -> list[int]:
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
