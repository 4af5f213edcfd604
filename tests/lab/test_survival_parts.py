"""The lab's own part of going on after a guest's death: tickets, signs of life, last words."""

import json
import os
import signal
import subprocess
from pathlib import Path, PurePosixPath

import pytest
from rdma_lab import boot, options, survival
from rdma_lab.errors import GuestDied, LabError
from rdma_lab.relay import TIMED_OUT, Ended, is_stopped
from rdma_lab.silence import Silence
from rdma_lab.tickets import (
    State,
    Ticket,
    gained,
    going_on,
    remove_tickets,
    state_of,
    ticket_for,
)

from .conftest import CHECKOUT, children

ARGUMENTS = ("conformance/", "--device", "rxe0")
RUN_FILE = PurePosixPath("/suite/results/rxe0.ndjson")
RUNNING = PurePosixPath("/suite/results/rxe0.running")
TICKET = Ticket(ARGUMENTS, RUN_FILE, RUNNING, 0, False)


def leave(folder: Path, name: str = "1", **changes) -> None:
    content = {
        "arguments": list(ARGUMENTS),
        "run_file": str(RUN_FILE),
        "running": str(RUNNING),
        "part": 0,
        "stuck": False,
    }
    (folder / f"ticket-{name}.json").write_text(json.dumps(content | changes))


@pytest.mark.parametrize(
    "before", [("pytest",), ("env", "A=b", "python3", "-m", "pytest"), ("sh", "-c", 'x "$@"', "-")]
)
def test_a_ticket_is_of_the_commands_own_pytest(tmp_path, before):
    leave(tmp_path)
    assert ticket_for(tmp_path, (*before, *ARGUMENTS)) == TICKET
    assert ticket_for(tmp_path, (*before, *ARGUMENTS, "-q")) is None
    assert ticket_for(tmp_path, (*before, "tests/device")) is None


def test_what_is_no_ticket_is_passed_over(tmp_path):
    command = ("pytest", *ARGUMENTS)
    assert ticket_for(tmp_path, command) is None
    (tmp_path / "ticket-0.json").write_text('{"arguments": ')
    leave(tmp_path, "1", run_file="/tmp/lost-with-the-guest.ndjson")
    leave(tmp_path, "2", arguments=[])
    assert ticket_for(tmp_path, command) is None
    leave(tmp_path, "3", stuck=True)
    assert ticket_for(tmp_path, command).stuck
    remove_tickets(tmp_path)
    assert ticket_for(tmp_path, command) is None


def test_the_command_that_goes_on():
    command = ("sh", "-c", 'pytest "$@"', "-", *ARGUMENTS)
    words = PurePosixPath("/run/lab/last-words")
    once = going_on(command, TICKET, words)
    added = (f"--resume={RUN_FILE}", f"--last-words={words}")
    assert once == (*command[:4], *added, *ARGUMENTS)
    again = Ticket(once[4:], RUN_FILE, RUNNING, 1, False)
    assert going_on(command, again, words) == once
    assert going_on(command, again, None) == (*command[:4], added[0], *ARGUMENTS)


def test_how_far_a_run_has_come(tmp_path):
    (tmp_path / "results").mkdir()
    assert state_of(TICKET, tmp_path) == State(0, ("",), 0)
    lines = '{"type":"header"}\n{"type":"result","case":"a"}\n{"type":"result","case":"b"}\n'
    (tmp_path / "results" / "rxe0.ndjson").write_text(lines)
    (tmp_path / "results" / "rxe0.running").write_text("c\n\n")
    assert state_of(TICKET, tmp_path) == State(2, ("c", "", ""), 0)


@pytest.mark.parametrize(
    ("before", "after", "brought_on"),
    [
        (None, State(0, ("",), 0), True),
        (State(1, ("b",), 0), State(2, ("b",), 0), True),
        # Another case was asked: it gets its result when the run goes on.
        (State(2, ("b",), 0), State(2, ("c",), 1), True),
        # It died before it went on, or without asking.
        (State(2, ("b",), 0), State(2, ("b",), 0), False),
        (State(2, ("b",), 0), State(2, ("", ""), 1), False),
    ],
)
def test_what_a_guest_gained(before, after, brought_on):
    assert gained(before, after) is brought_on


def test_silence_counts_while_this_process_looks():
    silence = Silence(0.0)
    for second in range(1, 11):
        silence.look(float(second))
    assert silence.seconds == 10.0
    # The host was busy or asleep: the guest could not be heard.
    assert silence.look(500.0) == 12.0
    silence.broken(501.0)
    assert silence.look(502.0) == 1.0


def test_last_words():
    log = b"boot\n[ 1.0] fine\r\n[ 2.0] Kernel panic - not syncing: x\r\n\r\n[ 2.1] Call Trace:\n"
    words = ["[ 2.0] Kernel panic - not syncing: x", "[ 2.1] Call Trace:"]
    assert boot.last_words(log) == words
    # A lockup long before the end, as on a busy host.
    lockup = b"[ 0.1] watchdog: BUG: soft lockup - CPU#0 stuck for 24s!\n"
    told = boot.last_words(lockup + b"fine\n" * 99 + log)
    assert told[0].endswith("stuck for 24s!")
    assert told[-2:] == words
    assert len(told) == 42
    assert boot.last_words(b"a\nb\n") == ["a", "b"]
    assert boot.last_words(b"") == []


# What the lab does after a guest, with guests that do what a test says.


