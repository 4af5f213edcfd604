"""The lab's own lines, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


def say(line: str) -> None:
    # In one piece: the stages of a build speak from several threads.
    sys.stderr.write(f"lab: {line}\n")
    sys.stderr.flush()


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Says that a stage of a build has begun, and how long it took once it is done."""
    say(f"  {name} ...")
    started = time.monotonic()
    yield
    say(f"  {name}: done in {time.monotonic() - started:.0f} s")
