"""Ties a child's life to this process's, so that nothing outlives a killed lab."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def dying_with_parent(user: tuple[int, int] | None = None) -> Callable[[], None]:
    """What a child runs between fork and exec: the kernel then kills it when its parent ends.

    ``user``: the (uid, gid) that the child becomes. Source: prctl(2), PR_SET_PDEATHSIG. It
    counts the thread that starts the child, which therefore has to be the main one.
    """
    parent = os.getpid()

    def tie() -> None:
        if user:
            os.setgroups([])
            os.setgid(user[1])
            os.setuid(user[0])
        # After the change of user, which would clear it.
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return tie