class Guests:
    """Stands in for `boot.run`: each guest leaves its ticket and results, and ends as told."""

    def __init__(self, checkout: Path, *ends):
        self.checkout, self.ends = checkout, list(ends)
        self.commands = []

    def __call__(self, options, *_, console: Path, tickets: Path, timeout):
        self.commands.append(options.command)
        end = self.ends.pop(0)
        results = self.checkout / "results"
        results.mkdir(exist_ok=True)
        with console.open("a") as log:
            log.write(f"guest {len(self.commands)}\n")
        if end.get("ticket", True):
            part = len(self.commands)
            leave(tickets, arguments=options.command[1:], part=part, stuck="stuck" in end)
        if "results" in end:
            line = '{"type":"result"}\n'
            (results / "rxe0.ndjson").write_text(line * end["results"])
        (results / "rxe0.running").write_text(end.get("running", ""))
        if "status" in end:
            return Ended(end["status"], stopped=end.get("stopped", False))
        raise GuestDied("it died", guilty=end.get("guilty", True))


@pytest.fixture
def survive(tmp_path, monkeypatch):
    def run(*ends, arguments=()):
        guests = Guests(tmp_path, *ends)
        monkeypatch.setattr(boot, "run", guests)
        monkeypatch.setattr(survival, "LAB", tmp_path / "lab")
        monkeypatch.setattr(survival.tempfile, "tempdir", str(tmp_path))
        chosen = options.parse([*arguments, "pytest", *ARGUMENTS])
        owner = (os.getuid(), os.getgid())
        try:
            return survival.run(chosen, None, None, owner), guests.commands
        except LabError as error:
            return str(error), guests.commands
        finally:
            assert not list(tmp_path.glob("rdma-lab-*/"))  # of folders; a console stays

    return run


RESUME = f"--resume={RUN_FILE}"
WORDS = "--last-words=/run/lab/last-words"
WHOLE = {"status": 0, "ticket": False}


def test_a_run_goes_on_after_its_guest(survive):
    status, commands = survive({"results": 3, "running": "a\n"}, WHOLE)
    assert status == 0
    assert commands[1] == ("pytest", RESUME, WORDS, *ARGUMENTS)


def test_a_guest_that_was_killed_has_no_last_words(survive):
    _, commands = survive({"results": 3, "guilty": False}, {"results": 4}, WHOLE)
    assert commands[1] == ("pytest", RESUME, *ARGUMENTS)
    assert commands[2] == ("pytest", RESUME, WORDS, *ARGUMENTS)


@pytest.mark.parametrize("guilty", [False, True])
def test_a_guest_that_died_before_it_asked_blames_nobody(survive, guilty):
    asked = {"results": 3, "running": "a\n", "guilty": guilty}
    _, commands = survive(asked, {"ticket": False, "guilty": not guilty}, WHOLE)
    assert (WORDS in commands[2]) is guilty


def test_a_stuck_task_takes_another_guest(survive):
    status, commands = survive({"results": 3, "stuck": True, "status": 2}, WHOLE)
    assert status == 0
    assert commands[1] == ("pytest", RESUME, *ARGUMENTS)


@pytest.mark.parametrize("status", [2, TIMED_OUT, 128 + signal.SIGINT])
def test_who_stops_a_run_gets_no_other_guest(survive, status):
    end = {"results": 3, "running": "a\n", "stuck": True, "status": status, "stopped": True}
    told, commands = survive(end, WHOLE)
    assert (told, len(commands)) == (status, 1)


def test_no_guest_is_booted_when_the_time_is_over(survive, monkeypatch):
    times = iter((0.0, 1.0, 99.0))
    monkeypatch.setattr(survival.time, "monotonic", lambda: next(times))
    told, commands = survive({"results": 3}, WHOLE, arguments=["--timeout", "60"])
    assert (told, len(commands)) == (TIMED_OUT, 1)


@pytest.mark.parametrize("arguments", [[], ["--no-survive"]])
def test_as_before_without_a_run_or_when_told_so(survive, arguments):
    said, commands = survive({"ticket": bool(arguments)}, WHOLE, arguments=arguments)
    assert len(commands) == 1
    assert said.startswith("it died\n    guest 1\nthe guest's console: ")


def test_guests_that_die_in_vain_end_it(survive):
    idle = {"ticket": False}
    said, commands = survive({"results": 3, "running": "a\n"}, idle, idle, WHOLE)
    assert len(commands) == 3
    assert said.startswith("2 guests in a row died without a result and without asking a case")
    assert "it died\n    guest 3" in said
    assert "guest 2" not in said.partition("console")[0]


def test_there_is_a_last_guest(survive, monkeypatch):
    monkeypatch.setattr(survival, "MOST_BOOTS", 3)
    said, _ = survive(*({"results": number} for number in range(1, 4)))
    assert said.startswith("3 guests did not bring the run to its end\n")


def test_a_stopped_process_is_told():
    with subprocess.Popen(["sleep", "60"]) as process:
        assert not is_stopped(process.pid)
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        assert is_stopped(process.pid)
        process.kill()
    assert not is_stopped(process.pid)


def test_the_guests_heart_beats_without_a_process_of_its_own(tmp_path):
    """A fork fails when memory or processes run out; and the clean-up would kill a child."""
    heart = [CHECKOUT / "lab/guest/heart", "0.1", tmp_path / "silent"]
    with subprocess.Popen(heart, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(5):
                assert process.stdout.readline() == b"alive\n"
                assert not children(process.pid)
        finally:
            process.kill()
