"""Lines of run files for the tests: one result of every verdict."""

from typing import Any

from rdma_reports.lines import SEVERITY, Header, Result

HEADER = Header(
    suite="0.1.0",
    catalogue="0123456789ab",
    started="2026-01-02T03:04:05+00:00",
    device={"device": "rxe0", "driver": "rdma_rxe", "kernel": "7.2.12", "mtu": 1024, "fw": None},
    fabric="rxe0 (netns left) <-> rxe1 (netns right)",
    capabilities={"claims": {"atomic": "atomic_cap is 1"}, "denials": {"odp": "no general_caps"}},
    seed=7,
    argv=["conformance/", "--device", "rxe0"],
    selected=8,
    deselected=0,
    workers=0,
)
REASONS = {
    "DEVIATION": "rxe answers late",
    "FIXED": "conforms now: delete RXE-001 from the deviations",
    "NOT_SUPPORTED": "odp_caps.general_caps is 0",
    "NOTE": "accepted",
    "ERROR": "the positive control was refused",
    "CRASH": "the endpoint worker died of signal 11",
}
DIFFERENCE = {"fact": "requester", "allowed": [["REM_ACCESS_ERR"]], "observed": ["SUCCESS"]}


def result(verdict: str = "PASS", **changes: Any) -> Result:
    """A result of `verdict`, the case being named after it."""
    word = verdict.lower()
    differs = verdict in ("FAIL", "DEVIATION")
    values: dict[str, Any] = {
        "case": f"remote/test_rights.py::test_region_rights[read-region:{word}]",
        "area": "remote",
        "requirement": "MR-RIGHT-READ",
        "level": "MUST",
        "verdict": verdict,
        "title": "READ from a region without REMOTE_READ is refused",
        "asked": {"kind": "transfer", "operation": "read", "length": 64},
        "expected": [{"name": "refused", "facts": {"requester": [["REM_ACCESS_ERR"]]}}],
        "observed": {"requester": ["SUCCESS"] if differs else ["REM_ACCESS_ERR"], "region": []},
        "differences": [DIFFERENCE] if differs else [],
        "reason": REASONS.get(verdict),
        "deviation": "RXE-001" if verdict in ("DEVIATION", "FIXED") else None,
        "sources": ["IBTA vol 1 10.6.3", "ibv_reg_mr(3) DESCRIPTION, flags"],
        "again": f"pytest 'conformance/remote/test_rights.py::x[{word}]' --device rxe0",
        "seed": 11,
        "duration": 0.25,
        "hazard": verdict == "CRASH",
    }
    return Result(**values | changes)


EVERY_VERDICT = tuple(result(verdict) for verdict in SEVERITY)
