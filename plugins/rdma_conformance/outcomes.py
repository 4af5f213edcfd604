"""How a verdict appears to pytest: the outcome of the report, its letter and its exit status."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from conformance.spec.vocabulary import Verdict

BAD = frozenset({Verdict.FAIL, Verdict.FIXED, Verdict.ERROR, Verdict.CRASH})
ASKED = frozenset(Verdict) - {Verdict.NOT_SUPPORTED, Verdict.ERROR}


class Shown(NamedTuple):
    """pytest's category, progress letter, and verbose word (with markup) of a verdict."""

    category: str
    letter: str
    word: tuple[str, dict[str, bool]]


SHOWN = {
    Verdict.PASS: Shown("passed", ".", ("PASS", {"green": True})),
    Verdict.FAIL: Shown("failed", "F", ("FAIL", {"red": True})),
    Verdict.DEVIATION: Shown("deviations", "d", ("DEVIATION", {"yellow": True})),
    Verdict.FIXED: Shown("failed", "X", ("FIXED", {"red": True})),
    Verdict.NOT_SUPPORTED: Shown("not supported", "s", ("NOT_SUPPORTED", {"yellow": True})),
    Verdict.NOTE: Shown("passed", "n", ("NOTE", {"cyan": True})),
    Verdict.ERROR: Shown("error", "E", ("ERROR", {"red": True})),
    Verdict.CRASH: Shown("failed", "C", ("CRASH", {"red": True, "bold": True})),
}


def apply(report: pytest.TestReport, record: Mapping[str, Any], text: str) -> None:
    """Make the report of a case's call say what the record says; `text` explains a bad verdict."""
    verdict = Verdict(record["verdict"])
    report.rdma_record = dict(record)
    if verdict in BAD:
        report.outcome = "failed"
        report.longrepr = text
    elif verdict is Verdict.DEVIATION:
        report.outcome = "skipped"
        report.wasxfail = f"{record['deviation']}: {record['reason']}"
    elif verdict is Verdict.NOT_SUPPORTED:
        report.outcome = "skipped"
        report.longrepr = (report.location[0], report.location[1] or 0, record["reason"])
    else:
        report.outcome = "passed"
        report.longrepr = None


def tell_stuck(report: pytest.TestReport) -> None:
    """Let the report of a case say that a task of it is stuck in the kernel."""
    report.rdma_stuck = True


def is_stuck(report: Any) -> bool:
    """Whether a report says so, also after its way from an xdist worker."""
    return getattr(report, "rdma_stuck", False)


def record_of(report: Any) -> Mapping[str, Any] | None:
    """The record that a report carries, also after its way from an xdist worker."""
    return getattr(report, "rdma_record", None)
