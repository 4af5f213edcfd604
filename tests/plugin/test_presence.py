"""A device that goes, or whose port goes down, in the middle of a run."""

import os
import threading
from pathlib import Path

import pytest

from rdma_conformance.presence import GOING_S, Presence, without_device


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "rxe0" / "ports" / "1" / "state"
    path.parent.mkdir(parents=True)
    path.write_text("4: ACTIVE\n")
    return path


def test_a_port_that_is_up_is_no_news(tmp_path, state):
    presence = Presence([("rxe0", 1), ("rxe0", 1), ("elsewhere", 1)], tmp_path)
    assert presence.lost() is None
    presence.close()
    assert presence.lost() is None


def test_a_port_that_is_down_is_told_until_it_is_up(tmp_path, state):
    presence = Presence([("rxe0", 1)], tmp_path)
    state.write_text("1: DOWN\n")
    assert presence.lost() == "port 1 of rxe0 is DOWN: bring it back, and run again"
    state.write_text("4: ACTIVE\n")
    assert presence.lost() is None
    presence.close()


def test_a_device_that_is_gone_is_told(tmp_path, state, monkeypatch):
    presence = Presence([("rxe0", 1)], tmp_path)

    def pread(*arguments):
        raise OSError(19, "No such device")  # as sysfs answers for an unregistered device

    monkeypatch.setattr(os, "pread", pread)
    assert presence.lost() == "rxe0 is gone: bring it back, and run again"


def test_one_that_is_going_is_waited_for(tmp_path, state):
    presence = Presence([("rxe0", 1)], tmp_path)
    assert presence.lost(patience_s=0.2) is None
    threading.Timer(0.3, state.write_text, ["1: DOWN\n"]).start()
    assert presence.lost(patience_s=20.0).startswith("port 1 of rxe0 is DOWN")
    presence.close()


@pytest.mark.parametrize(
    ("verdict", "observed", "reason", "waited"),
    [
        ("FAIL", {"status": "EIO"}, None, True),
        ("FAIL", {"end": {"errno": ["ENODEV"]}}, None, True),
        ("FAIL", {"responder_events": ["DEVICE_FATAL"]}, None, True),
        ("ERROR", {}, "ibv_create_qp: EIO", True),
        ("ERROR", {}, "OSError: [Errno 19] No such device", True),
        ("FAIL", {"status": "REM_OP_ERR"}, "as EIOX", False),
        ("PASS", {"status": "EIO"}, None, False),
    ],
)
def test_a_driver_that_lets_go_before_sysfs_says_so_is_waited_for(
    tmp_path, verdict, observed, reason, waited
):
    record = {"verdict": verdict, "observed": observed, "reason": reason}
    presence = Presence([], tmp_path)
    assert presence.patience(record, without_worker=False) == (GOING_S if waited else 0.0)
    assert presence.patience(record, without_worker=True) == GOING_S


def test_a_driver_that_answers_so_to_each_case_is_not_waited_for_each_time(tmp_path):
    presence = Presence([], tmp_path)
    record = {"verdict": "FAIL", "observed": {"status": "EIO"}, "reason": None}
    waited = [presence.patience(record, without_worker=False) for _ in range(50)]
    assert 0 < sum(waited) <= 60.0
    assert waited[-1] == 0.0


VERDICTS = ["PASS", "FAIL", "DEVIATION", "FIXED", "NOTE", "ERROR", "CRASH"]


@pytest.mark.parametrize("verdict", VERDICTS)
def test_what_was_seen_without_the_device_says_nothing(verdict):
    record = {"verdict": verdict, "reason": "a refusal", "deviation": "X-1", "kernel": []}
    found = without_device(record, "rxe0 is gone")
    assert (found["verdict"], found["deviation"]) == ("ERROR", None)
    assert found["reason"] == "rxe0 is gone (what was seen: a refusal)"


@pytest.mark.parametrize("verdict", ["CRASH", "FAIL"])
def test_a_kernel_that_broke_of_it_did(verdict):
    record = {"verdict": verdict, "reason": "it broke", "deviation": None, "kernel": ["BUG: x"]}
    found = without_device(record, "rxe0 is gone")
    assert found == record | {"reason": "it broke; and rxe0 is gone"}
