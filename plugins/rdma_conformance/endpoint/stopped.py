"""Whether somebody stopped a process or one that it started (SIGSTOP): then it owes no answer."""

from pathlib import Path

STOPPED = "stopped"
PROC = Path("/proc")


def stopped(pid: int, proc: Path = PROC) -> int | None:
    """The first stopped process of `pid` and its descendants, None if all can run; see proc(5)."""
    try:
        stat = (proc / str(pid) / "stat").read_text(errors="replace")
        tasks = sorted((proc / str(pid) / "task").iterdir())
    except OSError:  # it is gone
        return None
    if stat.rpartition(")")[2].split()[0] in ("T", "t"):
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
