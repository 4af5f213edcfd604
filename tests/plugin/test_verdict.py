"""The way from an expectation and an observation to a verdict."""

from datetime import date

import pytest

from conformance.spec.model import Expectation, Outcome
from conformance.spec.vocabulary import Level, Verdict
from rdma_conformance.verdict import judge

REFUSED = Outcome("refused", {"status": ("REM_ACCESS_ERR",), "region": ([],)})
EXPECTATION = Expectation("MR-RIGHT-READ", (REFUSED,))
CONFORMING = {"status": "REM_ACCESS_ERR", "region": [], "extra": 1}
DISCLOSING = {"status": "SUCCESS", "region": []}


class Listed:
    """A deviation entry as `judge` uses it."""

    id = "XYZ-001"
    reason = "known"
    review = date.max

    def explains(self, observed, differing):
        return observed["status"] == "SUCCESS" and set(differing) <= {"status"}


@pytest.mark.parametrize(
    ("level", "observed", "listed", "verdict"),
    [
        (Level.MUST, CONFORMING, False, Verdict.PASS),
        (Level.MUST, DISCLOSING, False, Verdict.FAIL),
        (Level.SHOULD, DISCLOSING, False, Verdict.NOTE),
        (Level.IMPL, DISCLOSING, False, Verdict.NOTE),
        (Level.MUST, DISCLOSING, True, Verdict.DEVIATION),
        (Level.MUST, {"status": "REM_OP_ERR", "region": []}, True, Verdict.FAIL),
        (Level.MUST, {"status": "SUCCESS", "region": [[0, 1, "ff"]]}, True, Verdict.FAIL),
        (Level.MUST, CONFORMING, True, Verdict.FIXED),
    ],
)
def test_verdict(level, observed, listed, verdict):
    deviation = Listed() if listed else None
    assert judge(EXPECTATION, level, observed, deviation).verdict is verdict


def test_a_fact_that_was_not_observed_never_passes():
    found = judge(EXPECTATION, Level.MUST, {"status": "REM_ACCESS_ERR"})
    assert found.verdict is Verdict.FAIL
    assert found.differences[0].observed == "not observed"


def test_nothing_expected_is_a_mistake_and_no_verdict():
    with pytest.raises(ValueError, match="nothing was asked"):
        judge(Expectation("MR-RIGHT-READ", ()), Level.MUST, {})


def test_the_nearest_outcome_is_shown():
    other = Outcome("other", {"status": ("SUCCESS",), "region": ([[0, 1, "ff"]],), "qp": ("RTS",)})
    both = Expectation("MR-RIGHT-READ", (other, REFUSED))
    found = judge(both, Level.MUST, {"status": "REM_OP_ERR", "region": []})
    assert found.outcome == "refused"
    assert [each.fact for each in found.differences] == ["status"]


def test_an_outcome_may_carry_another_verdict():
    unclaimed = Outcome("refused, not claimed", {"result": ("EOPNOTSUPP",)}, Verdict.NOT_SUPPORTED)
    found = judge(Expectation("R", (unclaimed,)), Level.MUST, {"result": "EOPNOTSUPP"})
    assert (found.verdict, found.reason) == (Verdict.NOT_SUPPORTED, "refused, not claimed")
