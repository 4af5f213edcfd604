"""Cases of what pinned memory costs a process, and the oracle that keeps the kernel's books.

The books: Documentation/infiniband/user_verbs.rst and drivers/infiniband/core/umem.c. Every
registration counts the pages that it touches, again for the same pages, in units of PAGE; without
CAP_IPC_LOCK the sum stays within RLIMIT_MEMLOCK, rounded down to pages.
"""

from dataclasses import dataclass
from enum import StrEnum

from conformance.spec.buffer import Backing
from conformance.spec.vocabulary import PAGE, Access


class About(StrEnum):
    """The rule that a program of steps asks; the value is the requirement's id."""

    LIMIT = "MEM-LIMIT"
    PAGES = "MEM-PAGES"
    AGAIN = "MEM-COUNTED-AGAIN"
    RETURNED = "MEM-RETURNED"
    UNLIMITED = "MEM-UNLIMITED"
    TOO_LOW = "MEM-TOO-LOW"
    ON_DEMAND = "MEM-ON-DEMAND"
    LOWERED = "MEM-LOWERED"


class Do(StrEnum):
    REGISTER = "register"
    DEREGISTER = "deregister"
    LIMIT = "limit"
    CLOSE = "close"  # the device, with all that is registered, and open it again


@dataclass(frozen=True, slots=True)
class Step:
    """REGISTER `length` bytes at `offset` of `backing`, of fresh memory or of the first step's;
    DEREGISTER what the step number `which` registered; LIMIT to `length` bytes."""

    do: Do = Do.REGISTER
    length: int = PAGE
    offset: int = 0
    backing: Backing = Backing.ANONYMOUS
    same: bool = False
    which: int = 0
    access: int = Access.LOCAL_WRITE


@dataclass(frozen=True, slots=True)
class Memlock:
    """`steps` in a process of its own whose RLIMIT_MEMLOCK is `limit` bytes (None: none).

    `capable`: it has CAP_IPC_LOCK.
    """

    about: About
    name: str
    limit: int | None
    steps: tuple[Step, ...]
    capable: bool = False

    @property
    def id(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Contention:
    """`threads` of one process register a page each, `rounds` times, at a limit of `pages`."""

    threads: int
    pages: int
    rounds: int = 25

    @property
    def id(self) -> str:
        return f"threads:{self.threads}-pages:{self.pages}"


@dataclass(frozen=True, slots=True)
class LiveUnderLimit:
    """A process's limit is set to `limit` bytes, below what it has pinned; it has both ends.

    A new registration is refused, a region that lives carries data both ways, and after the limit
    is restored a registration succeeds.
    """

    limit: int

    @property
    def id(self) -> str:
        return f"limit:{self.limit}"


class Way(StrEnum):
    """How a process ends that has regions."""

    EXIT = "exit"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class Ending:
    """A process with `regions` live regions ends in that way."""

    way: Way
    regions: int

    @property
    def id(self) -> str:
        return f"{self.way}-regions:{self.regions}"


def pages(step: Step) -> int:
    """The pages of PAGE bytes that a registration touches."""
    return -(-(step.offset % PAGE + step.length) // PAGE)


def books(case: Memlock) -> tuple[list[str], list[int]]:
    """What each step returns, and how many kB are pinned after it."""
    limit, pinned = case.limit, 0
    live: dict[int, int] = {}
    results, after = [], []
    for number, step in enumerate(case.steps):
        result = "OK"
        if step.do is Do.LIMIT:
            limit = step.length
        elif step.do is Do.DEREGISTER:
            pinned -= live.pop(step.which)
        elif step.do is Do.CLOSE:
            pinned, live = 0, {}
        else:
            result = _registering(case, step, limit, pinned)
            if result == "OK" and not step.access & Access.ON_DEMAND:
                live[number] = pages(step)
                pinned += pages(step)
            elif result == "OK":
                live[number] = 0
        results.append(result)
        after.append(pinned * PAGE // 1024)
    return results, after


def _registering(case: Memlock, step: Step, limit: int | None, pinned: int) -> str:
    if step.access & Access.ON_DEMAND:
        return "OK"
    if limit is not None and not case.capable:
        if limit == 0:
            return "EPERM"
        if pinned + pages(step) > limit // PAGE:
            return "ENOMEM"
    return "EFAULT" if step.backing is Backing.UNMAPPED else "OK"
