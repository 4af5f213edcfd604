"""The controller's side: start a worker, ask it with a time bound, and bury it when it hangs."""

import json
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import execnet

import conformance
import rdma_conformance
from rdma_conformance.endpoint.server import PROTOCOL
from rdma_conformance.endpoint.stopped import STOPPED, stopped

START_S = 60.0  # importing pyverbs takes seconds on an emulated machine
KILL_S = 5.0  # after SIGKILL a process that stays can only be waiting in the kernel
# Such a wait may have an end: rxe gives up on some after 50 s. How much longer than an answer it
# may take, and at most, before it counts as none.
STUCK_FACTOR, STUCK_S = 2.5, 75.0

# Runs in the worker: this suite's packages are found by `paths`, all else as its Python does.
# A text, as the source of a function would be read from a file that may have changed since.
_BOOTSTRAP = """
import json, sys
start = json.loads(channel.receive())
sys.path[:0] = start["paths"]
from rdma_conformance.endpoint.server import serve
del sys.path[: len(start["paths"])]
serve(channel, start["protocol"])
"""


class WorkerTrouble(Exception):
    """No answer to a request: each of its kinds says why.

    `stuck`: the worker waits in the kernel for good, so that the machine is no longer to be used.
    """

    stuck = False


class WorkerDied(WorkerTrouble):
    """The worker ended while it was asked; `exit_info` says how."""

    def __init__(self, exit_info: str, stuck: bool = False):
        super().__init__(f"the endpoint worker {exit_info}")
        self.exit_info = exit_info
        self.stuck = stuck

    @property
    def killed(self) -> bool:
        """Whether it was SIGKILL: an oops sends that, but so does anybody else."""
        return self.exit_info == _killed_by(signal.SIGKILL)


class WorkerHung(WorkerTrouble):
    """No answer within `seconds`. `phase` is `asked` when the driver owed one, `control` before,
    and begins with STOPPED when a process was, so that nobody can tell.

    `kernel_stack` shows where its threads wait, and `end` says what became of it.
    """

    def __init__(
        self, phase: str, seconds: float, kernel_stack: str, end: str, stuck: bool = False
    ):
        where = f"\n{kernel_stack}" if kernel_stack else ""
        super().__init__(
            f"no answer within {seconds:g} s (phase: {phase}); the worker {end}{where}"
        )
        self.phase = phase
        self.seconds = seconds
        self.kernel_stack = kernel_stack
        self.end = end
        self.stuck = stuck


class WorkerError(WorkerTrouble):
    """The suite itself failed in the worker. `kind` is as in `server`, or `start`."""

    def __init__(self, message: str, traceback: str = "", kind: str = "suite"):
        super().__init__(message)
        self.message = message
        self.traceback = traceback
        self.kind = kind


