"""Which cases are being asked: a small file that outlives a kernel that dies of one of them."""

import os
from contextlib import suppress
from pathlib import Path


class Running:
    """Keeps the ids of the running cases in a file, one a line; it goes with the end of a run.

    A case costs one write, at its start: that it has ended is seen from its result. Where the file
    can't be written there is none: what is wrong with the place, the run file says.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._cases: dict[str, None] = {}
        self._longest = 0
        self._fd = -1
        with suppress(OSError):
            self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)

    def start(self, case: str) -> None:
        self._cases[case] = None
        if self._fd < 0:
            return
        text = "".join(f"{each}\n" for each in self._cases).encode()
        self._longest = max(self._longest, len(text))
        try:
            os.pwrite(self._fd, text.ljust(self._longest, b"\n"), 0)
        except OSError:
            self.close()

    def end(self, case: str) -> None:
        self._cases.pop(case, None)

    def close(self) -> None:
        """Remove the file: nothing is running any more."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)
            with suppress(OSError):
                self._path.unlink()
