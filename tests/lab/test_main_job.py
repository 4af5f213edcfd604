"""The main job as the README says it: the suites on a real rxe, in the lab's VM."""

import json
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.lab

PART = "fetch_add or contention or killed"  # of the cases, asked again by two processes


def lab(*command, timeout_s=1200):
    """Run a command in the lab; its output is shown as it comes, and returned."""
    full = [ROOT / "lab/run", *command]
    with subprocess.Popen(full, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
        status = process.wait(timeout_s)
    return status, "".join(lines)


@pytest.fixture(scope="module")
def results():
    """A folder in the checkout, which the guest sees as well."""
    place = ROOT / "results"
    place.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="test-", dir=place) as folder:
        yield Path(folder)


def read(path):
    header, *cases, footer = map(json.loads, path.read_text().splitlines())
    return header, {case["case"]: case["verdict"] for case in cases}, footer


def test_rxe_conforms_but_for_its_known_deviations_alone_and_distributed(results):
    alone = ask_all(results)
    ask_part_distributed(results, alone)


def ask_all(results):
    """Ask every case; the verdict of each."""
    run_file = results / "alone.ndjson"
    allure = results / "allure"
    status, output = lab(
        *("pytest", "conformance/", "--device", "rxe0", "-q"),
        *("--run-file", run_file.relative_to(ROOT), "--alluredir", allure.relative_to(ROOT)),
    )
    assert status == 0, output[-3000:]
    header, cases, footer = read(run_file)
    assert footer["verdict"] == "CONFORMING"
    assert not {"FAIL", "ERROR", "CRASH", "FIXED"} & set(cases.values())
    assert len(cases) == header["selected"] >= 5000
    assert "netns left" in header["fabric"]
    assert len(list(allure.glob("*-result.json"))) == len(cases)
    return cases


def ask_part_distributed(results, alone):
    """Two processes give the same verdicts."""
    run_file = results / "distributed.ndjson"
    status, output = lab(
        *("pytest", "conformance/", "--device", "rxe0", "-q", "-n", "2", "-k", PART),
        *("--run-file", run_file.relative_to(ROOT)),
    )
    assert status == 0, output[-3000:]
    found = read(run_file)[1]
    assert len(found) > 400
    assert found == {case: alone[case] for case in found}


def test_arithmetic_past_the_end_of_all_addresses(results):
    """What may take a broken kernel down is asked apart, where this one does not."""
    run_file = results / "hazard.ndjson"
    status, output = lab(
        *("pytest", "conformance/local/test_ranges.py", "-k", "end_of_the_address_space"),
        *("--device", "rxe0", "--allow-hazard", "--run-file", run_file.relative_to(ROOT)),
    )
    assert status == 0, output[-3000:]
    assert len(read(run_file)[1]) == 12


def test_planted_faults_and_the_endpoint_on_the_real_device():
    status, output = lab("pytest", "tests/device", "--device", "rxe0", "-q", "--durations=5")
    assert status == 0, output[-6000:]


def test_a_planted_fault_shows_on_the_command_line(results):
    status, output = lab(
        *("pytest", "conformance/", "--device", "rxe0", "--plant", "write-right-lets-read"),
        *("-k", "read-region:LW+RW", "--run-file", (results / "planted.ndjson").relative_to(ROOT)),
    )
    assert status == 1
    assert "PLANTED FAULT: write-right-lets-read" in output
    assert "FAIL  MR-RIGHT-READ  MUST" in output
    assert "INVALID: the fault 'write-right-lets-read' was planted" in output
