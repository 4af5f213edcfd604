"""Runs that are interrupted or can't write: what they say, what they leave, what they never do."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rdma_conformance.kernel_log import KernelLog
from rdma_conformance.suites import all_cases

TESTS = Path(__file__).parent
ROOT = TESTS.parents[1]
SUITE = "conformance/remote/test_events.py"
SLOW_S = 0.3  # of a case: time enough to meet the run at one

IDEAL = """
import os, sys, time
sys.path.insert(0, {tests!r})
import ideal
import rdma_conformance.run
from rdma_conformance.exclusive import hold

def lie(case, answer):
    {lie}
    return answer

rdma_conformance.run.open_fabric = lambda settings: ideal.IdealFabric(lie)
"""


class Started:
    """A run of the real suites against the ideal fabric, in a session of its own."""

    def __init__(self, folder, *args, lie=f"time.sleep({SLOW_S})", under=()):
        (folder / "answers.py").write_text(IDEAL.format(tests=str(TESTS), lie=lie))
        self.run_file = folder / "run.ndjson"
        paths = [str(folder), *sys.path]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        command = [sys.executable, "-m", "pytest", "-p", "answers", "-p", "no:cacheprovider"]
        command += ["-c", ROOT / "pyproject.toml", f"--rootdir={ROOT}", ROOT / SUITE]
        if not any(str(arg).startswith("--run-file") for arg in args):
            command.append(f"--run-file={self.run_file}")
        self.process = subprocess.Popen(
            [*under, *command, "--device=ideal0", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env={**environment, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )

    def lines(self):
        try:
            whole = self.run_file.read_text().split("\n")[:-1]  # the last may be in the writing
            return [json.loads(line) for line in whole]
        except FileNotFoundError:
            return []

    def wait_for(self, count):
        """Until so many lines are written."""
        deadline = time.monotonic() + 60
        while len(self.lines()) < count:
            assert self.process.poll() is None, self.process.stdout.read()
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def end(self):
        """The exit status, and what was said."""
        said, _ = self.process.communicate(timeout=60)
        return self.process.returncode, said


@pytest.fixture
def start(tmp_path):
    started = []

    def run(*args, **more):
        started.append(Started(tmp_path, *args, **more))
        return started[-1]

    yield run
    for each in started:
        if each.process.poll() is None:
            os.killpg(each.process.pid, signal.SIGKILL)
        each.process.communicate()


def session_of(pid):
    """The living processes of the session that `pid` leads or led."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def gone(pid):
    deadline = time.monotonic() + 5
    while (left := session_of(pid)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not left


ALONE, DISTRIBUTED = (), ("-n2",)


@pytest.mark.parametrize(
    ("processes", "number", "to_all", "times"),
    [
        (ALONE, signal.SIGINT, True, 2),
        (ALONE, signal.SIGTERM, False, 1),
        (ALONE, signal.SIGHUP, True, 1),
        (DISTRIBUTED, signal.SIGINT, True, 2),
        (DISTRIBUTED, signal.SIGTERM, False, 1),
    ],
)
def test_a_signal_ends_a_run_in_order(start, processes, number, to_all, times):
    run = start(*processes)
    run.wait_for(3)
    for _ in range(times):
        (os.killpg if to_all else os.kill)(run.process.pid, number)
        time.sleep(0.05)
    status, said = run.end()
    assert status == pytest.ExitCode.INTERRUPTED, said
    assert gone(run.process.pid)
    header, *cases, footer = run.lines()
    assert footer["interrupted"]
    assert footer["exit_status"] == 2
    assert footer["verdict"] == "INVALID"
    assert sum(footer["counts"].values()) == len(cases) < header["selected"]
    assert {case["verdict"] for case in cases} == {"PASS"}, said
    assert "INVALID: the run was interrupted; " in said
    assert "INTERNALERROR" not in said and "Traceback" not in said
    assert not run.run_file.with_suffix(".running").exists()


@pytest.mark.parametrize("processes", [ALONE, DISTRIBUTED])
def test_a_kill_leaves_what_was_found_and_nobody(start, processes):
    run = start(*processes)
    run.wait_for(3)
    run.process.kill()
    assert gone(run.process.pid)
    header, *cases = run.lines()
    names = [case["case"] for case in cases]
    assert header["type"] == "header" and len(set(names)) == len(names) >= 2


def test_a_disk_that_fills_up_ends_the_run(start):
    # A file that may not grow fails like one on a full disk.
    run = start(under=("sh", "-c", 'ulimit -f 40; exec "$@"', "sh"))
    status, said = run.end()
    assert status == pytest.ExitCode.INTERRUPTED
    header, *cases = run.lines()
    assert cases and all(line["type"] == "result" for line in cases)
    assert header["selected"] > len(cases) + 1
    assert "cannot be written: File too large. Make its directory, make room or name" in said
    assert "INVALID: the run was interrupted; " in said
    assert "INTERNALERROR" not in said and "Traceback" not in said


def test_a_run_file_that_is_taken_away_is_no_green_run(start):
    run = start()
    run.wait_for(3)
    run.run_file.unlink()
    run.run_file.write_text("another\n")
    status, said = run.end()
    assert status == 1
    assert f"INVALID: the run file {run.run_file} was removed or replaced while" in said
    assert run.run_file.read_text() == "another\n"


def test_two_runs_do_not_write_one_file(start):
    first = start()
    first.wait_for(2)
    first.process.send_signal(signal.SIGSTOP)  # however long the other takes to start
    status, said = start().end()
    first.process.send_signal(signal.SIGCONT)
    assert status == pytest.ExitCode.USAGE_ERROR
    assert f"another run is writing {first.run_file}: wait for its end, or name another" in said
    assert first.end()[0] == 0
    assert first.lines()[-1]["verdict"] == "CONFORMING"
    assert start(lie="pass").end()[0] == 0  # the file of a run that ended is taken


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_what_is_no_file_is_refused_and_stays(start, tmp_path, kind):
    place = Path("/dev/null") if kind == "device" else tmp_path / "odd"
    if kind == "fifo":
        os.mkfifo(place)
    before = place.lstat()
    status, said = start(f"--run-file={place}").end()
    assert status == pytest.ExitCode.USAGE_ERROR
    assert f"{place} is no regular file: name a file for the run" in said
    assert os.path.samestat(before, place.lstat())


def test_a_link_is_followed(start, tmp_path):
    link = tmp_path / "link.ndjson"
    link.symlink_to(tmp_path / "run.ndjson")
    run = start(f"--run-file={link}", lie="pass")
    assert run.end()[0] == 0
    assert link.is_symlink() and run.lines()[-1]["verdict"] == "CONFORMING"


def test_xml_that_cannot_be_written_is_no_green_run(start):
    run = start("--junitxml=/dev/full", lie="pass")
    status, said = run.end()
    assert status == 1
    reason = "--junitxml=/dev/full cannot be written: No space left on device. Make room or name"
    assert f"INVALID: {reason}" in said
    assert run.lines()[-1]["verdict"] == "INVALID"
    assert "Traceback" not in said and Path("/dev/full").is_char_device()


@pytest.mark.parametrize("how", ["loadscope", "worksteal"])
def test_distributed_in_any_way_each_case_is_answered_once(start, how):
    run = start("-n2", f"--dist={how}", "-k", "read", lie="pass")
    status, said = run.end()
    assert status == 0, said
    header, *cases, _ = run.lines()
    assert header["workers"] == 2
    assert header["selected"] == len({case["case"] for case in cases}) == len(cases)
    whole = [name for name in all_cases() if name.startswith("remote/test_events.py")]
    assert header["deselected"] == len(whole) - len(cases) > 0


def test_distributed_to_each_is_refused(start):
    status, said = start("-n2", "--dist=each").end()
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "--dist each asks every case once in each process" in said
    assert "Traceback" not in said


@pytest.mark.skipif(KernelLog().refused is not None, reason="the kernel's log can't be read")
def test_a_kernel_log_that_cannot_be_kept_is_no_green_run(start, tmp_path):
    (tmp_path / "run.kernel.log").mkdir()
    status, said = start(lie="pass").end()
    assert status == 1
    assert "INVALID: the kernel's log is not kept: Is a directory" in said


def test_a_distributed_process_that_is_killed_costs_its_case(start):
    run = start("-n2", "--max-worker-restart=0")
    run.wait_for(3)
    (victim, *_) = (pid for pid in session_of(run.process.pid) if pid != run.process.pid)
    os.kill(victim, signal.SIGKILL)
    status, said = run.end()
    assert status != 0
    _, *cases, footer = run.lines()
    names = [case["case"] for case in cases]
    assert len(names) == len(set(names))
    bad = [case for case in cases if case["verdict"] != "PASS"]
    # It may have died between an answer and the next question: then no case is lost.
    assert [case["verdict"] for case in bad] in ([], ["ERROR"]), said
    assert not bad or "1 ERROR" in said
    assert footer["verdict"] == "INVALID"
