"""Finds the end of a stream that has no end of file of its own."""

from __future__ import annotations

import secrets


def new_end_mark() -> str:
    """A mark that no output holds by accident, beginning with a byte that text doesn't use."""
    return "\x16lab-end-" + secrets.token_hex(16)


class EndMarkedStream:
    """Passes bytes on as they come, up to an end mark.

    Only bytes that may be the beginning of the mark are held back.
    """

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._held = b""
        self.ended = False

    def feed(self, data: bytes) -> bytes:
        """The bytes of output that are certain after ``data`` has come."""
        if self.ended:
            return b""
        data = self._held + data
        output, found, _ = data.partition(self._mark)
        if found:
            self.ended, self._held = True, b""
            return output
        kept = self._possible_mark_length(data)
        self._held = data[len(data) - kept :]
        return data[: len(data) - kept]

    def close(self) -> bytes:
        """The bytes held back when no mark came."""
        held, self._held, self.ended = self._held, b"", True
        return held

    def _possible_mark_length(self, data: bytes) -> int:
        longest = min(len(data), len(self._mark) - 1)
        return next((n for n in range(longest, 0, -1) if data.endswith(self._mark[:n])), 0)
