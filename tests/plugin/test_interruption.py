"""Signals to a run: it ends in order, whatever it is at, and nobody else's signals change."""

import os
import signal

import pytest

from rdma_conformance.interruption import SIGNALS, Interruptions


@pytest.fixture
def interruptions():
    made = Interruptions()
    yield made
    made.restore()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_run(interruptions, number):
    before = signal.getsignal(number)
    interruptions.watch()
    with pytest.raises(KeyboardInterrupt, match=f"ended by {number.name}"):
        os.kill(os.getpid(), number)
    interruptions.check()  # it was heard
    interruptions.restore()
    assert signal.getsignal(number) is before


def test_a_step_is_done_as_a_whole(interruptions):
    interruptions.watch()
    done = []
    with pytest.raises(KeyboardInterrupt), interruptions.held():
        with interruptions.held():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("inner")
        done.append("outer")
    assert done == ["inner", "outer"]


def test_an_error_of_a_step_comes_before_the_signal(interruptions):
    interruptions.watch()
    with pytest.raises(ValueError, match="so it is"), interruptions.held():
        os.kill(os.getpid(), signal.SIGTERM)
        raise ValueError("so it is")
    with pytest.raises(KeyboardInterrupt):
        interruptions.check()


def test_what_is_taken_down_is_taken_down_wholly(interruptions):
    interruptions.watch()
    interruptions.end()
    os.kill(os.getpid(), signal.SIGINT)
    with interruptions.held():
        os.kill(os.getpid(), signal.SIGHUP)
    interruptions.check()


def test_an_ignored_signal_stays_ignored(interruptions):
    """As nohup(1) asks, or a shell that starts something in the background."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interruptions.watch()
        os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_without_a_run_nothing_is_changed(interruptions):
    with interruptions.held():
        pass
    interruptions.check()
    interruptions.end()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
