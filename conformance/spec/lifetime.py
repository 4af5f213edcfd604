"""What is asked of the end of registrations: cases, and the rule that each asks."""

from dataclasses import dataclass
from enum import StrEnum

from conformance.spec.vocabulary import Operation


class Side(StrEnum):
    """Whose region, and in which role, a work request needs."""

    REMOTE = "remote"  # the responder's, named by rkey
    LOCAL = "local"  # the requester's, named by lkey
    RECEIVE = "receive"  # the responder's, a posted receive


@dataclass(frozen=True, slots=True)
class Retired:
    """A work request needs a region that was deregistered; `ended` is off in the control.

    With `again` as many regions are then registered over the same memory and kept, so that the
    index of the old key comes round.
    """

    side: Side
    operation: Operation
    ended: bool = True
    again: int = 0

    @property
    def id(self) -> str:
        word = f"{self.side}-{self.operation}"
        if self.again:
            word += f"-registered:{self.again}"
        return word


class Busy(StrEnum):
    """What must not be ended while something depends on it: what depends on what."""

    WINDOW_1 = "region-with-type1-window"
    WINDOW_2 = "region-with-type2-window"
    DOMAIN_REGION = "domain-with-region"
    DOMAIN_WINDOW = "domain-with-window"
    DOMAIN_QUEUE_PAIR = "domain-with-queue-pair"


@dataclass(frozen=True, slots=True)
class InUse:
    """An object that is in use is to be ended, by the command itself; then in the right order."""

    what: Busy

    @property
    def id(self) -> str:
        return str(self.what)


class Handle(StrEnum):
    """Of what a handle is that is to be deregistered."""

    LIVE = "live"  # the control
    TWICE = "twice"  # it has been deregistered
    UNKNOWN = "unknown"
    DOMAIN = "domain"  # an object of another kind


@dataclass(frozen=True, slots=True)
class Handled:
    """The command DEREG_MR by handle."""

    handle: Handle

    @property
    def id(self) -> str:
        return str(self.handle)


class Wrong(StrEnum):
    """What happens to a region's memory while it is registered."""

    NOTHING = "nothing"  # the control
    UNMAPPED = "unmapped"
    MAPPED_OVER = "mapped-over"  # other memory at the same address
    DISCARDED = "discarded"  # MADV_DONTNEED: the process gets zero pages
    READ_ONLY = "read-only"  # mprotect() takes away the right to write


@dataclass(frozen=True, slots=True)
class WrongOrder:
    """The memory goes before the registration; an operation follows, then deregistration."""

    wrong: Wrong
    operation: Operation

    @property
    def id(self) -> str:
        return f"{self.wrong}-{self.operation}"


@dataclass(frozen=True, slots=True)
class Midway:
    """A region is deregistered while a large transfer is under way."""

    operation: Operation
    side: Side
    after_us: int  # from posting to deregistration, in microseconds

    @property
    def id(self) -> str:
        return f"{self.operation}-{self.side}-after:{self.after_us}us"


@dataclass(frozen=True, slots=True)
class Rounds:
    """So many registrations and deregistrations in the right order."""

    number: int

    @property
    def id(self) -> str:
        return str(self.number)


@dataclass(frozen=True, slots=True)
class ChildProcess:
    """A child is forked from a process with a region, and exits or is killed."""

    killed: bool

    @property
    def id(self) -> str:
        return "killed" if self.killed else "exits"


@dataclass(frozen=True, slots=True)
class Killed:
    """A process with regions is killed in the middle of its traffic; its peer goes on posting."""

    operation: Operation
    retries: int  # retry_cnt of the peer's queue pair: a number of times up to 7

    @property
    def id(self) -> str:
        return f"{self.operation}-retries:{self.retries}"


LifetimeCase = Retired | InUse | Handled | WrongOrder | Midway | Rounds | ChildProcess | Killed


def requirement(case: LifetimeCase) -> str:
    """The id of the rule that `case` asks."""
    match case:
        case Retired():
            if case.again:
                return "DEREG-KEY-REUSE"
            return "DEREG-RECEIVE" if case.side is Side.RECEIVE else "DEREG-KEY"
        case InUse():
            windows = (Busy.WINDOW_1, Busy.WINDOW_2)
            return "DEREG-WINDOW-BOUND" if case.what in windows else "DEALLOC-IN-USE"
    return _RULES[type(case)]


_RULES = {
    Handled: "DEREG-TWICE",
    WrongOrder: "DEREG-WRONG-ORDER",
    Midway: "DEREG-MIDWAY",
    Rounds: "DEREG-ROUNDS",
    ChildProcess: "DEREG-FORK",
    Killed: "DEREG-KILLED",
}
