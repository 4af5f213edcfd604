"""What the lab makes of a guest that is told to end, and dies or falls silent over it."""

import os
import signal
import socket
import subprocess
import threading

import pytest
from rdma_lab.errors import GuestDied
from rdma_lab.job import Stream
from rdma_lab.relay import TIMED_OUT, Ended, HostEnds, Limits, Relay

NAMES = ("terminal", "control", "stdin", "stdout", "stderr")


@pytest.fixture
def relay():
    """A relay to a process that stands in for qemu, which is given too; and the guest's ends."""
    pairs = {name: socket.socketpair() for name in NAMES}
    streams = {"stdin": Stream.NOTHING, "stdout": Stream.PIPE, "stderr": Stream.PIPE}
    with subprocess.Popen(["sleep", "60"]) as guest:

        def make(*, total=None, silence=None, say=lambda _: None):
            return Relay(
                HostEnds(**{name: pair[0] for name, pair in pairs.items()}),
                process=guest.pid,
                streams=streams,
                mark="end",
                limits=Limits(60.0, total, silence),
                say=say,
            )

        yield make, guest, pairs["control"][1]
        guest.kill()
    for pair in pairs.values():
        for end in pair:
            end.close()


def interrupt(line):
    """What the lab says: once the guest is up, this process gets SIGINT."""
    if line.startswith("up"):
        os.kill(os.getpid(), signal.SIGINT)


def interrupted_guest(control, then):
    """A guest's part: it is up; when it is told to end, ``then()``."""

    def play():
        control.sendall(b"up\n")
        if control.recv(99) == b"signal INT\n":
            then()

    thread = threading.Thread(target=play)
    thread.start()
    return thread


def test_a_guest_that_dies_of_an_interruption_has_ended(relay):
    make, guest, control = relay
    thread = interrupted_guest(control, guest.kill)
    assert make(say=interrupt).run() == Ended(128 + signal.SIGINT, stopped=True)
    thread.join()


def test_a_guest_that_falls_silent_after_an_interruption_has_ended(relay):
    make, _, control = relay
    thread = interrupted_guest(control, lambda: None)
    assert make(silence=1.0, say=interrupt).run() == Ended(128 + signal.SIGINT, stopped=True)
    thread.join()


def test_a_timeout_is_an_end_too(relay):
    make, _, control = relay
    control.sendall(b"up\n")
    assert make(total=0.2, silence=0.1).run() == Ended(TIMED_OUT, stopped=True)


@pytest.mark.parametrize("dies", [True, False])
def test_a_guest_that_nobody_told_to_end_has_died(relay, dies):
    make, guest, control = relay
    control.sendall(b"up\n")
    if dies:
        guest.kill()
    with pytest.raises(GuestDied, match="without an exit status" if dies else "no sign of life"):
        make(silence=0.5).run()
