"""Joins the guest's streams, signals and exit status to those of this process."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import termios
import time
import tty
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rdma_lab.endmark import EndMarkedStream
from rdma_lab.errors import GuestDied, LabError
from rdma_lab.job import Stream
from rdma_lab.silence import LOOK_SECONDS, Silence

GRACE_SECONDS = 10.0
TIMED_OUT = 124
_CHUNK = 1 << 16
_FORWARDED = {signal.SIGINT: "INT", signal.SIGTERM: "TERM", signal.SIGHUP: "HUP"}


@dataclass(frozen=True)
class Limits:
    """Seconds: until the guest is up, for the whole guest, without a sign of life (None: any)."""

    boot: float
    total: float | None
    silence: float | None


@dataclass(frozen=True)
class Ended:
    """How a guest's command ended: its exit status.

    ``stopped``: who started the lab, or --timeout, wanted an end, so that nothing comes after it.
    """

    status: int
    stopped: bool = False


@dataclass(frozen=True)
class HostEnds:
    """This process's ends of the guest's streams."""

    terminal: socket.socket
    control: socket.socket
    stdin: socket.socket
    stdout: socket.socket
    stderr: socket.socket


class Relay:
    """Runs one guest to its end. ``say`` prints a line of the lab's own."""

    def __init__(
        self,
        ends: HostEnds,
        *,
        process: int,
        streams: dict[str, Stream],
        mark: str,
        limits: Limits,
        say: Callable[[str], None],
    ) -> None:
        self._ends, self._process, self._streams = ends, process, streams
        self._limits, self._started = limits, time.monotonic()
        self._selector = selectors.DefaultSelector()
        self._control = b""
        raw = streams["stdin"] is Stream.TERMINAL
        self._say = (lambda line: say(line + "\r")) if raw else say
        self._status: int | None = None
        self._up = self._gone = False
        self._interrupted: int | None = None
        self._deadline = self._started + limits.boot
        self._silence = Silence(self._started)
        self._outputs = {
            name: EndMarkedStream(mark.encode()) for name in ("stdout", "stderr", "terminal")
        }

    def run(self) -> Ended:
        """How the command ended. Raises LabError when the guest ends without an exit status.

        A guest that dies after it was interrupted has the status 128 + signal: that was its end.
        """
        with self._signals() as wakeups, self._raw_terminal():
            self._register(wakeups)
            while not self._finished():
                left = self._deadline - time.monotonic()
                for key, _ in self._selector.select(min(max(left, 0), LOOK_SECONDS)):
                    key.data(key.fileobj)
                if time.monotonic() >= self._deadline:
                    return self._expired()
                try:
                    self._listen()
                    if self._gone:
                        return self._ended(self._ended_early())
                except GuestDied as death:
                    if self._interrupted is None:
                        raise
                    self._say(f"{death}, after it was told to end")
                    return self._ended(128 + self._interrupted)
        if self._status is None:
            raise LabError("the guest closed its output without an exit status")
        return self._ended(self._status)

    def _ended(self, status: int) -> Ended:
        return Ended(status, stopped=self._interrupted is not None)

    def _listen(self) -> None:
        """Raise GuestDied when the guest, once up, has been silent for too long."""
        seconds = self._silence.look(time.monotonic())
        bound = self._limits.silence
        if self._up and self._status is None and bound is not None and seconds >= bound:
            raise GuestDied(
                f"the guest has shown no sign of life for {bound:g} s",
                guilty=not is_stopped(self._process),
            )

    def _finished(self) -> bool:
        ended = all(stream.ended for stream in self._outputs.values())
        return self._status is not None and ended

    def _register(self, wakeups: socket.socket) -> None:
        select = self._selector
        select.register(wakeups, selectors.EVENT_READ, self._signalled)
        select.register(os.pidfd_open(self._process), selectors.EVENT_READ, self._guest_gone)
        select.register(self._ends.control, selectors.EVENT_READ, self._controlled)
        for name in self._outputs:
            end = getattr(self._ends, name)
            select.register(end, selectors.EVENT_READ, lambda end, name=name: self._out(end, name))
        if self._streams["stdin"] is not Stream.NOTHING:
            os.set_blocking(0, True)
            # Epoll refuses a regular file, which is always ready: then it is sent as it is.
            with contextlib.suppress(PermissionError):
                select.register(0, selectors.EVENT_READ, self._stdin_ready)
                return
            self._send_file()

    def _out(self, end: socket.socket, name: str) -> None:
        data = end.recv(_CHUNK)
        if data:
            self._silence.broken(time.monotonic())
        else:
            self._selector.unregister(end)
        output = self._outputs[name].feed(data)
        target = 2 if name == "stderr" or self._streams["stdout"] is not Stream.TERMINAL else 1
        if name == "stdout":
            target = 1
        _write_all(target, output)

    def _controlled(self, end: socket.socket) -> None:
        data = end.recv(_CHUNK)
        if not data:
            self._selector.unregister(end)
        self._silence.broken(time.monotonic())
        *lines, self._control = (self._control + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").strip().partition(" ")
            if word == "up":
                self._up = True
                total = self._limits.total
                self._deadline = self._started + total if total else float("inf")
                self._say(f"up after {time.monotonic() - self._started:.1f} s")
            elif word == "exit":
                self._status = int(rest)
            elif word == "failed":
                raise LabError(f"the guest could not be set up: {rest}")

    def _stdin_ready(self, _: int) -> None:
        data = os.read(0, _CHUNK)
        target = self._ends.stdin
        if self._streams["stdin"] is Stream.TERMINAL:
            target = self._ends.terminal
        if data:
            target.sendall(data)
            return
        self._selector.unregister(0)
        if target is self._ends.stdin:
            target.shutdown(socket.SHUT_WR)

    def _send_file(self) -> None:
        while data := os.read(0, _CHUNK):
            self._ends.stdin.sendall(data)
        self._ends.stdin.shutdown(socket.SHUT_WR)

    def _signalled(self, wakeups: socket.socket) -> None:
        for number in wakeups.recv(_CHUNK):
            if number == signal.SIGWINCH:
                rows, columns = window_size()
                self._order(f"window {rows} {columns}")
            elif number in _FORWARDED:
                self._interrupt(number)

    def _interrupt(self, number: int) -> None:
        if self._interrupted is not None or not self._up:
            self._interrupted = self._interrupted or number
            self._deadline = time.monotonic()
            return
        self._interrupted = number
        self._deadline = min(self._deadline, time.monotonic() + GRACE_SECONDS)
        self._order(f"signal {_FORWARDED[number]}")

    def _order(self, line: str) -> None:
        with contextlib.suppress(OSError):
            self._ends.control.sendall(line.encode() + b"\n")

    def _expired(self) -> Ended:
        """What an expired deadline means. Raises LabError for a guest that is not up by then."""
        if self._interrupted is not None:
            self._say("the guest is powered off before its command has ended")
            return self._ended(128 + self._interrupted)
        if not self._up:
            raise LabError(f"the guest was not up after {self._limits.boot:.0f} s")
        self._say("the guest is powered off: the time of --timeout is over")
        return Ended(TIMED_OUT, stopped=True)

    def _guest_gone(self, pidfd: int) -> None:
        self._selector.unregister(pidfd)
        self._gone = True

    def _ended_early(self) -> int:
        for name in self._outputs:
            end = getattr(self._ends, name)
            end.setblocking(False)
            with contextlib.suppress(OSError, KeyError, ValueError):
                while not self._outputs[name].ended:
                    self._out(end, name)
        if self._status is None:
            raise GuestDied("the guest stopped without an exit status", guilty=True)
        return self._status

    @contextlib.contextmanager
    def _signals(self) -> Iterator[socket.socket]:
        """A socket that gets one byte for each signal, its number."""
        receiving, sending = socket.socketpair()
        sending.setblocking(False)
        before_fd = signal.set_wakeup_fd(sending.fileno(), warn_on_full_buffer=False)
        numbers = (*_FORWARDED, signal.SIGWINCH)
        before = {number: signal.signal(number, lambda *_: None) for number in numbers}
        try:
            yield receiving
        finally:
            signal.set_wakeup_fd(before_fd)
            for number, handler in before.items():
                signal.signal(number, handler)
            receiving.close()
            sending.close()

    @contextlib.contextmanager
    def _raw_terminal(self) -> Iterator[None]:
        """Raw mode while the guest's terminal has the keyboard."""
        if self._streams["stdin"] is not Stream.TERMINAL:
            yield
            return
        before = termios.tcgetattr(0)
        tty.setraw(0)
        try:
            yield
        finally:
            termios.tcsetattr(0, termios.TCSADRAIN, before)


def is_stopped(process: int) -> bool:
    """Whether somebody has stopped a process, by its id: proc(5), stat."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] in "Tt"


def window_size() -> tuple[int, int]:
    """Rows and columns of the terminal that a standard stream is, else 24 and 80."""
    for number in (1, 2, 0):
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(number)
            return size.lines, size.columns
    return 24, 80


def _write_all(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]
