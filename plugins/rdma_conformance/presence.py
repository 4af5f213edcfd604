"""Whether the devices of a run are still there and their ports up: without them nothing is asked.

sysfs tells, by one short read a port. A descriptor that is kept open does not take a new device of
the same name for the old one.
"""

import os
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.spec.vocabulary import Verdict
from rdma_conformance.device import SYSFS

# How long a device may take to go once the process that held it was killed: its removal waits for
# that process, which waits for an answer that will not come.
GOING_S = 5.0
# Some drivers answer so from the first moment of a removal on, when sysfs shows the port as up yet.
_SIGNS = re.compile(
    r"\b(?:EIO|ENODEV|DEVICE_FATAL|PORT_ERR|Errno 5|Errno 19|Input/output error|No such device)\b"
)
_WAITS = 12  # for a sign; a driver that answers so to each case is no device that goes
_MEND = "bring it back, and run again"


class Presence:
    """Watches ports of devices of this host; those that it can't see are not watched."""

    def __init__(self, ports: Iterable[tuple[str, int]], root: Path = SYSFS) -> None:
        self._states: dict[tuple[str, int], int] = {}
        self._waits = _WAITS
        for device, port in dict.fromkeys(ports):
            with suppress(OSError):
                path = root / device / "ports" / str(port) / "state"
                self._states[device, port] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def patience(self, record: Mapping[str, Any], without_worker: bool) -> float:
        """How long the device may take to go, in seconds, by what its last case saw."""
        if without_worker:
            return GOING_S
        if record["verdict"] == Verdict.PASS or not may_be_going(record) or not self._waits:
            return 0.0
        self._waits -= 1
        return GOING_S

    def lost(self, patience_s: float = 0.0) -> str | None:
        """What is not there any more, with its mend; None if all is as it was for so long."""
        deadline = time.monotonic() + patience_s
        while (found := self._lost()) is None and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def _lost(self) -> str | None:
        for (device, port), file in self._states.items():
            try:
                state = os.pread(file, 64, 0).decode(errors="replace").partition(":")[2].strip()
            except OSError:  # ENODEV: the file's device is unregistered
                return f"{device} is gone: {_MEND}"
            if state != "ACTIVE":
                return f"port {port} of {device} is {state}: {_MEND}"
        return None

    def close(self) -> None:
        for file in self._states.values():
            os.close(file)
        self._states.clear()


def may_be_going(record: Mapping[str, Any]) -> bool:
    """Whether a case saw what a driver answers once its device is taken away."""
    seen = f"{record['observed']} {record['reason'] or ''}"
    return _SIGNS.search(seen) is not None


def without_device(record: dict[str, Any], lost: str) -> dict[str, Any]:
    """`record` of a case at whose end the device was `lost`: whatever it saw, it says nothing.

    But a kernel that broke of it, or complained, did.
    """
    if record["kernel"] and record["verdict"] in (Verdict.CRASH, Verdict.FAIL):
        return record | {"reason": f"{record['reason']}; and {lost}"}
    seen = f" (what was seen: {record['reason']})" if record["reason"] else ""
    changed = {"verdict": Verdict.ERROR.value, "reason": lost + seen, "deviation": None}
    return record | changed
