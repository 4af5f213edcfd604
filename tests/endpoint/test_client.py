"""Workers as processes: how they start, die, hang and end. None needs a device or pyverbs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rdma_conformance.endpoint.client import (
    START_S,
    Worker,
    WorkerDied,
    WorkerError,
    WorkerHung,
    _package_parents,
)
from rdma_conformance.endpoint.stopped import STOPPED, stopped


@pytest.fixture
def worker():
    made = Worker()
    yield made
    made.close()


def gone(pid: int) -> bool:
    """Whether a process ends within a few seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


def test_a_worker_answers(worker):
    assert worker.call("device", START_S, name="no such device") is None


def test_an_error_of_the_suite_keeps_the_worker(worker):
    with pytest.raises(WorkerError, match="do_nonsense") as caught:
        worker.call("nonsense", START_S)
    assert caught.value.kind == "suite"
    assert "Traceback" in caught.value.traceback
    assert worker.call("device", START_S, name="no such device") is None


def test_a_python_without_pyverbs_says_so(worker):
    with pytest.raises(WorkerError) as caught:
        worker.call("open", START_S, end="requester", device="no such", port=1, gid_index=0)
    assert caught.value.kind in ("pyverbs", "verbs")  # with pyverbs it is the device that lacks


def test_a_worker_that_is_killed(worker):
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match="was killed by SIGKILL"):
        worker.call("device", START_S, name="any")


def test_a_worker_that_hangs_is_killed(worker):
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(WorkerHung, match=r"no answer within 0\.2 s .*stopped.*SIGKILL") as caught:
        worker.call("device", 0.2, name="any")
    assert caught.value.phase.startswith(STOPPED)
    assert gone(worker.pid)


def test_a_stopped_descendant_is_found():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as parent:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        while not (child := children.read_text().strip()):
            time.sleep(0.01)
        assert stopped(parent.pid) is None
        os.kill(int(child), signal.SIGSTOP)
        while stopped(parent.pid) != int(child):
            time.sleep(0.01)
        os.kill(int(child), signal.SIGKILL)
    assert stopped(parent.pid) is None


def test_a_worker_ends_when_closed():
    worker = Worker()
    worker.close()
    assert gone(worker.pid)


def test_a_worker_has_a_process_group_of_its_own(worker):
    assert os.getpgid(worker.pid) == worker.pid != os.getpgid(0)


@pytest.mark.parametrize("stopped", [False, True])
def test_no_worker_outlives_a_controller_that_is_killed(stopped):
    """Stopped, it can't see the end of its pipe: the kernel has to end it."""
    code = (
        f"import sys, time; sys.path[:0] = {_package_parents()!r}\n"
        "from rdma_conformance.endpoint.client import Worker\n"
        "worker = Worker(); print(worker.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as owner:
        pid = int(owner.stdout.readline())
        if stopped:
            os.kill(pid, signal.SIGSTOP)
        owner.kill()
    assert gone(pid)


def test_a_python_that_does_not_start():
    with pytest.raises(WorkerError, match="did not start"):
        Worker("/bin/false")
    with pytest.raises(WorkerError, match="did not start"):
        Worker("/no/such/python")


def test_another_release_on_the_other_side(monkeypatch):
    monkeypatch.setattr("rdma_conformance.endpoint.client.PROTOCOL", 0)
    with pytest.raises(WorkerError, match="install the same release of rdma-conformance on both"):
        Worker()
