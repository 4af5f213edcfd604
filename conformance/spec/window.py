"""What is asked of memory windows: cases, and the rule that each asks."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from conformance.spec.model import ALL_RIGHTS, PAGE
from conformance.spec.vocabulary import Access, Operation, short

START, EXTENT = 512, 1024  # bytes of the region that a window of the suites covers
ELSEWHERE = 2048  # where a window is bound the second time
FAR = 1 << 30


class Domain(StrEnum):
    """The protection domain of the queue pair, or another one of the device."""

    OWN = "own"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Region:
    """A memory region of `domain`: `length` bytes from `page_offset` bytes into a page."""

    access: int
    length: int = PAGE
    page_offset: int = 0
    domain: Domain = Domain.OWN


BINDABLE = Region(ALL_RIGHTS | Access.MW_BIND)
WINDOW_RIGHTS = Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC
NEEDS_LOCAL_WRITE = Access.REMOTE_WRITE | Access.REMOTE_ATOMIC


class WindowType(IntEnum):
    """ibv_mw_type."""

    TYPE_1 = 1  # bound by ibv_bind_mw()
    TYPE_2 = 2  # bound by a work request, to one queue pair


class Ending(StrEnum):
    """What happens to a window between its binding and its use."""

    NONE = "none"
    NEVER_BOUND = "never-bound"
    UNBOUND = "unbound"  # type 1: bound with length 0
    MOVED = "moved"  # bound to another place while it is bound
    INVALIDATED = "invalidated"  # type 2: LOCAL_INV
    INVALIDATED_BY_PEER = "invalidated-by-peer"  # type 2: SEND_WITH_INV
    BOUND_AGAIN = "bound-again"  # type 2: LOCAL_INV, then bound to another place
    DEALLOCATED = "deallocated"
    QUEUE_PAIR_DESTROYED = "queue-pair-destroyed"


class Through(StrEnum):
    """The responder's queue pair by which a window is used or invalidated."""

    BOUND = "bound"  # the one that bound it
    OTHER = "other"  # another one of the same protection domain
    FOREIGN = "foreign"  # one of another protection domain


@dataclass(frozen=True, slots=True)
class Window:
    """A window is allocated, bound, perhaps ended, and named by a remote operation.

    `start`, `extent` say in bytes what part of the region it covers, `at` where the operation
    starts, from the window's first byte.
    """

    type: WindowType
    operation: Operation = Operation.WRITE
    rights: Access = WINDOW_RIGHTS
    region: Region = BINDABLE
    domain: Domain = Domain.OWN  # of the window
    start: int = START
    extent: int = EXTENT
    ending: Ending = Ending.NONE
    key_xor: int = 1  # type 2: how the bound key's byte differs from the allocated one
    old_key: bool = False  # use the key that the window had before it was bound (last)
    rkey_xor: int = 0  # bits of the used key that are inverted
    at: int = 0
    by_address: bool = False  # name a zero-based window by its virtual address
    through: Through = Through.BOUND

    @property
    def id(self) -> str:
        word = f"type{int(self.type)}-{self.operation}-rights:{short(self.rights)}"
        if self.region.access != BINDABLE.access:
            word += f"-region:{short(self.region.access)}"
        if (self.start, self.extent) != (START, EXTENT):
            word += f"-{self.extent}@{self.start}"
        for name, domain in (("region", self.region.domain), ("window", self.domain)):
            if domain is not Domain.OWN:
                word += f"-{name}-domain:{domain}"
        if self.ending is not Ending.NONE:
            word += f"-{self.ending}"
        if self.key_xor != 1:
            word += f"-bound:xor{self.key_xor:02x}"
        if self.old_key:
            word += "-key:old"
        if self.rkey_xor:
            word += f"-key:xor{self.rkey_xor:02x}"
        if self.at:
            word += f"-at:{self.at}"
        if self.by_address:
            word += "-by-address"
        if self.through is not Through.BOUND:
            word += f"-through:{self.through}"
        return word


