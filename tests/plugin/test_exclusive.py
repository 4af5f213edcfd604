"""Who waits for whom: a case that takes the whole device, and the others."""

import threading
from pathlib import Path

import pytest

from rdma_conformance.exclusive import hold


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    for name in ("rxe0", "rxe1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "node_guid").touch()
    return tmp_path


def _waits(device: str, alone: bool, devices: Path) -> bool:
    """Whether another holder has to wait."""
    held = threading.Event()

    def take() -> None:
        with hold(device, alone, devices):
            held.set()

    threading.Thread(target=take, daemon=True).start()
    return not held.wait(0.3)


def test_usual_cases_do_not_wait_for_each_other(devices: Path):
    with hold("rxe0", alone=False, root=devices):
        assert not _waits("rxe0", False, devices)


def test_one_that_takes_all_waits_for_the_others(devices: Path):
    with hold("rxe0", alone=False, root=devices):
        assert _waits("rxe0", True, devices)


def test_the_others_wait_for_one_that_takes_all(devices: Path):
    with hold("rxe0", alone=True, root=devices):
        assert _waits("rxe0", False, devices)
        assert not _waits("rxe1", False, devices)


def test_a_device_that_is_gone_is_nothing_to_wait_for(devices: Path):
    with hold("rxe9", alone=True, root=devices):
        assert not _waits("rxe9", True, devices)
    assert not (devices / "rxe9").exists()
