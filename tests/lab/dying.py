"""A pytest plugin (-p dying) for the guest: given cases take it down, or leave a task stuck in it.

DIES holds JSON: words of a node id to what its case does: hang, stick, or wait (to be killed) and,
when it is asked again, panic. That it has waited is told by a file in the checkout, WAITED.
"""

import ctypes
import json
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

DIES = json.loads(os.environ.get("DIES", "{}"))
STICKS = Path("/run/sticks")
WAITED = Path(os.environ.get("WAITED", "/run/waited"))
FUSE, NEVER_ANSWERS = Path("/run/fuse"), "-never-answers"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item):
    for words, does in DIES.items():
        if words in item.nodeid:
            globals()[does]()
    return (yield)


def hang() -> None:
    """Nothing else runs any more: real time, without the share that the kernel keeps for others."""
    subprocess.run(["mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug"], check=False)
    for share in Path("/sys/kernel/debug/sched/fair_server").glob("cpu*/runtime"):
        share.write_text("0")
    Path("/proc/sys/kernel/sched_rt_runtime_us").write_text("-1")
    os.sched_setaffinity(0, {0})
    for _ in range(1, os.cpu_count() or 1):
        os.fork()
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
    while True:
        pass


def wait_then_panic() -> None:
    if WAITED.exists():
        Path("/proc/sysrq-trigger").write_text("c")
    WAITED.touch()
    time.sleep(999)


def stick() -> None:
    """The endpoint worker is to wait in the kernel for a file system that never answers."""
    FUSE.mkdir()
    subprocess.run(["modprobe", "fuse"], check=True)
    server = [sys.executable, __file__, NEVER_ANSWERS]
    subprocess.Popen(server, start_new_session=True, stdout=subprocess.DEVNULL)
    while str(FUSE) not in Path("/proc/mounts").read_text():  # to look at it would never end
        time.sleep(0.05)
    STICKS.touch()


def _never_answer() -> None:
    """Serve FUSE: the greeting (FUSE_INIT), and nothing after it. linux/fuse.h"""
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"fuse", bytes(FUSE), b"fuse", 0, options):
        raise OSError(ctypes.get_errno(), "mount")
    unique = struct.unpack_from("=IIQ", os.read(device, 1 << 20))[2]
    greeting = struct.pack("=IIIIHHIIHH8I", 7, 31, 0, 0, 1, 1, 4096, 1, 1, 0, *[0] * 8)
    os.write(device, struct.pack("=IiQ", 16 + len(greeting), 0, unique) + greeting)
    while True:
        os.read(device, 1 << 20)


def in_worker() -> None:
    """In an endpoint worker: when a case is asked, stick if that is wanted."""
    from rdma_conformance.endpoint.server import Session  # noqa: PLC0415 - only there

    asked = Session._asked

    def stick_when_asked(self: Session) -> None:
        asked(self)
        if STICKS.exists():
            (FUSE / "any").stat()

    Session._asked = stick_when_asked


def pytest_configure() -> None:
    from rdma_conformance.endpoint import client  # noqa: PLC0415 - not in the server below

    hook = "import dying; dying.in_worker()\nserve(channel"
    client._BOOTSTRAP = client._BOOTSTRAP.replace("serve(channel", hook)


if __name__ == "__main__" and sys.argv[1:] == [NEVER_ANSWERS]:
    _never_answer()
