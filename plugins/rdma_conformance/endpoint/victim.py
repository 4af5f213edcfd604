"""A process of its own with an open device, that serves a peer and is killed at it."""

import json
import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import conformance
import rdma_conformance
from rdma_conformance.endpoint.outlasting import in_words, outlasting
from rdma_conformance.endpoint.restrack import holdings

START_S = 60.0  # importing pyverbs takes seconds on an emulated machine
END_S = 30.0  # how long a process may take to die: it waits for the driver only

# What libraries print goes to stderr: the answers are one JSON text a line.
_BOOTSTRAP = """
import json, os, sys
sys.path[:0] = json.loads(sys.argv[1])
from rdma_conformance.endpoint.privileges import die_with_parent
die_with_parent(int(sys.argv[2]))
from rdma_conformance.endpoint.server import Session
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
session = Session()
for line in sys.stdin:
    print(json.dumps(session.answer(json.loads(line))), file=answers, flush=True)
"""


class Victims:
    """At most one such process at a time, on the host of an end."""

    def __init__(self, device: str, port: int, gid_index: int):
        self._opened = {"device": device, "port": port, "gid_index": gid_index}
        self._process: subprocess.Popen[str] | None = None
        self._pids = {os.getpid()}

    def start(self) -> None:
        """Start it and open the device. Raises RuntimeError when that fails."""
        packages = (conformance, rdma_conformance)
        paths = [str(Path(each.__path__[0]).parent) for each in packages]
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _BOOTSTRAP),
                *(json.dumps(list(dict.fromkeys(paths))), str(os.getpid())),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._pids.add(self._process.pid)
        self._ask({"do": "open", "end": "end", **self._opened})

    def call(self, method: str, arguments: list[Any]) -> Any:
        """A method of its end or of a part of that. Raises RuntimeError when that fails."""
        return self._ask({"do": "call", "end": "end", "method": method, "arguments": arguments})

    def _ask(self, request: dict[str, Any]) -> Any:
        process = self._process
        process.stdin.write(json.dumps({"id": 0, **request}) + "\n")
        process.stdin.flush()
        ready = select.select([process.stdout], [], [], START_S)[0]
        line = process.stdout.readline() if ready else ""
        answer = json.loads(line) if line else {"error": {"message": "it died, or said nothing"}}
        if "error" in answer:
            message = answer["error"]["message"]
            raise RuntimeError(f"the process that is to be killed: {message}")
        return answer["result"]

    def kill(self) -> str:
        """SIGKILL: killed, or how else it ended, or that it does not."""
        if self._process is None:
            return "never started"
        process, self._process = self._process, None
        process.kill()
        with suppress(BrokenPipeError):  # it had died with a request unread
            process.stdin.close()
        process.stdout.close()
        try:
            code = process.wait(END_S)
        except subprocess.TimeoutExpired:
            return f"not {END_S:g} s after SIGKILL"
        return "killed" if code == -9 else f"exit status {code}"

    def resources(self) -> dict[str, int]:
        """How many objects of each kind this process, the victims and dead processes have on the
        device: what others have there is none of the case's. Raises OSError without netlink."""
        return holdings(self._opened["device"], self._pids)

    def settled(self, before: dict[str, int]) -> str:
        """Whether the counts come back to `before` within a while; else which do not.

        Raises RuntimeError as `outlasting` does.
        """
        more = outlasting(self.resources, before)
        return ", ".join(in_words(more, before)) or "as before"

    def close(self) -> None:
        self.kill()


class VictimEnd:
    """Stands in for the end that the process of `responder.victims` has open."""

    def __init__(self, responder: Any):
        self._responder = responder

    def __getattr__(self, name: str) -> "_Method":
        return _Method(self._responder, name)


class _Method:
    def __init__(self, responder: Any, path: str):
        self._responder = responder
        self._path = path

    def __getattr__(self, name: str) -> "_Method":
        return _Method(self._responder, f"{self._path}.{name}")

    def __call__(self, *arguments: Any) -> Any:
        return self._responder.victims.call(self._path, list(arguments))
