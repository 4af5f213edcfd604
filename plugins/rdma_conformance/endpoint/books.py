"""What this process has open by the suite's own account, to be held against the kernel's.

Every verb that makes or ends an object notes it here. The object itself is kept meanwhile: what
the suite forgets stays open, and is seen, where a binding would end it at some later moment.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.spec.vocabulary import PAGE, Access

CONTEXT, DOMAIN, COMPLETION_QUEUE, QUEUE_PAIR = "ctx", "pd", "cq", "qp"
SHARED_QUEUE, REGION, WINDOW, MAPPING = "srq", "mr", "mw", "mapping"

WORDS = {
    CONTEXT: "device context",
    DOMAIN: "protection domain",
    COMPLETION_QUEUE: "completion queue",
    QUEUE_PAIR: "queue pair",
    SHARED_QUEUE: "shared receive queue",
    REGION: "memory region",
    WINDOW: "memory window",
    MAPPING: "mapping",
}

_NO_QUEUES = (REGION, MAPPING)


@dataclass(frozen=True, slots=True)
class Entry:
    """An open object: its kind, what making it pinned (VmPin, in kB), and the object.

    A library does the same for all of a `sort`. `refused`: the driver did not take it back, so that
    it is open by no fault of the suite.
    """

    kind: str
    made: Any
    pinned_kb: int = 0
    sort: str = ""
    refused: bool = False


@dataclass
class Books:
    """The open objects of one process.

    `pinned` tells its VmPin in kB, `mapped` how often it has the files of devices mapped.
    """

    pinned: Callable[[], int] = lambda: 0
    mapped: Callable[[], int] | None = None
    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    pinned_kb: int = 0  # by the objects that are open
    events: int = 0  # how often anything was made or ended so far
    turnover: int = 0  # objects of the device, regions apart, that were made or ended so far
    registered: int = 0  # regions that were made or ended so far
    pins_queues: bool = False  # whether the driver pins memory for anything but regions
    maps: dict[str, int] = field(default_factory=dict)  # by the library, for each of a sort
    sorts: Counter[str] = field(default_factory=Counter)  # of which the library has its half
    _open: dict[Any, Entry] = field(default_factory=dict)

    def opened(
        self, kind: str, made: Any, pinned_kb: int = 0, key: Any = None, sort: str = ""
    ) -> None:
        """An object was made, and is known by itself or by `key`, a tuple."""
        self._open[_key(made) if key is None else key] = Entry(kind, made, pinned_kb, sort)
        self.sorts[sort] += 1
        self.counts[kind] += 1
        self.pinned_kb += pinned_kb
        self._turned(kind)
        self.pins_queues |= kind not in _NO_QUEUES and pinned_kb != 0

    def region(self, made: Any, place: tuple[int, int, int], key: Any = None) -> None:
        """Memory was registered: `place` is its address, length in bytes, and access.

        What that pins is reckoned, as drivers have it from the kernel: to measure it would cost as
        much as to register.
        """
        address, length, access = place
        pages = 0
        if not access & Access.ON_DEMAND:
            pages = -(-(address % PAGE + length) // PAGE)
        self.opened(REGION, made, pages * PAGE // 1024, key)

    @contextmanager
    def opening(self, kind: str, sort: str = "") -> Iterator[Callable[..., None]]:
        """Around a call that makes an object: hand what it made, or its key, to what this gives.

        A call that fails makes none, and what it pins is nobody's. How much a library maps for an
        object is looked at for the first one of its sort: it costs as much as to make one.
        """
        before = self.pinned()
        new = bool(sort) and self.mapped is not None and sort not in self.maps
        mapped = self.mapped() if new else 0

        def opened(made: Any, key: Any = None) -> None:
            self.opened(kind, made, self.pinned() - before, key, sort)
            if new:
                self.maps[sort] = self.mapped() - mapped

        yield opened

    @contextmanager
    def changing(self, made: Any) -> Iterator[None]:
        """Around a call that makes an object pin other memory, if it succeeds."""
        before = self.pinned()
        yield
        if (entry := self._open.get(_key(made))) is not None:
            change = self.pinned() - before
            self._open[_key(made)] = replace(entry, pinned_kb=entry.pinned_kb + change)
            self.pinned_kb += change

    def closed(self, made: Any) -> None:
        """An object, or the one with that key, was ended."""
        entry = self._open.pop(_key(made), None)
        if entry is None:  # the kernel was asked to end what is not the suite's
            return
        self.counts[entry.kind] -= 1
        self.sorts[entry.sort] -= 1
        self.refused[entry.kind] -= entry.refused
        self.pinned_kb -= entry.pinned_kb
        self._turned(entry.kind)

    def maps_of_sorts(self) -> int:
        """How often libraries have device files mapped for what they have, as far as is known."""
        return sum(number * self.sorts[sort] for sort, number in self.maps.items())

    def _turned(self, kind: str) -> None:
        self.events += 1
        self.turnover += kind not in _NO_QUEUES
        self.registered += kind == REGION

    def ended_without_library(self, made: Any) -> None:
        """An object was ended in the kernel alone: the library's half of it stays."""
        entry = self._open[_key(made)]
        self.closed(made)
        self.sorts[entry.sort] += 1

    def stayed(self, made: Any) -> None:
        """The driver refused to end an object: it stays open."""
        entry = self._open.get(_key(made))
        if entry is not None and not entry.refused:
            self._open[_key(made)] = replace(entry, refused=True)
            self.refused[entry.kind] += 1
            self.events += 1

    @contextmanager
    def closing(self, made: Any) -> Iterator[None]:
        """Around a call that ends an object: by its exception it is known to have stayed."""
        try:
            yield
        except BaseException:
            self.stayed(made)
            raise
        self.closed(made)


def _key(made: Any) -> Any:
    """What an object is known by: a tuple is a key already."""
    return made if isinstance(made, tuple) else id(made)


BOOKS = Books()  # as the kernel's books, they are the process's
