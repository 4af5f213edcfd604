"""What a case leaves behind: after every case the suite's own books are held against the kernel's.

What the kernel has and the suite does not know of was given back by a call that succeeded: the
driver kept it. What the suite's books have and no part of it holds any more, the suite forgot.
Cheap sources are read after every case: VmPin, the number of descriptors, and how many objects the
whole device has. The lists that say whose they are follow when one of those has moved.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol, TypeVar

from conformance.spec.vocabulary import PAGE
from rdma_conformance.endpoint.accounting import DeviceMappings, PinnedMemory
from rdma_conformance.endpoint.books import BOOKS, CONTEXT, WORDS, Books
from rdma_conformance.endpoint.descriptors import Descriptors
from rdma_conformance.endpoint.restrack import KINDS, ResourceLists

T = TypeVar("T")

DRIVER, SUITE = "driver", "suite"
EVERY = 64  # cases after which the lists are read although nothing has moved
SHARE = 20  # where others use the device, too: reading takes one part in so many of the time
PAGE_KB = PAGE // 1024
SETTLE_S = 0.5  # how long the kernel may take to let go of what a call has ended
FILES = "files"  # descriptors, counted as a kind
LISTS = tuple(kind for kind in KINDS if kind != CONTEXT)  # that come and go with a context


@dataclass(frozen=True, slots=True)
class Leftover:
    """`what` was left by DRIVER or SUITE, in the last of the `cases` performed or one before."""

    whose: str
    what: str
    cases: int = 1


@dataclass
class Surplus:
    """By how much the kernel has more of something than the suite's books: `usual` so far.

    `steady`: only what a driver keeps changes it. Else a provider has some of its own, how much
    depends on the queue pairs and the like: nothing is told over cases that made or ended such.
    `owed` has been told, with its sign: it may turn back at any time.
    """

    usual: int = 0
    turnover: int = 0
    steady: bool = True
    owed: int = 0

    def tells(self, turnover: int) -> bool:
        """Whether a change is one that the driver has to answer for."""
        return self.steady or turnover == self.turnover

    def as_usual(self, now: int, turnover: int) -> bool:
        """Whether there is nothing to tell: a driver may need a moment to come to that."""
        return now == self.usual or not self.tells(turnover)

    def growth(self, now: int, turnover: int) -> int:
        """What was added since it was asked last; from here on that is usual."""
        found = now - self.usual if self.tells(turnover) else 0
        self.usual, self.turnover = now, turnover
        before, self.owed = self.owed, self.owed + found
        if found * before >= 0:
            return found
        return self.owed if found * self.owed > 0 else 0


class Watched(Protocol):
    """An end of this process, by the name of its device."""

    name: str

    def kept(self) -> Counter[str]:
        """What it holds on purpose for later cases, by kind and as FILES."""

    def exercise(self) -> AbstractContextManager[None]:
        """Has one object of every sort open while it is entered."""


class Lists(Protocol):
    """See `restrack.ResourceLists`."""

    def everyone(self) -> Counter[str]: ...

    def own(self, kind: str) -> int: ...


def watch(ends: Sequence[Watched]) -> "Guard":
    """The guard of this process."""
    try:
        lists = ResourceLists(end.name for end in ends)
    except OSError as error:
        lists = error
    return Guard(BOOKS, ends, PinnedMemory().kilobytes, lists, DeviceMappings().count)


class Guard:
    """Watches over what the process has open, which is what `ends` made.

    `pinned` tells VmPin in kB, `mapped` how often device files are mapped. `lists` are the
    kernel's, or the reason why they can't be read.
    """

    def __init__(
        self,
        books: Books,
        ends: Sequence[Watched],
        pinned: Callable[[], int],
        lists: Lists | OSError,
        mapped: Callable[[], int],
    ):
        self._books = books
        self._ends = ends
        self._pinned_kb = books.pinned = pinned
        self._mapped_now = books.mapped = mapped
        self._refused: dict[str, str] = {}  # kinds of which the kernel tells nothing, and why
        self._listed: dict[str, Surplus] = {}
        self._lists = None if isinstance(lists, OSError) else lists
        if isinstance(lists, OSError):
            self._refused = dict.fromkeys(LISTS, lists.strerror or str(lists))
        self._meet()
        self._held, self._events = self._holding(), books.events
        self._descriptors = Descriptors(self._kept()[FILES])
        self._cases = 0  # since the lists were read
        self._moving = 0  # since the totals were last as when the lists were read
        self._found: list[Leftover] = []
        self._others = self._count_others()
        self._noisy = False
        self._read_at, self._cost_s = time.monotonic(), 0.0

    def _meet(self) -> None:
        """Learn of which kinds the kernel lists just what the suite has open."""
        for kind in LISTS if self._lists else ():
            try:
                self._lists.own(kind)
            except OSError as error:
                self._refused[kind] = error.strerror or str(error)
            else:
                self._listed[kind] = Surplus()
        pinned, mapped = self._unknown_kb(), self._unknown_maps()
        with ExitStack() as stack:
            for end in self._ends:
                stack.enter_context(end.exercise())
            busy = self._surpluses()
            self._reckoned = self._unknown_kb() == pinned
            # A library that has them for each can't come to have more for all at some later time.
            each = all(number > 0 for number in self._books.maps.values())
            each = each and self._unknown_maps() == mapped
        steady = self._reckoned and not self._books.pins_queues
        self._pinned = Surplus(self._unknown_kb(), self._pins_turnover(), steady)
        self._mapped = Surplus(self._unknown_maps(), self._books.turnover, each)
        for kind, surplus in self._surpluses().items():
            steady = surplus == busy[kind] == 0
            self._listed[kind] = Surplus(surplus, self._books.turnover, steady)

    def describe(self) -> str:
        """What is watched, and what is not, with the reason."""
        told = ["on"]
        for why in sorted(set(self._refused.values())):
            kinds = ", ".join(kind for kind in LISTS if self._refused.get(kind) == why)
            told.append(f"without the kernel's lists of {kinds} ({why})")
        unsteady = [kind for kind, each in self._listed.items() if not each.steady]
        unsteady += [] if self._pinned.steady else ["pinned memory"]
        unsteady += [] if self._mapped.steady else ["mappings"]
        if unsteady:
            told.append(
                f"{', '.join(unsteady)} only over cases that leave queue pairs and the like as "
                "they are, since the driver has some for those, too"
            )
        return ", ".join(told)

    def count(self, performed: int) -> None:
        """So many cases were performed."""
        self._cases += performed
        self._moving += performed

    def check(self, thorough: bool = False) -> list[Leftover]:
        """What the case that has just ended left, and where only lists tell it, those before.

        Each is told once, be it after an OSError: the kernel did not tell. With `thorough` the
        lists are read in any case.
        """
        self._found += [*self._forgotten(), *self._left_open(), *self._still_pinned()]
        moved = self._count_others() != self._others
        if not moved:
            self._moving = 0
        if thorough or self._found or self._cases >= EVERY or (moved and self._may_read()):
            # Where others use the device, too, the totals may have come back by their doing.
            alone = moved and not self._noisy
            more = self._still_listed((self._moving if alone else self._cases) or 1)
            self._noisy = moved and not more
            self._found += more
        found, self._found = self._found, []
        return found

    # What the suite left

    def _kept(self) -> Counter[str]:
        return sum((end.kept() for end in self._ends), Counter())

    def _holding(self) -> Counter[str]:
        """What the books have and no part of the suite answers for: by kind."""
        kept = self._kept()
        books = self._books
        return Counter(
            {kind: books.counts[kind] - books.refused[kind] - kept[kind] for kind in WORDS}
        )

    def _forgotten(self) -> list[Leftover]:
        """Objects. One that is ended late after all is told no second time."""
        if self._books.events == self._events:
            return []
        self._events = self._books.events
        before, self._held = self._held, self._holding()
        return [
            Leftover(SUITE, f"the suite forgot {_counted(grown, kind)}")
            for kind in WORDS
            if (grown := self._held[kind] - before[kind]) > 0
        ]

    def _left_open(self) -> list[Leftover]:
        """Files, pipes and the like, by what they lead to."""
        number, names = self._descriptors.left(self._kept()[FILES])
        if not number:
            return []
        what = f"the suite left {_plural(number, 'descriptor')} open: {', '.join(names)}"
        return [Leftover(SUITE, what)]

    # What the driver left

    def _still_pinned(self) -> list[Leftover]:
        self._pinned.steady &= not self._books.pins_queues
        turnover = self._pins_turnover()
        grown = self._pinned.growth(
            _settled(self._unknown_kb, lambda now: self._pinned.as_usual(now, turnover)),
            turnover,
        )
        pages = _plural(abs(grown) // PAGE_KB, "page")
        if grown > 0:
            return [Leftover(DRIVER, f"{pages} still pinned that no open region pinned")]
        if grown < 0:
            return [Leftover(DRIVER, f"{pages} no longer pinned of regions that are open")]
        return []

    def _pins_turnover(self) -> int:
        """Where regions do not pin what is reckoned, they are as other objects."""
        return self._books.turnover + (0 if self._reckoned else self._books.registered)

    def _unknown_kb(self) -> int:
        """What is pinned beside what is in the books."""
        return self._pinned_kb() - self._books.pinned_kb

    def _still_listed(self, cases: int) -> list[Leftover]:
        """By the kernel's lists; one of so many cases left it. From here on they have been read."""
        started = time.monotonic()
        turnover = self._books.turnover
        surpluses = _settled(
            self._surpluses,
            lambda now: all(
                each.as_usual(now[kind], turnover) for kind, each in self._listed.items()
            ),
        )
        others = self._count_others()  # nothing is settled before all is read
        found = []
        for kind, surplus in surpluses.items():
            grown = self._listed[kind].growth(surplus, turnover)
            if grown > 0:
                what = f"{_counted(grown, kind)} still in the kernel's list that had been ended"
                found.append(Leftover(DRIVER, what, cases))
            elif grown < 0:
                what = f"the suite has {_counted(-grown, kind)} open that the kernel does not list"
                found.append(Leftover(SUITE, what, cases))
        grown = self._mapped.growth(self._unknown_maps(), turnover)
        self._mapped.owed = max(self._mapped.owed, 0)  # fewer mappings are not told, so not owed
        if grown > 0:
            what = f"{_plural(grown, 'mapping')} of the device's file that no open object needs"
            found.append(Leftover(DRIVER, what, self._cases or 1))
        self._others, self._cases, self._moving = others, 0, 0
        self._read_at = time.monotonic()
        self._cost_s = self._read_at - started
        return found

    def _unknown_maps(self) -> int:
        """How often device files are mapped beside what is known of the library."""
        return self._mapped_now() - self._books.maps_of_sorts()

    def _surpluses(self) -> dict[str, int]:
        return {kind: self._lists.own(kind) - self._books.counts[kind] for kind in self._listed}

    def _count_others(self) -> dict[str, int]:
        """What the devices have beside what is in the books."""
        if self._lists is None:
            return {}
        everyone, mine = self._lists.everyone(), self._books.counts
        return {kind: everyone[kind] - mine[kind] for kind in self._listed}

    def _may_read(self) -> bool:
        """Whether to follow a change that may be another process's doing."""
        return not self._noisy or time.monotonic() - self._read_at > SHARE * self._cost_s


def _settled(measure: Callable[[], T], usual: Callable[[T], bool]) -> T:
    """What is measured, once it is as usual or had its time."""
    deadline = time.monotonic() + SETTLE_S
    while not usual(now := measure()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return now


def _counted(number: int, kind: str) -> str:
    return _plural(number, WORDS[kind])


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number > 1 else ''}"
