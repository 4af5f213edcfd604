"""What /proc tells of a process; see proc(5), stat."""

from pathlib import Path

PROC = Path("/proc")
_STATE, _START = 0, 19  # behind the name, which may hold blanks and brackets


def state(pid: int, proc: Path = PROC) -> str:
    """The letter of a process's state, '' if there is none."""
    return _field(pid, _STATE, proc)


def is_stopped(pid: int, proc: Path = PROC) -> bool:
    """Whether a signal or a tracer stopped it."""
    return state(pid, proc) in ("T", "t")


def start(pid: int, proc: Path = PROC) -> int | None:
    """When a process started, in clock ticks since boot; None if none runs."""
    found = _field(pid, _START, proc)
    return int(found) if found and state(pid, proc) not in ("Z", "X") else None


def _field(pid: int, number: int, proc: Path) -> str:
    try:
        text = (proc / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[number]
