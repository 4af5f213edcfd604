"""The sample that is asked twice, and what becomes of two answers."""

import pytest

from conformance.spec.crowd import Churn
from conformance.spec.lifetime import Killed
from conformance.spec.model import Registration
from conformance.spec.vocabulary import Operation
from rdma_conformance.twice import FORM, describe, draw, join

CASES = [(f"case {number}", Registration(number)) for number in range(250)]
LONG = [("churn", Churn(1000)), ("killed", Killed(Operation.READ, 6))]


def record(verdict, observed, *differs, reason=None, deviation=None):
    return {
        "verdict": verdict,
        "observed": {"requester": observed},
        "differences": [{"fact": fact, "allowed": (), "observed": observed} for fact in differs],
        "reason": reason,
        "deviation": deviation,
    }


PASS = record("PASS", "REM_ACCESS_ERR")
FAIL = record("FAIL", "SUCCESS", "requester")
NOTE = record("NOTE", "REM_OP_ERR", reason="accepted")
DEVIATION = record("DEVIATION", "SUCCESS", "requester", reason="late", deviation="RXE-001")
FIXED = record("FIXED", "REM_ACCESS_ERR", reason="delete RXE-001", deviation="RXE-001")
OTHER = record("FAIL", "SUCCESS", "responder")
ERROR = record("ERROR", None, "requester", reason="the control was refused")
SHOULD = record("NOTE", "SUCCESS", "requester", reason="a SHOULD rule, recorded")


def test_a_sample_is_that_of_its_seed_whatever_the_order():
    drawn = draw(CASES, "10", 1)
    assert len(drawn) == 10
    assert drawn == draw(reversed(CASES), "10", 1)
    assert drawn != draw(CASES, "10", 2)


@pytest.mark.parametrize(
    ("wanted", "number"),
    [("1%", 3), ("0", 0), ("0%", 0), ("7", 7), ("999", 250), ("100%", 250), ("all", 252)],
)
def test_how_many_are_drawn(wanted, number):
    assert FORM.fullmatch(wanted)
    assert len(draw(CASES + LONG, wanted, 1)) == number


def test_a_single_case_is_asked_twice():
    assert draw(CASES[:1], "1%", 1) == {"case 0"}


@pytest.mark.parametrize("wanted", ["", "-1", "101%", "1.5%", "some", "all%", "9" * 10])
def test_what_is_no_number_is_refused(wanted):
    assert not FORM.fullmatch(wanted)


def test_the_sample_in_words():
    assert describe("1%", 7) == "1% of the cases, drawn by seed 7"
    assert describe("all", 7) == "all cases but hazards"
    assert describe("0", 7) == "no case"


@pytest.mark.parametrize(
    ("first", "second", "verdict", "reason"),
    [
        (PASS, FAIL, "FAIL", "unstable: first PASS, then FAIL (requester)"),
        (FAIL, PASS, "FAIL", "unstable: first FAIL (requester), then PASS"),
        (
            DEVIATION,
            FIXED,
            "FIXED",
            "unstable: first DEVIATION (RXE-001; requester), then FIXED (RXE-001)",
        ),
        (
            PASS,
            SHOULD,
            "NOTE",
            "unstable: first PASS, then NOTE (requester)",
        ),
    ],
)
def test_two_answers_that_do_not_agree_are_unstable_and_never_a_pass(
    first, second, verdict, reason
):
    found = join(first, second)
    assert (found["verdict"], found["reason"]) == (verdict, reason)
    assert found["twice"]["unstable"]
    answers = found["twice"]["answers"]
    assert [each["observed"] for each in answers] == [first["observed"], second["observed"]]
    assert [each["verdict"] for each in answers] == [first["verdict"], second["verdict"]]


def test_failures_in_different_facts_are_unstable():
    found = join(FAIL, OTHER)
    assert found["verdict"] == "FAIL"
    assert found["reason"] == "unstable: first FAIL (requester), then FAIL (responder)"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [(PASS, "ERROR"), (NOTE, "ERROR"), (DEVIATION, "ERROR"), (FAIL, "FAIL"), (FIXED, "FIXED")],
)
@pytest.mark.parametrize("again", [True, False])
def test_an_error_is_no_answer_and_hides_none(answer, verdict, again):
    found = join(answer, ERROR) if again else join(ERROR, answer)
    assert (found["verdict"], found["twice"]["unstable"]) == (verdict, False)
    assert found["observed"] == answer["observed"]
    told = "when it was asked again: " if again else "when it was asked first: "
    assert found["reason"].endswith(f"{told}the control was refused")
    assert len(found["twice"]["answers"]) == 2


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [(PASS, PASS, "PASS"), (PASS, NOTE, "NOTE"), (NOTE, PASS, "NOTE"), (FAIL, FAIL, "FAIL")],
)
def test_answers_that_the_rules_allow_beside_each_other_are_steady(first, second, verdict):
    found = join(first, second)
    assert found["verdict"] == verdict
    assert not (found["reason"] or "").startswith("unstable")
    assert not found["twice"]["unstable"]
    assert len(found["twice"]["answers"]) == 2
