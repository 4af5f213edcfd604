"""A case that did not answer alike when it was asked twice: each report says so."""

import json

from rdma_reports.allure_model import Setting, Span, case_result, evidence
from rdma_reports.command import main
from rdma_reports.commands.validate import summary
from rdma_reports.compare import compare
from rdma_reports.junit import as_junit
from rdma_reports.lines import as_dict, from_dict
from rdma_reports.matrix import build
from rdma_reports.matrix_page import as_markdown

from .runs import made_run, result, written

ANSWERS = [
    {"verdict": verdict, "observed": {"requester": [seen]}, "differs": differs, "reason": None}
    for verdict, seen, differs in (
        ("PASS", "REM_ACCESS_ERR", []),
        ("FAIL", "SUCCESS", ["requester"]),
    )
]
REASON = "unstable: first PASS, then FAIL (requester)"
UNSTABLE = result("FAIL", reason=REASON, twice={"unstable": True, "answers": ANSWERS})
STEADY = result("PASS", twice={"unstable": False, "answers": [ANSWERS[0]] * 2})
RUN = made_run(UNSTABLE, STEADY)
SETTING, SPAN = Setting({"driver": "rdma_rxe"}, "host", "main"), Span(1.0, 2.0)


def allure(record):
    return case_result(as_dict(record), SETTING, SPAN, uuid="1", block=None)


def test_the_run_file_keeps_both_answers():
    assert from_dict(json.loads(json.dumps(as_dict(UNSTABLE)))).twice == UNSTABLE.twice
    assert (UNSTABLE.unstable, STEADY.unstable, result("PASS").unstable) == (True, False, False)
    assert (RUN.checks["twice"], RUN.checks["unstable"]) == (2, 1)


def test_allure_calls_it_flaky():
    assert allure(UNSTABLE)["statusDetails"]["flaky"] is True
    assert "statusDetails" not in allure(STEADY)
    text = evidence(as_dict(UNSTABLE), "block")
    assert "answer 1: PASS" in text
    assert "answer 2: FAIL" in text


def test_allure_does_not_ask_for_a_deviation_to_be_deleted():
    fixed = result("FIXED", reason="unstable: first DEVIATION, then FIXED", twice=UNSTABLE.twice)
    details = allure(fixed)["statusDetails"]
    assert details["flaky"] is True
    assert "delete" not in details["message"]


def test_the_matrix_warns():
    matrix = build([("run", RUN)])
    assert matrix.columns[0].warnings == (
        "1 cases are unstable: asked twice, they did not answer alike",
    )
    assert "are unstable" in as_markdown(matrix)


def test_compare_validate_and_junit_name_it():
    before = made_run(result("PASS", case=UNSTABLE.case), STEADY)
    (change,) = compare(("before", before), ("after", RUN)).of("newly_failing")
    assert change.words.startswith("PASS -> FAIL, unstable")
    assert summary(RUN).endswith("1 FAIL, 1 PASS, 1 unstable")
    assert as_junit(RUN).count(b'name="unstable"') == 1


def test_a_run_file_with_it_is_whole(tmp_path):
    assert main(["validate", str(written(tmp_path / "run.ndjson", RUN))]) == 1
