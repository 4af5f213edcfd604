"""A refusal counts only after its control, and what a run file says of that is checked."""

import importlib.metadata
from dataclasses import replace

import pytest

from conformance.spec import oracle
from conformance.spec.model import Capabilities
from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.suites import all_cases
from rdma_reports.command import main
from rdma_reports.controls import faults
from rdma_reports.lines import count_checks
from rdma_reports.runfile import RunWriter

from .runs import HEADER, made_run, result

DEVICE = Capabilities({})
PARTS = {
    control: next(
        (name, case)
        for name, case in all_cases().items()
        if (found := oracle.expect(case, DEVICE)).unclaimed is None
        and (found.control is not None) is control
    )
    for control in (True, False)
}
REFUSAL, _ = PARTS[True]
GRANTED, _ = PARTS[False]


def checked(*results, **counts):
    """A run of this suite whose footer counts what its lines give, but for `counts`."""
    run = made_run(
        *results,
        suite=importlib.metadata.version("rdma-conformance"),
        catalogue=load_catalogue().digest,
        capabilities={"claims": {}, "denials": {}},
    )
    return replace(run, footer=replace(run.footer, checks={**run.checks, **counts}))


def test_what_is_counted():
    steady, unstable = ({"unstable": value, "answers": []} for value in (False, True))
    assert count_checks(
        [("succeeded", None), ("refused", steady), ("not asked", None), (None, unstable)]
    ) == {"refusals": 2, "controls": 1, "twice": 2, "unstable": 1}


def test_a_run_with_its_controls_has_no_fault():
    run = checked(result("PASS", case=REFUSAL, control="succeeded"), result("PASS", case=GRANTED))
    assert faults(run, all_cases()) == []


@pytest.mark.parametrize("control", [None, "refused", "unknown", "not asked"])
@pytest.mark.parametrize("verdict", ["PASS", "NOTE", "DEVIATION", "FIXED"])
def test_a_refusal_that_was_judged_without_its_control_is_a_fault(verdict, control):
    (fault,) = faults(checked(result(verdict, case=REFUSAL, control=control)), all_cases())
    assert fault.startswith("1 refusals were judged without a positive control")
    assert REFUSAL in fault


@pytest.mark.parametrize("verdict", ["ERROR", "FAIL", "CRASH", "NOT_SUPPORTED"])
def test_what_is_not_judged_good_needs_no_control(verdict):
    assert faults(checked(result(verdict, case=REFUSAL, control="unknown")), all_cases()) == []


def test_counts_that_the_lines_do_not_give_are_a_fault():
    (fault,) = faults(checked(result("PASS", case=GRANTED), controls=9), all_cases())
    assert "the footer counts" in fault


def test_validate_says_what_is_wrong_with_the_controls(tmp_path, capsys):
    path = tmp_path / "run.ndjson"
    for control, status in (("succeeded", 0), (None, 2)):
        run = checked(result("PASS", case=REFUSAL, control=control))
        with RunWriter(path, run.header) as writer:
            writer.result(run.lines[0])
            writer.finish("CONFORMING", exit_status=0, checks=run.checks)
        assert main(["validate", str(path)]) == status
        assert ("without a positive control" in capsys.readouterr().out) is bool(status)


def test_a_run_of_another_suite_is_not_judged_by_this_one(tmp_path):
    run = checked(result("PASS", case=REFUSAL))
    path = tmp_path / "run.ndjson"
    with RunWriter(path, HEADER) as writer:
        writer.result(run.lines[0])
        writer.finish("CONFORMING", exit_status=0, checks=run.checks)
    assert main(["validate", str(path)]) == 0
