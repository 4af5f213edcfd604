"""Whether somebody stopped a process or one that it started (SIGSTOP): then it owes no answer."""

from pathlib import Path

from rdma_conformance.processes import PROC, is_stopped

STOPPED = "stopped"


def stopped(pid: int, proc: Path = PROC) -> int | None:
    """The first stopped process of `pid` and its descendants, None if all can run; see proc(5)."""
    try:
        tasks = sorted((proc / str(pid) / "task").iterdir())
    except OSError:  # it is gone
        return None
    if is_stopped(pid, proc):
        return pid
    for task in tasks:
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            if (found := stopped(int(child), proc)) is not None:
                return found
    return None
