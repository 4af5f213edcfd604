"""Processes of their own limits: what runs in them, and how an end starts them.

A keeper, started once, forks a process for each case: so that limits, capabilities and what the
case leaves behind end with it. It speaks JSON, a line for a request and a line for its answer.
"""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import conformance
import rdma_conformance

_PROGRAM = """
import sys
sys.path[:0] = {paths!r}
from rdma_conformance.endpoint.confinement import keep
keep()
"""


class Confined:
    """Runs cases in processes of their own: a part of an end."""

    def __init__(self, device: str, port: int, gid_index: int):
        self._place = {"device": device, "port": port, "gid_index": gid_index}
        self._keeper: subprocess.Popen[bytes] | None = None

    def run(self, what: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The answer of function `what` of `confinement` in a new process.

        Raises RuntimeError when that process fails.
        """
        if self._keeper is None:
            self._keeper = _start()
        request = {"what": what, "place": self._place, **arguments}
        with suppress(BrokenPipeError):
            self._keeper.stdin.write(json.dumps(request).encode() + b"\n")
            self._keeper.stdin.flush()
        line = self._keeper.stdout.readline()
        if not line:
            self.close()  # the next case gets another
            raise RuntimeError("the keeper of processes has died")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def descriptors(self) -> int:
        """How many are open to the keeper."""
        return 0 if self._keeper is None else 2

    def close(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            with suppress(OSError):
                keeper.stdin.close()
            keeper.wait()
            keeper.stdout.close()


def _start() -> "subprocess.Popen[bytes]":
    packages = (conformance, rdma_conformance)
    paths = list(dict.fromkeys(str(Path(each.__path__[0]).parent) for each in packages))
    return subprocess.Popen(
        [sys.executable, "-c", _PROGRAM.format(paths=paths)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
