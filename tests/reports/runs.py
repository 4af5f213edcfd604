"""Lines of run files for the tests: one result of every verdict."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from rdma_reports.lines import FAILING, SEVERITY, Footer, Header, Result
from rdma_reports.runfile import Run, RunWriter

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


def made_run(*results: Result, verdict: str | None = "", **changes: Any) -> Run:
    """A run of `results`; `changes` are fields of the header, of its device or of the footer.

    Its verdict is as the results say, unless given; None leaves the footer out.
    """
    device = {name: changes.pop(name) for name in [*changes] if name in HEADER.device}
    footer = {name: changes.pop(name) for name in [*changes] if name in ("unasked", "interrupted")}
    header = replace(HEADER, device=HEADER.device | device, selected=len(results), **changes)
    counts = Counter(each.verdict for each in results)
    if verdict == "":
        bad = FAILING & counts.keys()
        verdict = "NOT CONFORMING" if bad else "CONFORMING"
        verdict = "INVALID" if changes.get("planted") else verdict
    end = None
    if verdict is not None:
        status = int(verdict != "CONFORMING")
        end = Footer(verdict=verdict, counts=counts, exit_status=status, **footer)
    return Run(header, tuple(results), end)


def written(path: Path, run: Run) -> Path:
    """Write a run file; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with RunWriter(path, run.header) as writer:
        for each in run.lines:
            writer.result(each)
        if run.footer:
            footer = run.footer
            writer.finish(
                footer.verdict,
                exit_status=footer.exit_status,
                interrupted=footer.interrupted,
                unasked=footer.unasked,
            )
    return path
