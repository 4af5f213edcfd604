"""Runs on a real device that are killed, interrupted, stopped, or out of room: all in one boot."""

import subprocess

import pytest

from .conftest import CHECKOUT, LAB_RUN

pytestmark = pytest.mark.lab

SEED = 7  # of the kills: another asks at other points
STEPS = (f"kills {SEED} 20", "stop", "signals", "disk", "together")
SECONDS = "900"  # on a busy machine


def test_what_spoils_a_run_costs_what_it_must_and_no_more(built):
    script = " && ".join(f"python3 tests/lab/spoiling.py {step}" for step in STEPS)
    command = [LAB_RUN, "--timeout", SECONDS, "sh", "-c", script]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as guest:
        said = []
        for line in guest.stdout:
            print(line, end="", flush=True)
            said.append(line)
    assert guest.returncode == 0
    assert sum("as it should be" in line for line in said) == len(STEPS)
    assert "20 kills cost" in "".join(said)
