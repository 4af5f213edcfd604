"""A session that goes on with a run: nothing lost, nothing asked twice, one verdict for all."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rdma_reports.places import kernel_log_of, running_of
from rdma_reports.runfile import read_run

TESTS = Path(__file__).parent
SUITE = "conformance/remote/test_events.py"
FIRST = "remote/test_events.py::test_a_refusal_by_the_region_is_told"

# The ideal fabric, on a machine whose boot a file names. Each case that is asked is written down;
# the whole session ends at the case that `dies` names, as with its machine.
PLUGIN = """
import os, pathlib, sys
sys.path.insert(0, {tests!r})
import ideal
import rdma_conformance.controller, rdma_conformance.run
here = pathlib.Path({here!r})
fabric = ideal.IdealFabric()
rdma_conformance.run.open_fabric = lambda settings: fabric
if (here / "teardown").exists():
    def close():
        raise rdma_conformance.fabric.FabricError("rxe-pair down did not end", "reboot")
    fabric.close = close
rdma_conformance.controller.boot_id = lambda: (here / "boot").read_text()

def pytest_runtest_call(item):
    with (here / "asked").open("a") as asked:
        asked.write(item.name + chr(10))
    if (here / "dies").read_text() in item.nodeid:
        os._exit(9)
    if (here / "sticks").exists() and (here / "sticks").read_text() in item.nodeid:
        fabric.stuck = True
