"""Two network namespaces with an rxe device each, made for one run and removed after it."""

import atexit
import os
import re
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rdma_conformance.fabric.namespaces import NAMED
from rdma_conformance.fabric.settings import FabricError

SCRIPT = Path(__file__).with_name("rxe-pair")
STEP_S = 60.0

# The owner's process id is in every name, so that leftovers of a dead owner are known as such.
_NAMESPACE = re.compile(r"rdmac-(\d+)-[ab]")


@dataclass(frozen=True, slots=True)
class RxePair:
    """The two devices, and how to remove them."""

    devices: tuple[str, str]
    remove: Callable[[], None]


def make() -> RxePair:
    """Make the pair; it goes at the end of this process, too. Raises FabricError."""
    if os.geteuid() != 0:
        raise FabricError("--setup-rxe makes network namespaces", "run as root")
    if not Path("/sys/module/rdma_rxe").exists():
        raise FabricError("--setup-rxe needs the rdma_rxe module", "load it: modprobe rdma_rxe")
    remove_leftovers()
    owner = os.getpid()
    spaces = _names(owner)
    devices = (f"rxe{owner}a", f"rxe{owner}b")
    remover = _Remover(owner, spaces)
    try:
        _run("up", *spaces, *devices)
    except BaseException:
        remover()
        raise
    return RxePair(devices, remover)


def remove_leftovers() -> None:
    """Remove what runs left behind that were killed; that of running ones is not touched."""
    if not NAMED.is_dir():
        return
    found = (_NAMESPACE.fullmatch(entry.name) for entry in NAMED.iterdir())
    for owner in sorted({int(match[1]) for match in found if match}):
        if not Path(f"/proc/{owner}").exists():
            _run("down", *_names(owner))


def _names(owner: int) -> tuple[str, str]:
    return f"rdmac-{owner}-a", f"rdmac-{owner}-b"


class _Remover:
    """Removes the pair once: when called, at exit, or on SIGTERM."""

    def __init__(self, owner: int, spaces: tuple[str, str]):
        self._owner = owner
        self._spaces = spaces
        self._done = False
        atexit.register(self)
        self._previous = signal.getsignal(signal.SIGTERM)
        signal.signal(signal.SIGTERM, self._terminated)

    def __call__(self) -> None:
        if self._done or os.getpid() != self._owner:
            return
        self._done = True
        atexit.unregister(self)
        signal.signal(signal.SIGTERM, self._previous or signal.SIG_DFL)
        _run("down", *self._spaces)

    def _terminated(self, number: int, frame: object) -> None:
        # An exception lets everybody on the stack clean up; this pair goes at exit.
        raise SystemExit(128 + number)


def _run(*arguments: str) -> None:
    command = ["sh", str(SCRIPT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=STEP_S, check=False)
    except subprocess.TimeoutExpired:
        raise FabricError(f"rxe-pair {arguments[0]} did not end in {STEP_S:g} s", "") from None
    if done.returncode:
        reason = done.stderr.strip() or f"exit status {done.returncode}"
        raise FabricError(f"the rxe devices could not be set up: {reason}", "")
