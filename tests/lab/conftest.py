"""Lets the lab's tests import its modules, and run it as a person would."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
LAB_RUN = str(CHECKOUT / "lab" / "run")
sys.path.insert(0, str(CHECKOUT / "lab"))

GUEST_SECONDS = 180


def _without_pytest(environment: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if not k.startswith("PYTEST")}


@pytest.fixture(scope="session")
def built() -> None:
    """The guest root and kernel are there, so that a boot's time is a boot's."""
    subprocess.run([LAB_RUN, "--build-only"], check=True, timeout=900)


@pytest.fixture
def lab(built: None) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs lab/run to its end: ``lab(*arguments, **subprocess options)``."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
        options = {"cwd": CHECKOUT, "env": _without_pytest(dict(os.environ)), **options}
        options |= {"capture_output": True, "timeout": GUEST_SECONDS}
        return subprocess.run([LAB_RUN, *arguments], check=False, **options)

    return run


@pytest.fixture
def start_lab(built: None) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts lab/run and leaves it running: ``start_lab(*arguments)``."""
    started = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [LAB_RUN, *arguments],
            cwd=CHECKOUT,
            env=_without_pytest(dict(os.environ)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def children(pid: int) -> list[int]:
    """The processes that ``pid``'s main thread started and that live."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def lives(pid: int) -> bool:
    """Whether process ``pid`` is there and not just waiting to be reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Returns once ``condition()`` is true; fails the test when that takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not so after {seconds} s"
        time.sleep(0.1)


def wait_for_line(stream: object, text: bytes) -> list[bytes]:
    """Reads ``stream`` up to the line that holds ``text``; all lines read."""
    lines = []
    for line in stream:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(f"{text!r} never came, only {lines}")
