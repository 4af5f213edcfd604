"""Two network namespaces with an rxe device each, made for one run and removed after it."""

import atexit
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rdma_conformance.fabric.checks import VERBS
from rdma_conformance.fabric.namespaces import NAMED
from rdma_conformance.fabric.settings import FabricError
from rdma_conformance.interruption import INTERRUPTIONS
from rdma_conformance.processes import start

RXE = Path("/sys/module/rdma_rxe")
SCRIPT = Path(__file__).with_name("rxe-pair")
STEP_S, KILL_S = 60.0, 5.0

# The owner's process id and start are in every name, so that leftovers of a dead owner are known
# as such, also when another process has its id by now.
_NAMESPACE = re.compile(r"rdmac-(\d+)-(\d+)-[ab]")


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """A process: its id, and when it started in clock ticks since boot."""

    pid: int
    start: int

    def lives(self) -> bool:
        return start(self.pid) == self.start

    def spaces(self) -> tuple[str, str]:
        return f"rdmac-{self.pid}-{self.start}-a", f"rdmac-{self.pid}-{self.start}-b"


@dataclass(frozen=True, slots=True)
class RxePair:
    """The two devices, and how to remove them."""

    devices: tuple[str, str]
    remove: Callable[[], None]


def make() -> RxePair:
    """Make the pair; it goes at the end of this process, too. Raises FabricError."""
    if os.geteuid() != 0:
        raise FabricError("--setup-rxe makes network namespaces", "run as root")
    # Not left to the script, which would load them. The class tells of a built-in one, too.
    needed = (("rdma_rxe", RXE), ("ib_uverbs", VERBS))
    if missing := [module for module, sign in needed if not sign.exists()]:
        names = " and ".join(missing)
        mend = f"load it: modprobe -a {' '.join(missing)}"
        raise FabricError(f"--setup-rxe needs the kernel's {names}", mend)
    remove_leftovers()
    owner = this_process()
    devices = (f"rxe{owner.pid}a", f"rxe{owner.pid}b")
    remover = _Remover(owner)
    try:
        with INTERRUPTIONS.held():
            _run("up", *owner.spaces(), *devices)
    except BaseException:
        remover()
        raise
    return RxePair(devices, remover)


def is_a_runs(namespace: str) -> bool:
    """Whether --setup-rxe made the namespace of that name, for whichever run."""
    return _NAMESPACE.fullmatch(namespace) is not None


def remove_leftovers() -> None:
    """Remove what runs left behind that were killed; that of running ones is not touched."""
    if not NAMED.is_dir():
        return
    found = (_NAMESPACE.fullmatch(entry.name) for entry in NAMED.iterdir())
    for owner in sorted({Owner(int(match[1]), int(match[2])) for match in found if match}):
        if not owner.lives():
            _run("down", *owner.spaces())


def this_process() -> Owner:
    pid = os.getpid()
    return Owner(pid, start(pid) or 0)


class _Remover:
    """Removes the pair once: when called, or at exit."""

    def __init__(self, owner: Owner):
        self._owner = owner
        self._done = False
        atexit.register(self)

    def __call__(self) -> None:
        if self._done or os.getpid() != self._owner.pid:
            return
        with INTERRUPTIONS.held():
            self._done = True
            atexit.unregister(self)
            _run("down", *self._owner.spaces())


def _run(*arguments: str) -> None:
    command = ["sh", str(SCRIPT), *arguments]
    # No pipe: a step that waits in the kernel would hold it open beyond its own SIGKILL.
    with tempfile.TemporaryFile() as said:
        step = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )
        try:
            status = step.wait(STEP_S)
        except BaseException as error:
            os.killpg(step.pid, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                step.wait(KILL_S)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise FabricError(
                f"rxe-pair {arguments[0]} did not end in {STEP_S:g} s: a step of it may wait in "
                "the kernel",
                "look for its processes; if they can't be killed, reboot",
            ) from None
        said.seek(0)
        words = said.read().decode(errors="replace").strip()
    if status:
        reason = words or f"exit status {status}"
        done_to = "set up" if arguments[0] == "up" else "removed"
        raise FabricError(f"the rxe devices could not be {done_to}: {reason}", "")