class Worker:
    """A worker process, local or behind ssh.

    `python` is the command that runs it and may be several words, such as
    `ip netns exec left /usr/bin/python3`; without it this interpreter (or the remote `python3`)
    is taken. Raises WorkerError when none can be had.
    """

    def __init__(self, python: str | None = None, ssh: str | None = None):
        self._ids = count(1)
        self._local = ssh is None
        self._group = execnet.Group()
        self._gateway: execnet.Gateway | None = None
        # The main thread is the one that verbs are called in: signals and memory are its own.
        spec = "popen" if ssh is None else f"ssh={ssh}"
        spec += "//execmodel=main_thread_only"
        command = python or (shlex.quote(sys.executable) if self._local else "python3")
        spec += f"//python={command}"
        self.name = f"{ssh}: {command}" if ssh else command
        self.stuck = False
        self.waits_in = ""  # the kernel stacks of a stuck one
        self.pid = self._start(spec)

    def _start(self, spec: str) -> int:
        try:
            self._gateway = self._group.makegateway(spec)
            self._channel = self._gateway.remote_exec(_BOOTSTRAP)
            paths = _package_parents() if self._local else []
            self._channel.send(json.dumps({"paths": paths, "protocol": PROTOCOL}))
            hello = json.loads(self._channel.receive(START_S))
        except execnet.RemoteError as error:
            self.close()
            raise WorkerError(
                f"the endpoint worker ({self.name}) did not start: {_last_line(error.formatted)}",
                error.formatted,
                "start",
            ) from None
        except (EOFError, OSError, execnet.HostNotFound, execnet.TimeoutError) as error:
            self.close()
            # Of a process that ended at once the channel only knows that it was closed.
            missing = isinstance(error, FileNotFoundError)
            reason = str(error) if missing else "it ended, or said nothing of itself"
            message = f"the endpoint worker ({self.name}) did not start: {reason}"
            raise WorkerError(message, kind="start") from None
        if hello["protocol"] != PROTOCOL:
            self.close()
            raise WorkerError(
                f"the worker ({self.name}) speaks protocol {hello['protocol']}, this suite "
                f"{PROTOCOL}: install the same release of rdma-conformance on both hosts"
            )
        return hello["pid"]

    def call(self, do: str, timeout: float, **payload: Any) -> Any:
        """The answer to a request. Raises WorkerDied, WorkerHung or WorkerError.

        After the first two the worker is gone: make another.
        """
        number = next(self._ids)
        deadline = time.monotonic() + timeout
        try:
            self._channel.send(json.dumps({"id": number, "do": do, **payload}))
            answer = self._receive(number, deadline)
        except execnet.TimeoutError:
            stack = _kernel_stacks(self.pid) if self._local else ""
            phase = _phase(self.pid) if self._local else "control"
            if self._local and (pid := stopped(self.pid)):
                phase = f"{STOPPED} by a signal: process {pid}"
            end = self._bury(timeout * STUCK_FACTOR)
            shown = "" if self.stuck else stack  # then the end has it
            raise WorkerHung(phase, timeout, shown, end, self.stuck) from None
        except (EOFError, OSError, execnet.RemoteError):
            raise WorkerDied(self._bury(timeout * STUCK_FACTOR), self.stuck) from None
        except BaseException:  # interrupted: nobody will ever fetch the answer
            self._bury(KILL_S)
            raise
        if "error" in answer:
            error = answer["error"]
            raise WorkerError(error["message"], error["traceback"], error["kind"])
        return answer["result"]

    def _receive(self, number: int, deadline: float) -> dict[str, Any]:
        while True:
            answer = json.loads(self._channel.receive(max(0.0, deadline - time.monotonic())))
            if answer["id"] == number:
                return answer

    def _bury(self, patience_s: float) -> str:
        """Kill what is left of the worker; returns how it ended.

        One that has not ended after `patience_s` is stuck.
        """
        process = self._gateway._io.popen
        with suppress(subprocess.TimeoutExpired):
            # One that died by itself is to be seen with its own status, not with our signal.
            process.wait(0.0 if self._channel.isclosed() is False else 1.0)
        if process.poll() is None:
            process.kill()
        try:
            code = process.wait(min(max(patience_s, KILL_S), STUCK_S))
        except subprocess.TimeoutExpired:
            self.stuck = True
            self.waits_in = _kernel_stacks(self.pid)
            where = f"\n{self.waits_in}" if self.waits_in else ""
            return (
                f"(pid {self.pid}) waits in the kernel and can't be killed: it was left behind"
                f"{where}"
            )
        self.close()
        if code < 0:
            return _killed_by(signal.Signals(-code))
        return f"exited with status {code}"

    def close(self) -> None:
        """End the worker; it closes what it has open. Kills it when it takes too long.

        `stuck` says afterwards whether it is still there, and `waits_in` where.
        """
        if self.stuck:
            return
        self._group.terminate(timeout=KILL_S)
        if self._gateway is not None and self._gateway._io.popen.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self._gateway._io.popen.wait(STUCK_S)
                return
            self.stuck = True
            self.waits_in = _kernel_stacks(self.pid) if self._local else ""


def _killed_by(number: signal.Signals) -> str:
    return f"was killed by {number.name}"


def _package_parents() -> list[str]:
    """Where this suite's packages lie, for workers that run another python."""
    packages = (conformance, rdma_conformance)
    return list(dict.fromkeys(str(Path(each.__path__[0]).parent) for each in packages))


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _phase(pid: int) -> str:
    """`asked` when the worker shows that the driver owes it an answer, else `control`."""
    with suppress(OSError):
        if Path(f"/proc/{pid}/comm").read_text().strip() == "asked":
            return "asked"
    return "control"


def _kernel_stacks(pid: int) -> str:
    """Where in the kernel the process's threads wait: stack (root only) or the function's name."""
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("[0-9]*")):
        for name in ("stack", "wchan"):
            with suppress(OSError):
                text = (task / name).read_text().strip()
                if text and text != "0":
                    lines.append(f"thread {task.name} {name}:\n{text}")
                    break
    return "\n".join(lines)
