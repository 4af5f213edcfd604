"""The plugin as pytest users meet it: options, verdicts, run file, exit status, xdist."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rdma_conformance import collection
from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.plants import PLANTS

TESTS = Path(__file__).parent
SUITE = "conformance/remote/test_events.py"  # small, and with both kinds of refusal

# Put in front of the suites: the ideal fabric, with the lie that a test wants.
CONFTEST = """
import sys
sys.path.insert(0, {tests!r})
import ideal
import rdma_conformance.run

{lie}

def open_fabric(settings):
    if settings.device != "ideal0":
        from rdma_conformance.fabric import FabricError
        raise FabricError(f"there is no device {{settings.device}}", "this host has ideal0")
    return ideal.IdealFabric(lie, {claims})

rdma_conformance.run.open_fabric = open_fabric
"""
HONEST = "lie = None"
LIES = """
def lie(case, answer):
    if "requester" in answer and case.await_event and case.operation == "read":
        return {**answer, "responder_events": []}
    return answer
"""
BREAKS_CONTROL = """
def lie(case, answer):
    return {**answer, "requester": "RETRY_EXC_ERR"} if answer["requester"] == "SUCCESS" else answer
"""
EVERY_SECOND = """
times = {}
def lie(case, answer):
    times[case] = times.get(case, 0) + 1
    if case.await_event and case.operation == "read" and times[case] % 2 == 0:
        return {**answer, "responder_events": []}
    return answer
"""
DIES = """
from rdma_conformance.endpoint.client import WorkerDied
def lie(case, answer):
    if case.operation == "read" and case.await_event:
        raise WorkerDied("the endpoint worker died: signal 11")
    return answer
"""
SOMEBODY_KILLS = """
import os, pathlib
from rdma_conformance.endpoint.client import WorkerDied
from rdma_conformance.kernel_log import KernelLog
kmsg = pathlib.Path("kmsg")
os.mkfifo(kmsg)
log = KernelLog(kmsg)
file = kmsg.open("wb", buffering=0)
import rdma_conformance.run
rdma_conformance.run.KernelLog = lambda: log
def lie(case, answer):
    if case.operation == "read" and case.await_event:
        if {oops}:
            file.write(b"1,1,1000000,-;BUG: unable to handle page fault in x+0x1/0x2 [ib_core]")
        raise WorkerDied("was killed by SIGKILL")
    return answer
"""
KILLS_PYTEST = """
import os, signal
def lie(case, answer):
    if case.operation == "read" and case.await_event and case.remote.access == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer
"""
KERNEL_WARNS = """
import os, pathlib
from rdma_conformance.kernel_log import KernelLog
kmsg = pathlib.Path(f"kmsg.{os.getpid()}")
os.mkfifo(kmsg)
log = KernelLog(kmsg)
file = kmsg.open("wb", buffering=0)
import rdma_conformance.run
rdma_conformance.run.KernelLog = lambda: log
def lie(case, answer):
    if case.operation == "read" and case.await_event and case.remote.access == 1:
        file.write(b"4,1,1000000,-;WARNING: CPU: 0 PID: 1 at drivers/infiniband/x.c:1 x+0x1/0x2")
    return answer
"""
KERNEL_WARNS_AT_THE_END = """
import os, pathlib
from rdma_conformance.kernel_log import KernelLog
kmsg = pathlib.Path(f"kmsg.{os.getpid()}")
os.mkfifo(kmsg)
log = KernelLog(kmsg)
file = kmsg.open("wb", buffering=0)
import rdma_conformance.run
rdma_conformance.run.KernelLog = lambda: log
def end_workers(self):
    file.write(b"4,1,1000000,-;WARNING: CPU: 0 PID: 1 at drivers/infiniband/x.c:1 x+0x1/0x2")
ideal.IdealFabric.end_workers = end_workers
lie = None
"""
KERNEL_WARNS_AT_THE_START = """
import os, pathlib
from rdma_conformance.kernel_log import KernelLog
kmsg = pathlib.Path(f"kmsg-{os.getpid()}")
os.mkfifo(kmsg)
log = KernelLog(kmsg)
file = kmsg.open("wb", buffering=0)
import rdma_conformance.run
rdma_conformance.run.KernelLog = lambda: log
if not pathlib.Path("told").exists():  # the first process is the one that starts the others
    pathlib.Path("told").touch()
    file.write(b"4,1,1000000,-;WARNING: CPU: 0 PID: 1 at drivers/infiniband/x.c:1 x+0x1/0x2")
