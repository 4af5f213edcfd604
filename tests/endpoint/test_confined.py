"""Processes of their own: what they are told, what they give up, and that none stays."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import conformance
import rdma_conformance
from rdma_conformance.endpoint import privileges
from rdma_conformance.endpoint.confined import Confined
from rdma_conformance.endpoint.forks import apart


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 5.0
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not Path(f"/proc/{pid}").exists()


def test_an_answer_comes_from_another_process():
    assert apart(lambda: {"pid": os.getpid()}, {})["pid"] != os.getpid()


def test_limits_and_capabilities_end_with_it():
    def confine() -> dict[str, object]:
        privileges.drop(privileges.CAP_IPC_LOCK)
        privileges.limit_memlock(4096)
        return {"capable": privileges.has(privileges.CAP_IPC_LOCK), "limit": privileges.memlock()}

    before = privileges.has(privileges.CAP_IPC_LOCK), privileges.memlock()
    assert apart(confine, {}) == {"capable": False, "limit": 4096}
    assert (privileges.has(privileges.CAP_IPC_LOCK), privileges.memlock()) == before


def test_a_process_that_fails_is_an_error_and_no_answer(capfd):
    def fail() -> dict[str, object]:
        raise ValueError("so it is")

    assert "status 1" in apart(fail, {})["error"]
    assert "so it is" in capfd.readouterr().err


def test_a_process_that_dies_is_an_error():
    assert "status -9" in apart(lambda: os.kill(os.getpid(), 9), {})["error"]


def test_a_device_that_is_not_there_is_told_and_the_keeper_goes_on():
    confined = Confined("none0", 1, 0)
    arguments = {"limit": 4096, "capable": False, "steps": [], "forgetful": False}
    for _ in range(2):
        with pytest.raises(RuntimeError, match="status 1"):
            confined.run("memlock", arguments)
    pid = confined._keeper.pid
    confined.close()
    assert gone(pid)


def test_a_killed_worker_takes_the_keeper_with_it():
    text = """
import sys, signal
sys.path[:0] = {paths!r}
from rdma_conformance.endpoint import confined
keeper = confined._start()
print(keeper.pid, flush=True)
signal.pause()
"""
    paths = [str(Path(each.__path__[0]).parent) for each in (conformance, rdma_conformance)]
    command = [sys.executable, "-c", text.format(paths=paths)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        keeper = int(worker.stdout.readline())
        assert Path(f"/proc/{keeper}").exists()
        worker.kill()
    assert gone(keeper)


def test_closing_what_was_never_used():
    Confined("none0", 1, 0).close()
