"""Records of cases that answered as they must while something else went wrong."""

from collections.abc import Mapping
from typing import Any

from conformance.spec.vocabulary import Verdict
from rdma_conformance.outcomes import BAD
from rdma_reports.lines import worse


def worsen(
    record: Mapping[str, Any], verdict: Verdict, reason: str, listed: bool = False
) -> dict[str, Any]:
    """`record` with a verdict that is no better than `verdict`, of ERROR, FAIL and CRASH.

    A FAIL says more than an ERROR, and a CRASH most. `listed`: the case's known deviation says
    that a FAIL may come of it, and explains it if the case failed as listed.
    """
    was = Verdict(record["verdict"])
    if listed and was is Verdict.DEVIATION and verdict is Verdict.FAIL:
        return {**record, "reason": f"{record['reason']} And as listed, {reason}"}
    if worse(was, verdict):
        verdict = was
    if was in BAD and record["reason"]:
        reason = f"{record['reason']}; and {reason}"
    changed = {"verdict": verdict.value, "reason": reason}
    if verdict is not was:
        changed["deviation"] = None
    return {**record, **changed}
