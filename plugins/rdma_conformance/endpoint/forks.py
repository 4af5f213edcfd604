"""Functions in processes of their own."""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from rdma_conformance.endpoint import privileges


def apart(function: Callable[..., dict[str, Any]], arguments: dict[str, Any]) -> dict[str, Any]:
    """What `function` returns in a process of its own, or {"error": ...}."""
    pid, reading = fork(lambda writing: _write(writing, function(**arguments)))
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status or not text:
        return {"error": f"the process ended with status {status}; its message is on stderr"}
    return json.loads(text)


def fork(body: Callable[[int], None]) -> tuple[int, int]:
    """A child that runs `body` with the writing end of a pipe: its pid and our end."""
    parent = os.getpid()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        privileges.die_with_parent(parent)
        body(writing)
        status = 0
    except Exception as error:
        print(f"confined process: {error!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def reap(pid: int) -> int:
    """Wait for a child that was not killed here: its exit status, or the negative signal.

    Raises RuntimeError for SIGKILL, which is no answer of the driver's: somebody's, the kernel's
    for want of memory, or that of an oops, which the kernel's log tells.
    """
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == -signal.SIGKILL:
        raise RuntimeError(f"somebody killed process {pid}, which the case had started")
    return status


def _write(pipe: int, answer: dict[str, Any]) -> None:
    with os.fdopen(pipe, "wb", closefd=False) as file:
        file.write(json.dumps(answer).encode())
