"""The nightly job's report: the summary, the gate, and the history that the next night needs."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from .runs import made_run, result, written
from .test_allure_report import RXE, write_results

ROOT = Path(__file__).parents[2]
CASE = "remote/t.py::t[read-region:LW]"


@pytest.fixture
def night(tmp_path):
    """Report one night of two kernels; returns exit status and summary."""
    out, history = tmp_path / "nightly", tmp_path / "history"
    out.mkdir()
    write_results(out / "allure-default", RXE)

    def report(verdict="PASS", *, ended=True):
        run = made_run(result(verdict, case=CASE))
        written(out / "rxe0-default.ndjson", run if ended else replace(run, footer=None))
        written(out / "rxe0-6.12.ndjson", made_run(result("PASS"), kernel="6.12.1"))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [ROOT / ".ci/nightly", "report", out, history],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert (out / "report" / "index.html").is_file(), done.stderr
        assert (out / "matrix.html").is_file()
        return done.returncode, (out / "summary.md").read_text()

    report.history = history
    return report


def test_nights_are_compared_and_the_worse_is_red(night):
    status, summary = night()
    assert status == 0
    assert "worse" not in summary
    assert "| rxe0 (6.12.1) |" in summary

    status, summary = night("FAIL")
    assert status == 1
    assert "1 newly failing" in summary
    assert "rxe0 (rdma_rxe, 6.12.1): no worse" in summary

    status, summary = night("PASS")
    assert status == 0
    assert "1 fixed" in summary
    kept = sorted(each.name for each in night.history.iterdir())
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", kept[0])
    assert kept[1:] == ["last", "trend.jsonl"]
    assert len((night.history / "trend.jsonl").read_text().splitlines()) == 3


def test_a_night_that_was_cut_off_is_red_and_nothing_to_compare_with(night):
    assert night()[0] == 0
    status, summary = night(ended=False)
    assert status == 1
    assert "Not compared with the last night" in summary
    assert "did not end" in summary
    status, summary = night("FAIL")
    assert status == 1
    assert "1 newly failing" in summary


def test_other_catalogues_are_said_and_are_not_red(night):
    assert night()[0] == 0
    older = made_run(result(case=CASE), catalogue="ba9876543210")
    for name in ("rxe0-default.ndjson", "rxe0-6.12.ndjson"):
        written(night.history / "last" / name, older)
    status, summary = night()
    assert status == 0
    assert "different catalogues" in summary


def test_wrong_words_show_how():
    done = subprocess.run([ROOT / ".ci/nightly"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert ".ci/nightly report OUT HISTORY" in done.stderr
