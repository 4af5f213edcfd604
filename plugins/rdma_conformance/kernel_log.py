"""What the kernel logs while cases are asked, read from /dev/kmsg where that is allowed."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rdma_conformance.kernel_trouble import LOST
from rdma_conformance.visible import visible

DEVICE = Path("/dev/kmsg")
_MICROSECONDS = re.compile(r"[0-9]{1,20}")
_RECORD = 8192  # bytes; the kernel refuses a read into less than the record needs


class KernelLog:
    """The log from now on. Without the right to read it, it tells None for ever, and `refused`
    says why.

    A read takes a whole record, "priority,number,microseconds,flags;text".
    """

    def __init__(self, device: Path = DEVICE) -> None:
        self._fd = -1
        self.refused: str | None = None
        try:
            self._fd = os.open(device, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            self.refused = f"{device}: {error.strerror}"
        self.skip()

    def skip(self) -> None:
        """Leave out what was logged so far."""
        if self._fd >= 0:
            with suppress(OSError):
                os.lseek(self._fd, 0, os.SEEK_END)

    def read(self) -> str | None:
        """The lines since the last read or skip, '' for none; None when it can't be read."""
        if self._fd < 0:
            return None
        lines = []
        while True:
            try:
                record = os.read(self._fd, _RECORD)
            except BrokenPipeError:  # overwritten before it was read
                lines.append(LOST)
                continue
            except OSError:
                break
            if not record:
                break
            lines.append(_line(record))
        return "".join(f"{line}\n" for line in lines)

    def close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)


class Recorder:
    """Keeps the log in a file as it comes, so that it is there when a run is cut off.

    The file of an earlier run goes; where the log can't be read there is none.
    """

    def __init__(self, path: Path, device: Path = DEVICE) -> None:
        self._log = KernelLog(device)
        self._file: TextIO | None = None
        self.trouble: str | None = None
        with suppress(OSError):
            path.unlink()
        if self._log.read() is None:
            return
        try:
            self._file = path.open("w", encoding="utf-8")
        except OSError as error:
            self._fail(error)

    def record(self) -> None:
        """Write what was logged since the last call; the first failure is the last try."""
        if self._file is None:
            return
        text = self._log.read()
        if text:
            try:
                self._file.write(text)
                self._file.flush()
            except OSError as error:
                self._fail(error)

    def close(self) -> str | None:
        """Write the rest; says why the file is not whole, None if it is."""
        self.record()
        self._log.close()
        if self._file is not None:
            file, self._file = self._file, None
            file.close()
        return self.trouble

    def _fail(self, error: OSError) -> None:
        self.trouble = f"the kernel's log is not kept: {error.strerror}"
        if self._file is not None:
            with suppress(OSError):  # what could not be written stands in its buffer yet
                self._file.close()
            self._file = None


def _line(record: bytes) -> str:
    """A record as dmesg shows it: the seconds since boot, then the text."""
    head, _, text = record.decode("utf-8", "replace").partition(";")
    fields = head.split(",")
    first = visible(text.partition("\n")[0])  # lines behind it are a dictionary of the device
    if len(fields) < 3 or not _MICROSECONDS.fullmatch(fields[2]):
        return first
    return f"[{int(fields[2]) / 1e6:12.6f}] {first}"
