"""What ended processes still have on a device, once the kernel had its time to give it back."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

GONE_S = 5.0  # how long the kernel may take to give back what a dead process had
FIRST_PIDS = Path("pid:[4026531836]")  # the PID namespace of the host: PROC_PID_INIT_INO


def outlasting(count: Callable[[], Mapping[str, int]], before: Mapping[str, int]) -> dict[str, int]:
    """Those of the counts that stay above what they were `before`, as they are in the end.

    The kernel's lists have no process for what a dead one had, nor for what one has that lives in
    another PID namespace. Raises RuntimeError where it can't be told whose the objects are.
    """
    deadline = time.monotonic() + GONE_S
    while more := _more(count(), before):
        if time.monotonic() > deadline:
            if Path("/proc/self/ns/pid").readlink() != FIRST_PIDS:
                raise RuntimeError(
                    f"{', '.join(in_words(more, before))}: in a PID namespace nobody tells whether "
                    "that is of another living process; run in the host's (podman run --pid=host)"
                )
            return more
        time.sleep(0.05)
    return {}


def in_words(more: Mapping[str, int], before: Mapping[str, int]) -> list[str]:
    return [f"{kind} {before[kind]} to {now}" for kind, now in more.items()]


def _more(now: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {kind: now[kind] for kind in before if now[kind] > before[kind]}
