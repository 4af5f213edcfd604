"""A run is CONFORMING only when every case was answered, and none of the answers is bad."""

import pytest

from rdma_conformance.closing import Tally, close
from rdma_conformance.terminal import verdict_line

GOOD = {"PASS": 3, "DEVIATION": 1, "NOT_SUPPORTED": 1, "NOTE": 1}


def end(counts, selected=None, **changes):
    number = sum(counts.values()) if selected is None else selected
    given = {"planted": None, "interrupted": False, "exit_status": 0, **changes}
    return close(counts, selected=number, **given)


def test_conforming():
    assert end(GOOD).verdict == "CONFORMING"
    assert end(GOOD).exit_status == 0


def test_errors_alone_say_nothing_of_the_driver():
    found = end({**GOOD, "ERROR": 1})
    assert (found.verdict, found.exit_status) == ("INVALID", 1)
    assert end({**GOOD, "ERROR": 1, "FAIL": 1}).verdict == "NOT CONFORMING"


@pytest.mark.parametrize("bad", ["FAIL", "FIXED", "CRASH"])
def test_one_bad_case_is_enough(bad):
    found = end({**GOOD, bad: 1})
    assert (found.verdict, found.exit_status) == ("NOT CONFORMING", 1)
    assert f"1 {bad}" in found.why


@pytest.mark.parametrize(
    "changes",
    [
        {"planted": "region-grants-read"},
        {"interrupted": True, "exit_status": 2},
        {"selected": 7},
        {"selected": 7, "stuck": "a task is stuck", "exit_status": 2},
        {"unwritten": "the disk is full"},
    ],
)
def test_a_run_that_proves_nothing_is_invalid(changes):
    found = end(GOOD, **changes)
    assert found.verdict == "INVALID"
    assert found.exit_status != 0


@pytest.mark.parametrize("counts", [{}, {"NOT_SUPPORTED": 9}, {"ERROR": 9}])
def test_a_run_in_which_nothing_was_asked_is_not_green(counts):
    found = end(counts)
    assert found.verdict == "INVALID"
    assert found.exit_status != 0
    assert "nothing was asked of the driver" in found.why


@pytest.mark.parametrize(
    ("verdict", "becomes"),
    [("CRASH", "NOT CONFORMING"), ("FAIL", "NOT CONFORMING"), ("ERROR", "INVALID")],
)
def test_no_run_conforms_after_which_the_kernel_complains(verdict, becomes):
    found = end(GOOD, ending=[(verdict, "the kernel broke"), (verdict, "the kernel broke")])
    assert (found.verdict, found.exit_status) == (becomes, 1)
    assert found.why == ("the kernel broke",)


def test_a_failure_that_only_pytest_saw_is_not_lost():
    found = end(GOOD, exit_status=1)
    assert (found.verdict, found.exit_status) == ("NOT CONFORMING", 1)


def test_a_run_whose_device_is_gone_says_so_in_place_of_an_interruption():
    found = end(GOOD, selected=7, interrupted=True, exit_status=2, lost="rxe0 is gone")
    assert (found.verdict, found.exit_status) == ("INVALID", 2)
    assert found.why == ("rxe0 is gone", "1 of 7 cases have no result")


def test_what_a_host_lacks_is_told_apart_from_what_a_device_does_not_claim():
    denials = {"ipc_lock": "no CAP_IPC_LOCK: be root", "odp": "odp_caps are 0", "iova": "no MREx"}
    reasons = [*2 * [denials["ipc_lock"]], f"its control needs more: {denials['ipc_lock']}"]
    tally = Tally()
    for number, reason in enumerate([*reasons, denials["odp"]]):
        tally.add({"case": str(number), "verdict": "NOT_SUPPORTED", "reason": reason})
    tally.add({"case": "noted", "verdict": "NOTE", "reason": denials["ipc_lock"]})
    assert tally.lacking(denials) == {denials["ipc_lock"]: 3}
    line = verdict_line("CONFORMING", tally.counts(), {}, (), lacking=3)
    assert line == (
        "CONFORMING; 1 case asks for what the device does not claim; "
        "3 cases need what this host or its user lacks"
    )