lie = None
"""
STICKS_AT_THE_END = """
def end_workers(self):
    self.stuck, self.waits_in = True, "thread 7 stack:" + chr(10) + "[<0>] x_dereg_mr+0x1/0x2"
ideal.IdealFabric.end_workers = end_workers
lie = None
"""
PORT_GOES_DOWN = """
import functools, pathlib
from rdma_conformance.presence import Presence
state = pathlib.Path("sys/ideal0/ports/1/state")
if not state.exists():
    state.parent.mkdir(parents=True)
    state.write_text("4: ACTIVE")
ideal.IdealFabric.ports = (("ideal0", 1),)
rdma_conformance.run.Presence = functools.partial(Presence, root=pathlib.Path("sys"))
def lie(case, answer):
    if case.operation == "read" and case.await_event:
        state.write_text("1: DOWN")
        return {**answer, "requester": "RETRY_EXC_ERR"}
    return answer
"""
LOSES_FOOTER = """
from rdma_reports.runfile import RunFileError, RunWriter
def finish(self, *args, **named):
    raise RunFileError("the disk is full")
RunWriter.finish = finish
lie = None
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Run the real suites against the ideal fabric, from a folder of its own."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run_suites(*args, lie=HONEST, claims="ideal.CLAIMS", device="ideal0", suite=SUITE):
        name = f"ideal_{len(list(pytester.path.glob('ideal_*')))}"
        text = CONFTEST.format(tests=str(TESTS), lie=lie, claims=claims)
        (pytester.path / f"{name}.py").write_text(text)
        monkeypatch.setenv("PYTHONPATH", str(pytester.path))
        root = TESTS.parents[1]
        wanted = ["-p", name, "-c", root / "pyproject.toml", f"--rootdir={root}"]
        wanted += [
            "--run-file",
            pytester.path / "run.ndjson",
            root / suite,
            "-p",
            "no:cacheprovider",
        ]
        if device:
            wanted.append(f"--device={device}")
        return pytester.runpytest_subprocess(*wanted, *args)

    return run_suites


def results(pytester):
    lines = (pytester.path / "run.ndjson").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_conforming_run(run, pytester):
    found = run()
    assert found.ret == 0
    found.stdout.fnmatch_lines(["device ideal0: driver ideal, kernel 7.2.12, *", "CONFORMING*"])
    header, *cases, footer = results(pytester)
    assert header["type"] == "header"
    assert {case["verdict"] for case in cases} == {"PASS"}
    assert len(cases) == header["selected"] == footer["counts"]["PASS"]
    assert footer["verdict"] == "CONFORMING"


def test_a_mistyped_device_leaves_the_run_file_alone(run, pytester):
    (pytester.path / "run.ndjson").write_text("of an earlier run\n")
    assert run(device="rxe9").ret == pytest.ExitCode.USAGE_ERROR
    assert (pytester.path / "run.ndjson").read_text() == "of an earlier run\n"


def test_a_mistyped_fault_names_those_that_are_meant(run):
    found = run("--plant", "write-right-let-read")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines(["*there is no such fault: did you mean write-right-lets-read*"])


def test_a_device_beside_those_that_are_made_is_refused(run):
    found = run("--setup-rxe")
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines(["*--setup-rxe makes the devices*leave --device ideal0 out"])


def test_a_failing_case_is_explained_and_can_be_run_again(run, pytester):
    found = run(lie=LIES)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        [
            "FAIL  EVENT-ACCESS-ERR  MUST *",
            "*expected*responder_events*QP_ACCESS_ERR*",
            "*observed*responder_events*",
            "*source*",
            "*again     pytest 'conformance/remote/test_events.py::*read-*' --device ideal0",
            "next: rdma-conformance explain EVENT-ACCESS-ERR; rdma-conformance matrix *run.ndjson*",
            "NOT CONFORMING: 2 FAIL",
        ]
    )


