"""A guest that is killed, hangs, sticks and panics, in the middle of one run: the run ends whole,
each case with one result, and those are blamed that did it.

One process asks, so that the guests die in this order, however busy the machine is; distributed
runs that are killed are in test_spoiled_runs.py.
"""

import json
import os
import shutil
import signal
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rdma_reports.places import kernel_log_of, running_of
from rdma_reports.runfile import read_run

from .conftest import CHECKOUT, children, wait_until

pytestmark = pytest.mark.lab

ASKED = "region_is_told and not flush"  # 5 cases
TWICE = "region_is_told[read-region"  # waits until somebody kills qemu; then, asked last, panics
HANGS = "region_is_told[cmp_swap"
STICKS = "region_is_told[fetch_add"
DIES = {TWICE: "wait_then_panic", HANGS: "hang", STICKS: "stick"}
PATIENCE_S = 1200  # on a machine that others use, too; alone it takes two minutes


def qemu_of(lab: int) -> int:
    names = {pid: Path(f"/proc/{pid}/comm").read_text() for pid in children(lab)}
    (found,) = (pid for pid, name in names.items() if name.startswith("qemu"))
    return found


def test_a_run_survives_its_guests(start_lab, tmp_path):
    results = CHECKOUT / "results" / f"survival-{tmp_path.parent.name}-{tmp_path.name}"
    results.mkdir(parents=True)
    place = results.relative_to(CHECKOUT)
    run_file, waited = results / "run.ndjson", results / "waited"
    try:
        lab = start_lab(
            *("--silence", "15", "--console", str(tmp_path / "console.log")),
            *("env", "PYTHONPATH=/suite/tests/lab", f"WAITED=/suite/{place}/waited"),
            *(f"DIES={json.dumps(DIES)}", "pytest", "-p", "dying", "-q", "-k", ASKED),
            *("conformance/remote/test_events.py", "--device", "rxe0", "--bound", "4"),
            *("--run-file", f"{place}/run.ndjson", "--alluredir", f"{place}/allure"),
            *("--junitxml", f"{place}/junit.xml"),
        )
        wait_until(lambda: waited.exists() or lab.poll() is not None, PATIENCE_S)
        os.kill(qemu_of(lab.pid), signal.SIGKILL)
        said, errors = lab.communicate(timeout=PATIENCE_S)
        assert lab.returncode == 1, (said, errors)
        assert b"qemu was killed by SIGKILL" in errors
        assert errors.count(b"lab: the run goes on in another guest") == 4

        run = read_run(run_file)
        assert run.complete
        assert len(run.lines) == len(run.results) == run.header.selected == 5
        suspects = [tuple(entry["suspects"]) for entry in run.header.resumed]
        found = {words: each for words in DIES for each in run.lines if words in each.case}
        assert suspects == [*[(found[TWICE].case,)] * 3, ()]
        assert [found[words].verdict for words in DIES] == ["CRASH", "CRASH", "FAIL"]
        assert "twice while this case was asked, the second time alone" in found[TWICE].reason
        assert any("sysrq triggered crash" in line for line in found[TWICE].kernel)
        assert "no sign of life for 15 s" in found[HANGS].kernel[0]
        assert "waits in the kernel and can't be killed" in found[STICKS].reason
        assert "request_wait_answer" in found[STICKS].reason
        assert {"CRASH", "FAIL", "ERROR"}.isdisjoint(
            each.verdict for each in run.lines if each not in list(found.values())
        )

        told = [
            json.loads(path.read_text())["fullName"]
            for path in (results / "allure").glob("*-result.json")
        ]
        assert sorted(told) == sorted(run.results)
        suite = ElementTree.parse(results / "junit.xml").getroot().find("testsuite")
        assert (suite.get("tests"), suite.get("failures")) == ("5", "3")
        assert "sysrq triggered crash" in kernel_log_of(run_file).read_text()
        assert not running_of(run_file).exists()
    finally:
        shutil.rmtree(results)
