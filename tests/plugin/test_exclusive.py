"""Who waits for whom: a case that takes the whole device, and the others."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rdma_conformance import exclusive
from rdma_conformance.exclusive import GATE, ROOM, DeviceBusy, hold, holders


@pytest.fixture
def devices(tmp_path: Path) -> Path:
    for name in ("rxe0", "rxe1"):
        (tmp_path / name).mkdir()
        for file in (ROOM, GATE):
            (tmp_path / name / file).touch()
    return tmp_path


def _waits(device: str, alone: bool, devices: Path) -> bool:
    """Whether another holder has to wait."""
    held = threading.Event()

    def take() -> None:
        with hold(device, alone, 9, devices):
            held.set()

    threading.Thread(target=take, daemon=True).start()
    return not held.wait(0.3)


def test_usual_cases_do_not_wait_for_each_other(devices: Path):
    with hold("rxe0", alone=False, patience_s=9, root=devices):
        assert not _waits("rxe0", False, devices)


def test_one_that_takes_all_waits_for_the_others(devices: Path):
    with hold("rxe0", alone=False, patience_s=9, root=devices):
        assert _waits("rxe0", True, devices)


def test_the_others_wait_for_one_that_takes_all(devices: Path):
    with hold("rxe0", alone=True, patience_s=9, root=devices):
        assert _waits("rxe0", False, devices)
        assert not _waits("rxe1", False, devices)


def test_a_device_that_is_gone_is_nothing_to_wait_for(devices: Path):
    with hold("rxe9", alone=True, patience_s=9, root=devices):
        assert not _waits("rxe9", True, devices)
    assert not (devices / "rxe9").exists()


def test_nobody_passes_one_that_waits_for_all_others(devices: Path):
    with hold("rxe0", alone=False, patience_s=9, root=devices):
        assert _waits("rxe0", True, devices)
        assert _waits("rxe0", False, devices)


def test_the_lock_is_that_of_all_network_namespaces(tmp_path: Path, monkeypatch):
    """Two of them, with a sysfs each and one /dev."""
    nodes = tmp_path / "dev"
    nodes.mkdir()
    monkeypatch.setattr(exclusive, "NODES", nodes)
    roots = []
    for space in ("a", "b"):
        for number, device in enumerate(("rxe0", "rxe1")):
            node = tmp_path / space / "infiniband_verbs" / f"uverbs{number}"
            node.mkdir(parents=True)
            (node / "ibdev").write_text(f"{device}\n")
            (nodes / node.name).touch()
            folder = tmp_path / space / "infiniband" / device
            folder.mkdir(parents=True)
            for file in (ROOM, GATE):
                (folder / file).touch()
        roots.append(tmp_path / space / "infiniband")
    with hold("rxe1", alone=True, patience_s=9, root=roots[0]):
        assert _waits("rxe1", False, roots[1])
        assert not _waits("rxe0", False, roots[1])


HOLDER = """
import sys, time
from pathlib import Path
from rdma_conformance.exclusive import hold
with hold("rxe0", True, 9, Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_holder_that_is_stopped_is_named_and_one_that_dies_lets_go(devices: Path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(devices)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with holder:
        holder.stdout.readline()
        with (devices / "rxe0" / ROOM).open() as file:
            assert holders(file) == [holder.pid]
        holder.send_signal(signal.SIGSTOP)
        start = time.monotonic()
        with (
            pytest.raises(DeviceBusy, match=rf"process {holder.pid} .*kill -CONT {holder.pid}"),
            hold("rxe0", alone=False, patience_s=0.3, root=devices),
        ):
            pass
        assert time.monotonic() - start < 2
        holder.kill()
    with hold("rxe0", alone=True, patience_s=0, root=devices):
        pass


def test_the_locks_of_the_kernel(devices: Path, tmp_path: Path):
    locks = tmp_path / "locks"
    with (devices / "rxe0" / ROOM).open() as file:
        status = os.fstat(file.fileno())
        place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        locks.write_text(
            f"1: FLOCK  ADVISORY  READ 17 {place} 0 EOF\n"
            f"1: -> FLOCK  ADVISORY  WRITE 18 {place} 0 EOF\n"
            f"2: POSIX  ADVISORY  WRITE 19 {place} 0 EOF\n"
            "3: FLOCK  ADVISORY  WRITE 20 00:01:1 0 EOF\n"
        )
        assert holders(file, locks) == [17]
        assert holders(file, tmp_path / "none") == []