class Fault(StrEnum):
    """Why an invalidation must not succeed."""

    NONE = "none"
    OTHER_BYTE = "other-byte"  # the key's last byte is not the window's
    OTHER_INDEX = "other-index"
    TYPE_1 = "type1"  # such windows are unbound, not invalidated
    REGION = "region"  # an ordinary region's key
    QUEUE_PAIR = "queue-pair"  # of the same protection domain, but not the one that bound it
    DOMAIN = "domain"  # a queue pair of another protection domain
    NEVER_BOUND = "never-bound"


@dataclass(frozen=True, slots=True)
class Invalidation:
    """A key is invalidated, by its owner (LOCAL_INV) or the peer (SEND_WITH_INV)."""

    by_peer: bool
    fault: Fault

    @property
    def id(self) -> str:
        return f"{'send_with_inv' if self.by_peer else 'local_inv'}-{self.fault}"


@dataclass(frozen=True, slots=True)
class Allocation:
    """ibv_alloc_mw() of a type by its number."""

    number: int

    @property
    def id(self) -> str:
        return f"type:{self.number}"


@dataclass(frozen=True, slots=True)
class WrongCall:
    """A window is bound by the call that is for windows of the other type."""

    type: WindowType

    @property
    def id(self) -> str:
        return f"type{int(self.type)}"


@dataclass(frozen=True, slots=True)
class LentMidway:
    """A window is ended while a large WRITE through it is under way; never ended in the control."""

    type: WindowType
    ending: Ending

    @property
    def id(self) -> str:
        return f"type{int(self.type)}-{self.ending}"


WindowCase = Window | Invalidation | Allocation | WrongCall | LentMidway


def requirement(case: WindowCase) -> str:
    """The id of the rule that `case` asks."""
    match case:
        case Allocation():
            return "MW-ALLOC"
        case WrongCall():
            return "MW-BIND-CALL"
        case LentMidway():
            return "MW-TRAFFIC"
        case Invalidation():
            unbound = case.fault is Fault.NEVER_BOUND
            return "MW-INVALIDATE-UNBOUND" if unbound else "MW-INVALIDATE"
    asked = {
        "MW-ALLOC": case.ending is Ending.NEVER_BOUND,
        "MW-QP-DESTROYED": case.ending is Ending.QUEUE_PAIR_DESTROYED,
        "MW-REBIND": case.ending in (Ending.MOVED, Ending.BOUND_AGAIN),
        "MW-END": case.ending is not Ending.NONE,
        "MW-ACCESS-BITS": other_bits(case.rights),
        "MW-DOMAIN": Domain.OTHER in (case.domain, case.region.domain),
        "MW-BIND-RANGE": not inside(case) or (case.start, case.extent) != (START, EXTENT),
        "MW-BIND-RIGHT": not bindable(case) or case.region.access != BINDABLE.access,
        "MW-ZERO-BASED": case.rights & Access.ZERO_BASED,
        "MW-QUEUE-PAIR": case.through is not Through.BOUND,
        "MW-KEY": case.key_xor != 1 or case.old_key or case.rkey_xor,
        "MW-RANGE": case.at,
    }
    return next((name for name, is_asked in asked.items() if is_asked), "MW-RIGHT")


def other_bits(rights: int) -> int:
    """The bits of `rights` that are no right of a window (an IntFlag's ~ knows only its own)."""
    return int(rights) & ~int(WINDOW_RIGHTS | Access.ZERO_BASED)


def inside(case: Window) -> bool:
    """Whether the window covers at least one byte, and none outside of its region."""
    return case.extent > 0 and 0 <= case.start <= case.region.length - case.extent


def bindable(case: Window) -> bool:
    """Whether the region's access lets a window of these rights be bound to it."""
    access = case.region.access
    writing = case.rights & NEEDS_LOCAL_WRITE
    return Access.MW_BIND in access and (not writing or Access.LOCAL_WRITE in access)


__all__ = [
    "BINDABLE",
    "ELSEWHERE",
    "EXTENT",
    "FAR",
    "PAGE",
    "START",
    "WINDOW_RIGHTS",
    "Allocation",
    "Ending",
    "Fault",
    "Invalidation",
    "LentMidway",
    "Through",
    "Window",
    "WindowCase",
    "WindowType",
    "WrongCall",
    "bindable",
    "inside",
    "other_bits",
    "requirement",
]