OVERLAY = """
[{id}]
driver = "ideal"
kernel = ">=7,<8"
requirement = "{rule}"
cases = ["remote/test_events.py::*[read-*"]
observed = {{ responder_events = [[]] }}
reason = "reads are told to nobody"
cause = "as the vendor says"
url = "https://example.org/1"
found = 2026-01-31
review = {review}
"""


def overlay(pytester, review="2999-01-01", rules=("EVENT-ACCESS-ERR", "EVENT-REQ-ERR")):
    path = pytester.path / "vendor.toml"
    entries = (
        OVERLAY.format(id=f"VND-{number}", rule=rule, review=review)
        for number, rule in enumerate(rules, 1)
    )
    path.write_text("".join(entries))
    return path


def test_a_vendors_overlay_makes_failures_known(run, pytester):
    found = run("--deviations", overlay(pytester), lie=LIES)
    assert found.ret == 0
    found.stdout.fnmatch_lines(["CONFORMING with 2 known deviations: VND-1 (1 case), VND-2*"])
    found.stdout.no_fnmatch_line("*to be reviewed*")


def test_an_overlay_is_strict(run, pytester):
    found = run("--deviations", overlay(pytester))
    assert found.ret == 1
    found.stdout.fnmatch_lines(["*FIXED*", "*delete VND-1 from the deviations*"])
    found = run("--deviations", overlay(pytester, rules=["NO-SUCH-RULE"]), lie=LIES)
    assert found.ret == 4
    found.stderr.fnmatch_lines(["*vendor.toml*VND-1*no requirement 'NO-SUCH-RULE'*"])


def test_an_overdue_review_is_a_warning(run, pytester):
    found = run("--deviations", overlay(pytester, review="2026-02-01"), lie=LIES)
    assert found.ret == 0
    found.stdout.fnmatch_lines(["VND-1 was to be reviewed by 2026-02-01"])


def test_junit_tells_the_device_and_each_verdict(run, pytester):
    for more in ((), ("-n", "2")):
        run("--junitxml", pytester.path / "run.xml", *more, lie=LIES)
        suite = ElementTree.parse(pytester.path / "run.xml").getroot()[0]
        known = {each.attrib["name"]: each.attrib["value"] for each in suite.find("properties")}
        assert known["driver"] == "ideal"
        assert known["firmware"] == "1.0"
        assert known["catalogue"] == load_catalogue().digest
        told = [
            {each.attrib["name"]: each.attrib["value"] for each in case.find("properties")}
            for case in suite.findall("testcase")
        ]
        assert sorted(each["verdict"] for each in told) == sorted(
            line["verdict"] for line in results(pytester)[1:-1]
        )
        assert all({"requirement", "level"} <= each.keys() for each in told)


def test_a_negative_whose_control_fails_is_an_error(run, pytester):
    found = run(lie=BREAKS_CONTROL)
    assert found.ret == 1
    *_, footer = results(pytester)
    assert set(footer["counts"]) == {"ERROR"}
    assert footer["verdict"] == "INVALID"
    assert footer["checks"]["refusals"] > footer["checks"]["controls"] == 0


def test_each_refusal_is_counted_with_its_control(run, pytester):
    found = run()
    *cases, footer = results(pytester)[1:]
    refusals = len([case for case in cases if case["control"] == "succeeded"])
    assert footer["checks"] == {
        "refusals": refusals,
        "controls": refusals,
        "twice": 1,
        "unstable": 0,
    }
    found.stdout.fnmatch_lines(
        [
            "asked twice: 1% of the cases, drawn by seed 1",
            f"refusals: {refusals} asked, each after its positive control had succeeded",
            "asked twice: 1 case, 0 unstable",
        ]
    )


def test_a_case_that_disagrees_with_itself_is_unstable(run, pytester):
    assert run("--twice", "0", lie=EVERY_SECOND).ret == 0
    found = run("--twice", "all", lie=EVERY_SECOND)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        [
            "FAIL  EVENT-ACCESS-ERR  MUST *",
            "*first     responder_events [[]QP_ACCESS_ERR]",
            "*then      responder_events [[]]",
            "*reason    unstable: first PASS, then FAIL (responder_events)",
            "*again     pytest 'conformance/remote/test_events.py::*' --device ideal0 --twice all",
            "asked twice: * cases, 2 unstable",
            "NOT CONFORMING: 2 FAIL; 2 unstable",
        ]
    )
    header, *cases, footer = results(pytester)
    assert header["twice"] == "all cases but hazards"
    assert footer["checks"]["twice"] == len(cases)


