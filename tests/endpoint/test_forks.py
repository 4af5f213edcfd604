"""How a child of a case ended: by the case, or by somebody else."""

import os
import signal
import subprocess
from io import BytesIO

import pytest

from rdma_conformance.endpoint import confinement
from rdma_conformance.endpoint.forks import fork, reap
from rdma_conformance.endpoint.victim import Victims


def ended(how):
    pid, reading = fork(how)
    os.close(reading)
    return pid


def by(number):
    return lambda writing: os.kill(os.getpid(), number)


def test_a_child_that_ends_by_itself_tells_how():
    assert reap(ended(lambda writing: None)) == 0
    assert reap(ended(by(signal.SIGTERM))) == -signal.SIGTERM


def test_a_child_that_somebody_killed_is_no_answer():
    with pytest.raises(RuntimeError, match="somebody killed process"):
        reap(ended(by(signal.SIGKILL)))


def test_a_holder_of_regions_that_somebody_killed_is_no_answer():
    pid, reading = fork(by(signal.SIGKILL))
    with os.fdopen(reading, "rb") as pipe, pytest.raises(RuntimeError, match="somebody killed"):
        confinement._wait_for_holder(pid, pipe)


class Waiting:
    """A process that waits in the kernel."""

    def __init__(self):
        self.stdin, self.stdout = BytesIO(), BytesIO()

    def kill(self):
        pass

    def wait(self, timeout):
        raise subprocess.TimeoutExpired("victim", timeout)


def test_a_victim_that_does_not_die_is_told_so():
    victims = Victims("rxe0", 1, 0)
    victims._process = Waiting()
    assert victims.kill() == "not 30 s after SIGKILL"
