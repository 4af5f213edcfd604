"""What each profile asks: each all that those before it ask, and quick something of every rule."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from conformance.spec.crowd import Churn, Limit, Listed
from rdma_conformance.collection import is_standard
from rdma_conformance.options import PROFILES
from rdma_conformance.suite import QUICK, asks
from rdma_conformance.suites import all_cases, cases_of_profile


def profiles(mark: pytest.MarkDecorator) -> list[str]:
    return [
        each.args[0]
        for param in mark.args[1]
        for each in (decorator.mark for decorator in param.marks)
        if each.name == "profile"
    ]


def test_the_first_cases_of_a_rule_are_quick():
    mark = asks("REG-LISTED", cases=[Listed(length) for length in range(1, QUICK + 3)])
    assert profiles(mark) == ["quick"] * QUICK + ["standard"] * 2


def test_much_work_is_never_quick():
    assert profiles(asks("REG-CHURN", cases=[Churn(9)])) == ["standard"]
    assert profiles(asks("REG-MAX", cases=[Limit()], exhaustive=True)) == ["exhaustive"]


@pytest.mark.parametrize(("profile", "asked"), [("quick", 0), ("standard", 1), ("exhaustive", 2)])
def test_the_option_chooses(pytestconfig, profile, asked):
    command = [sys.executable, "-m", "pytest", "conformance/registration", "--collect-only", "-q"]
    command += ["--profile", profile, "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, cwd=pytestconfig.rootpath, capture_output=True, text=True, check=True
    )
    longer = ("test_one_after_the_other[registrations:70000]", "test_as_many_as_the_device_takes")
    assert sum(name in done.stdout for name in longer) == asked
    assert "test_the_kernels_list[length:1]" in done.stdout


def test_the_cases_of_a_profile_are_known_without_collecting():
    quick, standard, exhaustive = (cases_of_profile(name).keys() for name in PROFILES)
    assert quick < standard < exhaustive
    assert exhaustive == all_cases().keys()


@pytest.mark.parametrize(
    ("profile", "standard"),
    [("quick", True), ("standard", True), ("exhaustive", False), (None, True)],
)
def test_only_what_a_standard_run_asks_can_be_left_out_of_it(profile, standard):
    mark = profile and getattr(pytest.mark.profile(profile), "mark", None)
    item = SimpleNamespace(get_closest_marker=lambda name: mark)
    assert is_standard(item) is standard
