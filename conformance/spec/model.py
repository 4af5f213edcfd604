"""What is asked and what is answered, as plain frozen data.

A case says what is asked of the driver, an `Expectation` which answers the rules allow, and an
observation (a mapping from the name of a fact to a JSON value) what the driver answered.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, StrEnum
from typing import Any, Protocol

from conformance.spec.vocabulary import Access, Operation, Transport, Verdict, short

PAGE = 4096
GUARD = 64  # bytes before and after every region that no operation may touch

ALL_RIGHTS = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC

Observation = Mapping[str, Any]


class Domain(StrEnum):
    """The protection domain of a region: that of the queue pair, or another of the device."""

    OWN = "own"
    OTHER = "other"


class Placement(StrEnum):
    """Where a FLUSH has to bring the data: global visibility, or persistence."""

    GLOBAL = "global"
    PERSISTENT = "persistent"


class Key(StrEnum):
    """Which key a work request carries."""

    OWN = "own"  # the key of the region that is meant
    ZERO = "zero"
    DEREGISTERED = "deregistered"  # of a registration of the same memory that has ended


@dataclass(frozen=True, slots=True)
class Region:
    """A memory region of one side: `length` bytes from `page_offset` bytes into a page."""

    access: Access
    length: int = PAGE
    page_offset: int = 0
    domain: Domain = Domain.OWN


@dataclass(frozen=True, slots=True)
class Transfer:
    """One work request, posted by the requester on a connected pair of queue pairs.

    `length` is in bytes (8 for atomics); the offsets count from the first byte of the region.
    The FLUSH_* rights count among those of `remote` and `qp_access`.
    """

    operation: Operation
    transport: Transport = Transport.RC
    length: int = 64
    local: Region = Region(Access.LOCAL_WRITE)  # the requester's source or sink
    remote: Region = Region(ALL_RIGHTS)  # the responder's region named by rkey
    receive: Region = Region(Access.LOCAL_WRITE)  # the responder's receive buffer
    local_offset: int = 0
    remote_offset: int = 0
    lkey: Key = Key.OWN
    rkey: Key = Key.OWN
    rkey_xor: int = 0  # bits of the key that are inverted: the low 8 are the key byte
    qp_access: Access = ALL_RIGHTS  # of the responder's queue pair
    placement: Placement = Placement.GLOBAL  # of a FLUSH
    await_event: bool = False  # wait for the responder's asynchronous event

    @property
    def id(self) -> str:
        word = str(self.operation)
        if self.operation is Operation.FLUSH:
            word += f"_{self.placement}"
        word += f"-region:{short(self.remote.access)}"
        if self.remote.page_offset or self.remote.length != PAGE:
            word += f"-{self.remote.length}@{self.remote.page_offset}"
        word += f"-qp:{short(self.qp_access)}"
        if Access.LOCAL_WRITE not in self.local.access:
            word += f"-local:{short(self.local.access)}"
        if self.length == 0:
            word += "-length:0"
        if self.rkey is not Key.OWN:
            word += f"-key:{self.rkey}"
        if self.rkey_xor:
            word += f"-key:xor{self.rkey_xor:02x}"
        if self.remote.domain is not Domain.OWN:
            word += f"-domain:{self.remote.domain}"
        if self.remote_offset:
            word += f"-at:{self.remote_offset}"
        return word


@dataclass(frozen=True, slots=True)
class Registration:
    """One ibv_reg_mr() of `length` bytes from `page_offset` bytes into a page."""

    access: int
    length: int = PAGE
    page_offset: int = 0

    @property
    def id(self) -> str:
        return short(self.access)


class Asked(Protocol):
    """What every kind of case has. Kinds are frozen dataclasses; the oracle knows them all."""

    @property
    def id(self) -> str: ...


Case = Asked


def wire(case: Case) -> dict[str, Any]:
    """The case as builtin types, for the endpoint worker and the run file."""
    return {"kind": type(case).__name__.lower(), **plain(case)}


def plain(value: Any) -> Any:
    """A value as builtin types: enumerations by their values, dataclasses as dictionaries."""
    if isinstance(value, Enum):
        return value.value if isinstance(value, StrEnum) else int(value)
    if hasattr(value, "__dataclass_fields__"):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return value


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer that the rules allow: for each named fact the values it may take.

    `verdict` is what a run records when this outcome is met: PASS, NOT_SUPPORTED for a
    clean refusal of what the device does not claim, NOTE for implementation-defined ones.
    """

    name: str
    facts: Mapping[str, tuple[Any, ...]]
    verdict: Verdict = Verdict.PASS


@dataclass(frozen=True, slots=True)
class Expectation:
    """All answers allowed to one case. `control` must be met first, or the case is an ERROR.

    `unclaimed` says which capability is missing and how that was probed: then nothing is asked.
    """

    requirement: str
    outcomes: tuple[Outcome, ...]
    control: Case | None = None
    unclaimed: str | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the device claims. `claims` maps a capability to how it was probed.

    Names: atomic, memory_window, memory_window_type_1, _type_2 and _type_2b, odp, odp_implicit,
    odp_rc_<operation> (also odp_rc_receive), flush_global, flush_persistent, atomic_write. Seen by
    trying are advise_mr, ibv_rereg_mr and rereg_<change> (whether verb or command is there), and
    persistent_region and persistent_odp_region (whether ordinary memory may be registered with
    FLUSH_PERSISTENT, without and with ON_DEMAND).
    A capability that is not a key of `claims` is not claimed; `denials` then says how that was
    probed.
    """

    claims: Mapping[str, str] = field(default_factory=dict)
    denials: Mapping[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return name in self.claims

    def why_not(self, name: str) -> str:
        return self.denials.get(name, f"{name} is not reported by the device")


__all__ = [
    "ALL_RIGHTS",
    "GUARD",
    "PAGE",
    "Capabilities",
    "Case",
    "Domain",
    "Expectation",
    "Key",
    "Observation",
    "Outcome",
    "Placement",
    "Region",
    "Registration",
    "Transfer",
    "plain",
    "replace",
    "wire",
]
