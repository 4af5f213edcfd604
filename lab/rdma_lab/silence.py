"""How long a guest has shown no sign of life, told from a host that was busy itself. Pure."""

from __future__ import annotations

LOOK_SECONDS = 1.0  # how often to look
_AT_MOST = 2 * LOOK_SECONDS


class Silence:
    """Counts the seconds since the last sign of life; ``now`` is on any one clock, in seconds.

    Between two looks at most two seconds count: if more have gone by, this process did not run
    either, and the guest may have been as little to blame.
    """

    def __init__(self, now: float) -> None:
        self._seen = now
        self.seconds = 0.0

    def look(self, now: float) -> float:
        self.seconds += min(now - self._seen, _AT_MOST)
        self._seen = now
        return self.seconds

    def broken(self, now: float) -> None:
        """The guest has shown a sign of life."""
        self._seen = now
        self.seconds = 0.0
