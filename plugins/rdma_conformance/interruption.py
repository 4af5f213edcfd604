"""Ctrl-C, SIGTERM and a terminal that closes end a run in order.

They raise KeyboardInterrupt, as pytest knows it, but not in the middle of a step that has to be
whole: a line of the run file with its count, or namespaces that are made or removed.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruptions:
    """The handlers of this process, from `watch` to `restore`; without them it changes nothing."""

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._arrived: signal.Signals | None = None
        self._holding = 0
        self._ending = False

    def watch(self) -> None:
        """Take the signals over, but for those that whoever started this process ignores."""
        if threading.current_thread() is not threading.main_thread() or self._before:
            return
        self._arrived, self._ending = None, False
        for each in SIGNALS:
            if signal.getsignal(each) is not signal.SIG_IGN:
                self._before[each] = signal.signal(each, self._handle)

    def end(self) -> None:
        """From here on all is being taken down: a signal more would only leave something behind."""
        self._ending = True

    def restore(self) -> None:
        """Give the signals back."""
        while self._before:
            signal.signal(*self._before.popitem())

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal came and the run goes on: something swallowed it."""
        if self._arrived is not None and not self._ending:
            self._raise()

    @contextmanager
    def held(self) -> Iterator[None]:
        """A step that is done as a whole: a signal that comes meanwhile is heard at its end."""
        self._holding += 1
        try:
            yield
        finally:
            self._holding -= 1
        if not self._holding:
            self.check()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._arrived = signal.Signals(number)
        if not self._holding:
            self.check()

    def _raise(self) -> None:
        name, self._arrived = self._arrived.name, None
        raise KeyboardInterrupt(f"the run was ended by {name}")


INTERRUPTIONS = Interruptions()  # signals are a process's
