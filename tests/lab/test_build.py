"""Building the guest root: complete or not at all, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import CHECKOUT, LAB_RUN, lives, wait_for_line, wait_until

# The builder needs root, for its mounts.
pytestmark = [pytest.mark.lab, pytest.mark.skipif(os.geteuid() != 0, reason="not root")]


def _processes_of(folder: Path) -> list[int]:
    """The processes that have ``folder`` in their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid() and lives(pid)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_build_that_is_stopped_leaves_nothing_half_built(tmp_path, built, number):
    cache = tmp_path / "cache"
    process = subprocess.Popen(
        [LAB_RUN, "--cache", str(cache), "--build-only"],
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        wait_for_line(process.stderr, b"packages of Debian")
        tree = cache / "building" / "root" / "tree"
        wait_until(lambda: (tree / "usr").exists() or process.poll() is not None, 90)
        assert process.poll() is None
        process.send_signal(number)
        process.communicate(timeout=30)
    finally:
        process.kill()
    wait_until(lambda: not _processes_of(cache), 20)
    assert str(cache) not in Path("/proc/self/mountinfo").read_text()
    assert list(cache.glob("roots/*")) == []
    assert list(cache.glob("kernels/*/kernel.json")) == list(cache.glob("kernels/*/*.json"))


def test_the_second_builder_waits_and_says_so(tmp_path):
    """Two processes at one lock: the second says that it waits, and gets it after the first."""
    code = (
        "import sys; sys.path.insert(0, 'lab')\n"
        "from pathlib import Path\n"
        "from rdma_lab.cache import Cache, building\n"
        f"with building(Cache(Path({str(tmp_path)!r}))):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", code]
    with (
        subprocess.Popen(command, cwd=CHECKOUT, **pipes) as first,
        subprocess.Popen(["sleep", "0"]),
    ):
        wait_for_line(first.stdout, b"held")
        with subprocess.Popen(command, cwd=CHECKOUT, **pipes) as second:
            wait_for_line(second.stderr, b"another lab/run is building: waiting for it")
            first.communicate(b"")
            wait_for_line(second.stdout, b"held")
            second.communicate(b"")
