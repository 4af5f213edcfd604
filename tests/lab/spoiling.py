"""Runs on a real device, and what spoils them. The lab runs this file in the guest.

    spoiling.py kills SEED COUNT | signals | stop | disk | together

Each run is a process forked from this one, where all is imported already: that halves the time of
its start. An assertion that fails ends the script with a traceback.
"""

import atexit
import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rdma_conformance.suites import all_cases
from rdma_reports.command import main as rdma_conformance
from rdma_reports.runfile import read_run

EVENTS = "conformance/remote/test_events.py"
TRAFFIC = "conformance/lifetime/test_traffic.py"
LIMIT = "conformance/memlock/test_limit.py"
# Shared and exclusive cases, forked children, limits of a process, processes that are killed.
CASES = (EVENTS, LIMIT, TRAFFIC, "-k", "not rounds and not read-ret and not :7")
FEW = (EVENTS, "-k", "write")
PLACE = Path("/run/spoiling")
# One emulated processor for all these runs may well starve a task for the usual 21 s.
STALL = Path("/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout")
WAIT_S = 240.0
GONE_S = 10.0


class Started:
    """A run in a session of its own, by another command that runs it if need be."""

    def __init__(self, name, *args, cases=CASES, place=PLACE, through=()):
        self.run_file = place / f"{name}.ndjson"
        self.output = PLACE / f"{name}.out"
        usual = ["-q", "-p", "no:cacheprovider", "-W", "ignore", "--run-file", str(self.run_file)]
        self.pid = os.fork()
        if self.pid == 0:
            _ask([*cases, *usual, *args], self.output, through)
        self.ended = None

    def lines(self):
        """The results so far, by the text of each line.

        A line that is being written may be seen in part, and SIGKILL may cut it between two pages.
        """
        with contextlib.suppress(FileNotFoundError):
            return self.run_file.read_bytes().split(b"\n")[1:-1]
        return []

    def alive(self):
        if self.ended is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.ended = os.waitstatus_to_exitcode(status)
        return self.ended is None

    def wait_for(self, count):
        """Until there are so many results, or the run ends."""
        deadline = time.monotonic() + WAIT_S
        while self.alive() and len(self.lines()) < count:
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.02)

    def end(self):
        """The exit status; nothing of the run is left a while after it."""
        deadline = time.monotonic() + WAIT_S
        while self.alive():
            assert time.monotonic() < deadline, self.output.read_text()
            time.sleep(0.02)
        deadline = time.monotonic() + GONE_S
        while left := _session(self.pid):
            assert time.monotonic() < deadline, f"processes are left: {left}"
            time.sleep(0.05)
        return self.ended

    def processes(self):
        """Its own process and all that it started, by id."""
        found = [self.pid]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                with contextlib.suppress(OSError):
                    found += map(int, task.read_text().split())
        return found

    def check(self, before=()):
        """Nothing is lost, nothing doubled, and the file can be read; the results of the run."""
        lines = self.lines()
        assert lines[: len(before)] == list(before), "a result was lost"
        if not self.run_file.exists():
            return ()
        run = read_run(self.run_file)
        names = [line.case for line in run.lines]
        assert len(names) == len(set(names)), "a case was answered twice"
        return run.lines

    def conforms(self):
        assert self.end() == 0, self.output.read_text()[-3000:]
        self.check()
        with contextlib.redirect_stdout(io.StringIO()):
            assert rdma_conformance(["validate", str(self.run_file)]) == 0


def _ask(args, output, through):
    """In the child: pytest, as its command would run it."""
    status = 70
    try:
        os.setsid()
        with output.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        if through:
            os.execvp(through[0], [*through, "pytest", *args])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = int(pytest.main(args))
        atexit._run_exitfuncs()
    finally:
        sys.stdout.flush()
        os._exit(status)


