"""A run without rights, beside others, or whose device goes: one clear outcome each."""

import json
import os
import subprocess

import pytest

from .conftest import CHECKOUT, LAB_RUN

pytestmark = pytest.mark.lab

PATIENCE_S = 900  # for all situations, beside other guests


def test_wrong_hands_have_one_clear_outcome_each(built):
    """One boot for all situations."""
    told = asked_in_the_guest()
    for check in (
        a_user_who_may_pin_too_little_is_told_before_anything_is_asked,
        a_policy_that_refuses_the_calls_is_no_fault_of_the_driver,
        a_host_that_shows_nothing_names_the_mount,
        what_a_user_may_not_ask_is_told_apart,
        what_others_have_on_the_device_is_not_laid_at_the_drivers_door,
        a_run_changes_nothing_of_the_host_and_no_device_that_was_not_named,
        a_device_that_goes_ends_the_run_at_once,
    ):
        check(told)


def asked_in_the_guest() -> dict[str, dict]:
    """What the guest's script tells of each situation, by its name."""
    done = subprocess.run(
        [LAB_RUN, "python3", "tests/lab/hands.py"],
        cwd=CHECKOUT,
        env={name: value for name, value in os.environ.items() if "PYTEST" not in name},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]
    return {line["name"]: line for line in lines}


def only_line(run: dict) -> str:
    """The one thing that a run says that did not begin."""
    assert run["status"] == 4, run
    assert run["footer"] is None
    [line] = [line for line in run["said"] if line.strip()]
    assert line.startswith("ERROR: ")
    return line


def a_user_who_may_pin_too_little_is_told_before_anything_is_asked(told):
    line = only_line(told["limited"])
    assert "may pin 8192 kB (RLIMIT_MEMLOCK)" in line
    assert line.endswith("ulimit -Hl unlimited, or run as root")


def a_policy_that_refuses_the_calls_is_no_fault_of_the_driver(told):
    line = only_line(told["policy"])
    assert "EACCES" in line
    assert "SELinux" in line


def a_host_that_shows_nothing_names_the_mount(told):
    assert only_line(told["no-sys"]) == (
        "ERROR: /sys is not here: mount it: mount -t sysfs sysfs /sys"
    )


def what_a_user_may_not_ask_is_told_apart(told):
    run = told["nobody"]
    assert (run["status"], run["bad"]) == (0, []), run
    assert any(
        line.startswith("not asked here, ") and "CAP_IPC_LOCK" in line for line in run["said"]
    )
    assert any("what this host or its user lacks" in line for line in run["said"])


def what_others_have_on_the_device_is_not_laid_at_the_drivers_door(told):
    for name in ("neighbours", "other"):
        assert (told[name]["status"], told[name]["bad"]) == (0, []), told[name]


def a_run_changes_nothing_of_the_host_and_no_device_that_was_not_named(told):
    assert told["untouched"]["changed"] == []
    assert not told["untouched"]["sent"]


def a_device_that_goes_ends_the_run_at_once(told):
    for name, says in (("port-down", "port 1 of rxe0 is DOWN"), ("device-gone", "rxe0 is gone")):
        ended_at_once(told[name], says)


def ended_at_once(run, says):
    assert run["status"] == 2, run
    assert run["footer"]["verdict"] == "INVALID"
    # The case that was being asked, and at most one before it that saw the device go.
    assert run["bad"][-1][1].startswith(says)
    assert {verdict for verdict, _ in run["bad"]} == {"ERROR"}
    assert len(run["bad"]) <= 2
    [last] = [line for line in run["said"] if line.startswith("INVALID")]
    assert says in last