def test_xdist_asks_the_same_sample_twice(run, pytester):
    samples = []
    for more in ((), ("-n2",)):
        run("--twice", "5", "--seed", "3", *more)
        samples.append({each["case"] for each in results(pytester)[1:-1] if each["twice"]})
    assert samples[0] == samples[1]
    assert len(samples[0]) == 5


def test_a_dead_worker_is_a_crash_of_its_case_only(run, pytester):
    found = run(lie=DIES)
    assert found.ret == 1
    _, *cases, footer = results(pytester)
    assert footer["counts"]["CRASH"] == 2
    assert footer["counts"]["PASS"] == len(cases) - 2


@pytest.mark.parametrize(("oops", "verdict"), [(False, "ERROR"), (True, "CRASH")])
def test_a_worker_that_somebody_killed_is_no_crash_unless_the_kernel_broke(
    run, pytester, oops, verdict
):
    found = run("--twice=0", lie=SOMEBODY_KILLS.replace("{oops}", str(oops)))
    assert found.ret == 1
    footer = results(pytester)[-1]
    assert footer["counts"].keys() == {"PASS", verdict}


def test_a_case_that_makes_the_kernel_warn_fails_though_its_answer_is_right(run, pytester):
    found = run(lie=KERNEL_WARNS)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        [
            "kernel watch: on",
            "FAIL  EVENT-ACCESS-ERR  MUST *",
            "*reason    the kernel complained during the case: WARNING: CPU: 0 PID: 1 at*",
            "*kernel    [[]    1.000000] WARNING: CPU: 0 PID: 1 at drivers/infiniband/x.c:1*",
            "NOT CONFORMING: 1 FAIL",
        ]
    )
    header, *cases, _ = results(pytester)
    assert header["kernel_watch"] == "on"
    assert header["leak_guard"] == "on"
    assert [len(case["kernel"]) for case in cases if case["verdict"] == "FAIL"] == [1]
    assert not any(case["kernel"] for case in cases if case["verdict"] == "PASS")
    assert not (pytester.path / "run.running").exists()


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["alone", "distributed"])
def test_no_run_conforms_after_which_the_kernel_warns(run, options):
    found = run(*options, lie=KERNEL_WARNS_AT_THE_END)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        ["NOT CONFORMING: the kernel complained after the last case, while the endpoints were *"]
    )


def test_what_the_kernel_says_while_a_distributed_run_opens_is_not_lost(run):
    found = run("-n", "2", lie=KERNEL_WARNS_AT_THE_START)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        ["NOT CONFORMING: the kernel complained while the devices were opened, before the first*"]
    )


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["alone", "distributed"])
def test_no_run_conforms_after_which_a_worker_is_stuck(run, options):
    found = run(*options, lie=STICKS_AT_THE_END)
    assert found.ret == 1
    found.stdout.fnmatch_lines(
        [
            "NOT CONFORMING: an endpoint worker waits in the kernel since the endpoints were *",
            "*x_dereg_mr*",
        ]
    )


def test_a_run_that_is_killed_leaves_the_name_of_the_case(run, pytester):
    run(lie=KILLS_PYTEST)
    done = {line["case"] for line in results(pytester)[1:]}
    (running,) = (pytester.path / "run.running").read_text().split()
    assert "[read-region:LW]" in running
    assert done and running not in done


def test_what_is_not_claimed_is_not_supported_and_nothing_asked_is_not_green(run, pytester):
    found = run("-k", "flush", claims="{}")
    assert found.ret == 5
    *_, footer = results(pytester)
    assert set(footer["counts"]) == {"NOT_SUPPORTED"}
    found.stdout.fnmatch_lines(["INVALID: nothing was asked of the driver"])


def test_a_planted_fault_is_said_and_never_conforming(run, pytester):
    found = run("--plant", next(iter(PLANTS)))
    assert found.ret == 1
    found.stdout.fnmatch_lines(["PLANTED FAULT: *", "INVALID: the fault * was planted"])
    assert results(pytester)[0]["planted"]


