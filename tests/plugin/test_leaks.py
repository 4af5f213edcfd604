"""What was left behind worsens the verdict of the case that left it."""

import pytest

from rdma_conformance.leaks import Leaks

KEPT = {"whose": "driver", "what": "1 page still pinned", "cases": 1}
FORGOT = {"whose": "suite", "what": "the suite forgot 1 queue pair", "cases": 1}


def record(verdict="PASS", reason=None, case="a::b"):
    observed = {} if verdict == "NOT_SUPPORTED" else {"result": "OK"}
    kept = {"case": case, "verdict": verdict, "reason": reason, "deviation": "RXE-001"}
    return {**kept, "observed": observed, "left": [], "twice": None}


def test_nothing_left_changes_nothing():
    assert Leaks().end(record(), []) == record()


@pytest.mark.parametrize(
    ("was", "left", "becomes"),
    [
        ("PASS", [KEPT], "FAIL"),
        ("PASS", [FORGOT], "ERROR"),
        ("PASS", [FORGOT, KEPT], "FAIL"),
        ("PASS", [KEPT, FORGOT], "FAIL"),
        ("DEVIATION", [KEPT], "FAIL"),
        ("NOT_SUPPORTED", [FORGOT], "ERROR"),
        ("NOTE", [KEPT], "FAIL"),
        ("FAIL", [FORGOT], "FAIL"),
        ("ERROR", [KEPT], "FAIL"),
        ("CRASH", [KEPT], "CRASH"),
    ],
)
def test_no_verdict_is_better_than_what_was_left(was, left, becomes):
    found = Leaks().end(record(was, "as it was"), left)
    assert found["verdict"] == becomes
    assert all(each["what"] in found["reason"] for each in left)
    assert found["left"] == [each["what"] for each in left]
    assert found["deviation"] == ("RXE-001" if was == becomes else None)


def test_a_leftover_that_was_found_late_names_the_cases_that_may_have_left_it():
    leaks = Leaks()
    for number in range(4):
        leaks.end(record(case=f"a::{number}"), [])
        leaks.end(record("NOT_SUPPORTED", case="never performed"), [])
    found = leaks.end(record(case="a::4"), [{**KEPT, "cases": 3}])
    assert found["reason"] == (
        "the driver kept: 1 page still pinned "
        "(by this case or one of 2 cases asked before it, from a::2 on)"
    )


def test_a_case_that_was_asked_twice_blames_no_other():
    leaks = Leaks()
    leaks.end(record(case="a::before"), [])
    twice = {**record(), "twice": {"unstable": False}}
    assert leaks.end(twice, [{**KEPT, "cases": 2}])["reason"] == "the driver kept: " + KEPT["what"]
    late = leaks.end(twice, [{**KEPT, "cases": 5}])["reason"]
    assert late.endswith("(by this case or the case asked before it, from a::before on)")
    listed = leaks.end({**twice, "verdict": "DEVIATION"}, [{**KEPT, "cases": 2}], listed=True)
    assert listed["verdict"] == "DEVIATION"


def test_a_known_deviation_may_explain_what_the_driver_keeps():
    found = Leaks().end(record("DEVIATION", "As listed."), [KEPT], listed=True)
    assert (found["verdict"], found["deviation"]) == ("DEVIATION", "RXE-001")
    assert found["reason"] == "As listed. And as listed, the driver kept: 1 page still pinned"
    # Only of a case that failed as listed, of that case alone, and no fault of the suite.
    assert Leaks().end(record(), [KEPT], listed=True)["verdict"] == "FAIL"
    assert Leaks().end(record("DEVIATION", "x"), [FORGOT], listed=True)["verdict"] == "ERROR"
    late = {**KEPT, "cases": 2}
    assert Leaks().end(record("DEVIATION", "x"), [late], listed=True)["verdict"] == "FAIL"