"""


class Machine:
    """Runs the suite; `boot` and `dies` are what the next session meets."""

    def __init__(self, pytester, monkeypatch):
        self.path, self._pytester = pytester.path, pytester
        (self.path / "machine.py").write_text(PLUGIN.format(tests=str(TESTS), here=str(self.path)))
        # This checkout, wherever the suite is installed from.
        root = TESTS.parents[1]
        places = (self.path, root, root / "plugins", root / "reports")
        monkeypatch.setenv("PYTHONPATH", ":".join(map(str, places)))
        monkeypatch.setenv("RDMA_CONFORMANCE_LAB", str(self.path))
        monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
        self.run_file = self.path / "run.ndjson"

    def run(self, *args, boot="first", dies="nothing"):
        (self.path / "boot").write_text(boot)
        (self.path / "dies").write_text(dies)
        (self.path / "asked").write_text("")
        root = TESTS.parents[1]
        usual = ["-p", "machine", "-c", root / "pyproject.toml", f"--rootdir={root}"]
        usual += ["-p", "no:cacheprovider", "-p", "no:xdist", root / SUITE, "--device=ideal0"]
        return self._pytester.runpytest_subprocess(*usual, *args)

    def asked(self):
        return (self.path / "asked").read_text().split()

    def verdicts(self):
        return {name.partition("told[")[2]: each.verdict for name, each in self.results().items()}

    def results(self):
        return read_run(self.run_file).results

    def tickets(self):
        return [json.loads(path.read_text()) for path in self.path.glob("ticket-*.json")]


@pytest.fixture
def machine(pytester, monkeypatch):
    return Machine(pytester, monkeypatch)


def test_a_machine_that_dies_costs_one_case(machine):
    allure = machine.path / "allure"
    reports = [f"--alluredir={allure}", "--clean-alluredir", f"--junitxml={machine.path}/j.xml"]
    machine.run("--run-file", machine.run_file, *reports, dies="region_is_told[cmp_swap")
    assert len(machine.asked()) == 3
    (ticket,) = machine.tickets()
    assert ticket["run_file"] == str(machine.run_file)
    assert "--device=ideal0" in ticket["arguments"]
    assert (ticket["part"], ticket["stuck"]) == (0, False)
    # Cut off while it was written.
    next(allure.glob("*-result.json")).write_text('{"uuid": "')
    words = machine.path / "words"
    words.write_text("[  1.0] BUG: kernel NULL pointer dereference\n")
    done = machine.run("--resume", machine.run_file, "--last-words", words, *reports, boot="second")
    assert done.ret == 1
    done.stdout.fnmatch_lines(["resumed: 2 of 14 cases *", "*CRASH*", "NOT CONFORMING: 1 CRASH"])
    assert len(machine.asked()) == 11
    run = read_run(machine.run_file)
    assert run.complete
    assert len(run.lines) == 14
    assert run.counts == {"PASS": 13, "CRASH": 1}
    crash = run.results[f"{FIRST}[cmp_swap-region:LW]"]
    assert crash.kernel == ["[  1.0] BUG: kernel NULL pointer dereference"]
    assert crash.reason.startswith("the kernel died while this case was asked: BUG: kernel NULL")
    assert [entry["boot"] for entry in run.header.resumed] == ["second"]
    assert not running_of(machine.run_file).exists()
    # Somebody else's ticket stays, this run's is gone.
    assert [each["part"] for each in machine.tickets()] == [0]
    tests = ElementTree.parse(machine.path / "j.xml").getroot().find("testsuite")
    assert (tests.get("tests"), tests.get("failures")) == ("14", "1")
    told = [json.loads(path.read_text())["fullName"] for path in allure.glob("*-result.json")]
    assert sorted(told) == sorted(run.results)


def test_a_run_that_was_killed_is_no_crash(machine):
    machine.run("--run-file", machine.run_file, dies="region_is_told[cmp_swap")
    done = machine.run("--resume", machine.run_file)
    assert done.ret == 0
    assert len(machine.asked()) == 12
    done.stdout.fnmatch_lines(["CONFORMING*"])
    assert read_run(machine.run_file).counts == {"PASS": 14}


def test_who_may_have_lost_its_power_is_asked_once_more_and_last(machine):
    machine.run("--run-file", machine.run_file, dies="region_is_told[cmp_swap")
    machine.run("--resume", machine.run_file, boot="second", dies="region_is_told[cmp_swap")
    assert machine.asked()[-1].endswith("[cmp_swap-region:LW]")
    assert len(machine.asked()) == 12
    done = machine.run("--resume", machine.run_file, boot="third")
    assert machine.asked() == []
    assert done.ret == 1
    (crash,) = (each for each in machine.results().values() if each.verdict == "CRASH")
    assert "twice while this case was asked, the second time alone" in crash.reason


def test_the_kernels_log_goes_on_too(machine):
    machine.run("--run-file", machine.run_file, dies="region_is_told[cmp_swap")
    log = kernel_log_of(machine.run_file)
    log.write_text("of the first part\n")
    (machine.path / "words").write_text("last words\n")
    words = ["--last-words", machine.path / "words"]
    machine.run("--resume", machine.run_file, *words, boot="second")
    assert log.read_text().startswith("of the first part\nlast words\n")


def test_a_stuck_task_ends_the_run_until_a_reboot(machine):
    (machine.path / "sticks").write_text("region_is_told[cmp_swap")
    done = machine.run("--run-file", machine.run_file)
    assert done.ret == 2
    assert len(machine.asked()) == 3
    done.stdout.fnmatch_lines(
        [
            f"a task is stuck in the kernel since {FIRST}*cmp_swap-region:LW* was asked: no other*",
            "reboot, then go on: the same command with --resume *run.ndjson",
            "INVALID: a task is stuck in the kernel since *; 11 of 14 cases have no result",
        ]
    )
    footer = read_run(machine.run_file).footer
    assert (footer.verdict, footer.interrupted) == ("INVALID", False)
    assert footer.stuck.startswith(FIRST)
    assert [each["stuck"] for each in machine.tickets()] == [True]
    (machine.path / "sticks").unlink()
    done = machine.run("--resume", machine.run_file)
    assert done.ret == 4
    done.stderr.fnmatch_lines(["*a task is stuck in this kernel since*Reboot first*"])
    done = machine.run("--resume", machine.run_file, boot="second")
    assert done.ret == 0
    assert len(machine.asked()) == 11


def test_a_stuck_task_of_the_last_case_leaves_no_rest(machine):
    (machine.path / "sticks").write_text("pair_is_told[flush_persistent")
    done = machine.run("--run-file", machine.run_file)
    done.stdout.fnmatch_lines(["a task is stuck in the kernel since *", "reboot it"])
    assert len(machine.results()) == 14
    assert machine.tickets() == []
    assert done.ret != 0


def test_a_teardown_that_hangs_is_said_and_not_green(machine):
    (machine.path / "teardown").touch()
    done = machine.run("--run-file", machine.run_file)
    assert done.ret == 1
    done.stderr.fnmatch_lines(["rdma-conformance: rxe-pair down did not end: reboot"])


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--last-words", "any"], "*--last-words is for a run that goes on: give --resume*"),
        (["--resume", "a", "--run-file", "b"], "*goes on in that file: leave --run-file b out*"),
        (["--resume", "none"], "*--resume: *none cannot be read*"),
    ],
)
def test_bad_input_is_one_usage_error(machine, args, said):
    done = machine.run(*args)
    assert done.ret == 4
    done.stderr.fnmatch_lines([said])


def test_another_selection_is_another_run(machine):
    machine.run("--run-file", machine.run_file, dies="region_is_told[cmp_swap")
    before = machine.run_file.read_bytes()
    done = machine.run("--resume", machine.run_file, "-k", "region")
    assert done.ret == 4
    done.stderr.fnmatch_lines(["*this is not the same run: the number of selected cases was 14*"])
    assert machine.run_file.read_bytes() == before