def _session(leader):
    """The living processes of a session: id and name."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = stat.read_text(errors="replace").rpartition(")")
            fields = rest.split()
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(name)
    return found


def host():
    """What a run must leave as it was: namespaces, links, devices and what is on those."""
    said = subprocess.run(["rdma", "-j", "resource", "show"], capture_output=True, check=True)
    return {
        "namespaces": _names("/run/netns"),
        "links": _names("/sys/class/net"),
        "devices": _names("/sys/class/infiniband"),
        "resources": json.loads(said.stdout),
    }


def _names(folder):
    return sorted(each.name for each in Path(folder).iterdir())


def settled(before):
    deadline = time.monotonic() + GONE_S
    while (now := host()) != before:
        assert time.monotonic() < deadline, f"{before} became {now}"
        time.sleep(0.1)


DISTRIBUTED = ("--device", "rxe0", "-n2")  # once: it takes three times as long to start
MODES = (("--device", "rxe0"), ("--setup-rxe",))
MOST = 8  # kills in a run
ENDS = 0.15  # how often pytest itself is killed, which ends the run


def kills(seed, count):
    """So many kills, each of a random process of a run at a random time."""
    chance, before, left, number = random.Random(int(seed)), host(), int(count), 0
    bad = killed = 0
    while left:
        mode = MODES[number % len(MODES)] if number else DISTRIBUTED
        run = Started(f"run{number}", *mode)
        here = 0
        while run.alive() and left and here < MOST:
            results = len(run.lines())
            if chance.random() < 0.4:  # else it may just be starting anew
                run.wait_for(results + chance.randrange(1, 12))
            time.sleep(chance.uniform(0, 2.0 if results == 0 else 0.3))
            if not run.alive():
                break
            done, processes = run.lines(), run.processes()
            others = processes[1:] if chance.random() > ENDS else []
            victim = chance.choice(others or processes[:1])
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
            left, here, killed = left - 1, here + 1, killed + 1
            who = "pytest" if victim == run.pid else f"process {processes.index(victim)}"
            print(
                f"kill {killed}: {' '.join(mode)}, {who} of {len(processes)}, "
                f"after {len(done)} results",
                flush=True,
            )
            if victim == run.pid:
                run.end()
            run.check(done)
        run.end()
        spoiled = [line for line in run.check() if line.verdict in ("ERROR", "CRASH", "FAIL")]
        # The watch is on: it would have seen the driver kill a process.
        assert len(spoiled) <= here, _told(spoiled)
        assert {line.verdict for line in spoiled} <= {"ERROR"}, _told(spoiled)
        bad += len(spoiled)
        number += 1
    print(f"{killed} kills cost {bad} cases", flush=True)
    # Where a person's results are: on the lab's shared folder.
    run = Started("after-the-kills", "--setup-rxe", cases=FEW, place=Path("results").resolve())
    run.conforms()
    run.run_file.unlink()
    settled(before)


def signals():
    """SIGTERM, and an impatient Ctrl-C: the run's own namespaces go with it."""
    before = host()
    run = Started("signals", "--setup-rxe", cases=CASES)
    run.wait_for(3)
    done = run.lines()
    os.kill(run.pid, signal.SIGTERM)
    for _ in range(20):
        time.sleep(0.1)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGINT)
    assert run.end() == pytest.ExitCode.INTERRUPTED, run.output.read_text()[-3000:]
    assert run.check(done)
    footer = read_run(run.run_file).footer
    assert footer.interrupted and footer.verdict == "INVALID"
    assert "KeyboardInterrupt: the run was ended by SIGTERM" in run.output.read_text()
    settled(before)


def stop():
    """A process that is stopped is not the driver's hang."""
    cases = (LIMIT, "-k", "one_region or part or capable")
    run = Started("stop", "--device", "rxe0", "--bound", "5", cases=cases)
    run.wait_for(2)
    os.kill(run.processes()[-1], signal.SIGSTOP)  # the keeper, or what it forked
    run.wait_for(len(run.lines()) + 2)
    os.kill(run.processes()[1], signal.SIGSTOP)  # the endpoint worker
    assert run.end() == pytest.ExitCode.TESTS_FAILED
    spoiled = [line for line in run.check() if line.verdict in ("ERROR", "CRASH", "FAIL")]
    assert [line.verdict for line in spoiled] == ["ERROR", "ERROR"], _told(spoiled)
    assert all("stopped by a signal: process" in line.reason for line in spoiled), _told(spoiled)


def _told(lines):
    return [(line.case, line.verdict, line.reason, line.differences) for line in lines]


def disk():
    """A disk that is really full, one that can't be written at all, and a folder that goes."""
    small = PLACE / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", small], check=True)
    device = ("--device", "rxe0")
    run = Started("full", *device, place=small)
    assert run.end() == pytest.ExitCode.INTERRUPTED
    said = run.output.read_text()
    assert "full.ndjson cannot be written: No space left on device" in said, said
    assert "Traceback" not in said and "INTERNALERROR" not in said, said
    assert len(run.check()) > 3 and read_run(run.run_file).footer is None
    run = Started("allure", *device, "--alluredir", str(small), cases=FEW)
    assert run.end() != 0
    said = run.output.read_text()
    assert f"Allure results cannot be written to {small}: No space left on device" in said or (
        f"--alluredir={small} cannot be" in said
    ), said
    assert "Traceback" not in said and "INTERNALERROR" not in said, said
    with contextlib.suppress(OSError), (small / "rest").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    run = Started("xml", *device, f"--junitxml={small}/run.xml", cases=FEW)
    status, said = run.end(), run.output.read_text()
    assert status == pytest.ExitCode.TESTS_FAILED, said
    assert "run.xml cannot be written: No space left on device" in said, said
    assert read_run(run.run_file).footer.verdict == "INVALID"
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    run = Started("readonly", *device, cases=FEW, place=small)
    assert run.end() == pytest.ExitCode.USAGE_ERROR
    said = run.output.read_text()
    assert "readonly.ndjson cannot be written: Read-only file system" in said, said
    assert "Traceback" not in said, said
    subprocess.run(["umount", small], check=True)


def together():
    """Runs that live at the same time do not touch each other, and say the same."""
    before = host()
    cases = (EVENTS, "-k", "region")
    distributed = Started("distributed", "--device", "rxe0", "-n2", cases=cases)
    made = Started("made", "--setup-rxe", cases=cases)
    other = Started("other", "--setup-rxe", cases=FEW)
    for run in (made, other, distributed):
        run.conforms()
    assert rdma_conformance(["compare", str(made.run_file), str(distributed.run_file)]) == 0
    settled(before)


def main(name, *args):
    start = time.monotonic()
    PLACE.mkdir(exist_ok=True)
    STALL.write_text("120")
    assert all_cases()  # imports the suites
    {each.__name__: each for each in (kills, signals, stop, disk, together)}[name](*args)
    print(f"{name}: as it should be, {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
