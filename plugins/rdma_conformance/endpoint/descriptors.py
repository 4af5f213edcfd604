"""The file descriptors of this process: which ones somebody left open."""

import gc
import os
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/proc/self/fd")
# What a provider's library may open for itself at any time.
LIBRARYS = ("/dev/infiniband/", "anon_inode:[infinibandevent]")


class Descriptors:
    """Those that are open now are usual; `kept` of them are for a purpose that may end."""

    def __init__(self, kept: int):
        self._count = 0
        self._open = self._read()
        self._usual = len(self._open) - kept

    def left(self, kept: int) -> tuple[int, list[str]]:
        """How many more there are than when this was asked last, and what new ones lead to."""
        if _count() == self._count:
            return 0, []
        gc.collect()  # what only a cycle holds is closed with it
        before, self._open = self._open, self._read()
        grown = len(self._open) - kept - self._usual
        self._usual += grown
        new = sorted(name for number, name in self._open.items() if before.get(number) != name)
        return max(0, grown), new

    def _read(self) -> dict[int, str]:
        """What each descriptor leads to, without those of the library's own."""
        self._count = _count()
        found = {}
        for entry in FOLDER.iterdir():
            with suppress(OSError):  # the one by which the folder was read
                found[int(entry.name)] = str(entry.readlink())
        return {number: name for number, name in found.items() if not name.startswith(LIBRARYS)}


def _count() -> int:
    return len(os.listdir(FOLDER))  # noqa: PTH208  paths would cost more than all else of a guard