def test_xdist_gives_the_same_verdicts(run, pytester):
    run(lie=LIES)
    alone = {case["case"]: case["verdict"] for case in results(pytester)[1:-1]}
    found = run("-n2", lie=LIES)
    assert found.ret == 1
    together = {case["case"]: case["verdict"] for case in results(pytester)[1:-1]}
    assert together == alone


def test_a_pytest_process_that_dies_is_an_error_of_its_case(run, pytester):
    found = run("-n2", lie=KILLS_PYTEST)
    assert found.ret == 1
    _, *cases, footer = results(pytester)
    errors = [case["case"] for case in cases if case["verdict"] == "ERROR"]
    assert len(errors) == 1 and "[read-region:LW]" in errors[0]
    assert footer["counts"]["PASS"] == len(cases) - 1


@pytest.mark.parametrize("processes", [[], ["-n2"]])
def test_a_port_that_goes_down_ends_the_run(run, pytester, processes):
    found = run(*processes, lie=PORT_GOES_DOWN)
    assert found.ret == pytest.ExitCode.INTERRUPTED
    header, *cases, footer = results(pytester)
    bad = [case for case in cases if case["verdict"] != "PASS"]
    assert 1 <= len(bad) <= 1 + len(processes) and len(cases) < header["selected"]
    for case in bad:
        assert case["verdict"] == "ERROR"
        assert case["reason"].startswith("port 1 of ideal0 is DOWN: bring it back, and run again")
    assert footer["verdict"] == "INVALID"
    found.stdout.fnmatch_lines(["INVALID: port 1 of ideal0 is DOWN: *cases have no result*"])


def test_xdist_counts_the_cases_among_other_tests(run, pytester):
    found = run("-n2", TESTS / "test_closing.py")
    assert found.ret == 0
    header, *cases, footer = results(pytester)
    assert header["selected"] == len(cases)
    assert footer["verdict"] == "CONFORMING"


def test_xdist_without_a_device_is_one_usage_error(run, pytester):
    found = run("-n2", device=None)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines(["*name the device to test: --device NAME*"])
    assert "INTERNALERROR" not in found.stdout.str() + found.stderr.str()


def test_a_run_file_without_its_footer_is_not_green(run, pytester):
    found = run(lie=LOSES_FOOTER)
    assert found.ret == 1
    found.stdout.fnmatch_lines(["INVALID: the disk is full"])


def test_collect_only_needs_no_device(run, pytester):
    found = run("--collect-only", "-q", device=None)
    assert found.ret == 0
    assert not (pytester.path / "run.ndjson").exists()


@pytest.mark.parametrize(
    ("args", "device", "message"),
    [
        ((), None, "*name the device to test: --device NAME*"),
        ((), "rxe9", "*there is no device rxe9*"),
        (("--bound", "0"), "ideal0", "*--bound 0: give a number of seconds above 0*"),
        (("--twice", "most"), "ideal0", "*--twice most: give a number of cases, a share*"),
        (("--bound", "inf"), "ideal0", "*--bound inf: give a number of seconds above 0*"),
        (("--deviations", "nowhere.toml"), "ideal0", "*nowhere.toml: there is no such file*"),
        (("--run-file", "/proc/nowhere/run.ndjson"), "ideal0", "*run file*cannot be written*"),
    ],
)
def test_bad_input_is_one_usage_error(run, pytester, args, device, message):
    found = run(*args, device=device)
    assert found.ret == pytest.ExitCode.USAGE_ERROR
    found.stderr.fnmatch_lines([message])
    assert "Traceback" not in found.stderr.str()


def test_exit_first_keeps_working(run, pytester):
    found = run("-x", lie=LIES)
    assert found.ret != 0
    *_, footer = results(pytester)
    assert footer["verdict"] == "INVALID"  # cases have no result


def test_an_unknown_requirement_is_a_collection_error(pytester, monkeypatch):
    class Item:
        nodeid = "conformance/remote/test_new.py::test_new"

        def iter_markers(self, name):
            return [pytest.mark.requirement("MR-NO-SUCH-RULE").mark]

    with pytest.raises(pytest.UsageError, match="MR-NO-SUCH-RULE"):
        collection.check_requirements([Item()], load_catalogue(), whole=False)
    with pytest.raises(pytest.UsageError, match="no test names"):
        collection.check_requirements([], load_catalogue(), whole=True)
