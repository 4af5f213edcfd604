"""What is asked and what is answered, as plain frozen data.

A case says what is asked of the driver, an `Expectation` which answers the rules allow, and an
observation (a mapping from the name of a fact to a JSON value) what the driver answered.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, StrEnum
from typing import Any, Protocol

from conformance.spec.buffer import BufferRegistration
from conformance.spec.memlock import Contention, Ending, LiveUnderLimit, Memlock
from conformance.spec.operations import ALL_RIGHTS, EIGHT_BYTES, Placement, full_rights
from conformance.spec.vocabulary import PAGE, Access, Operation, Transport, Verdict, short

GUARD = 64  # bytes before and after every region that no operation may touch

Observation = Mapping[str, Any]


class Key(StrEnum):
    """Which key names the memory that is meant: that of the region, or another one."""

    OWN = "own"
    ZERO = "zero"
    # of other registrations of the same memory: one that has ended, one in another protection
    # domain of the device, one without any right
    DEREGISTERED = "deregistered"
    OTHER_DOMAIN = "other_domain"
    NO_RIGHTS = "no_rights"
    # of other memory: of the region that begins where the one that is meant ends, and of a region
    # of the device at the other end
    NEIGHBOUR = "neighbour"
    FOREIGN = "foreign"


class Operand(StrEnum):
    """What an atomic operation carries."""

    PLAIN = "plain"  # a compare that matches, an addend that carries nothing
    MISS_FIRST = "miss_first"  # a compare that differs in the first bit in memory, in the last
    MISS_LAST = "miss_last"
    WRAP = "wrap"  # the addend that makes the sum 2^64, so that 0 is left


class Posted(StrEnum):
    """When the responder posts its receives."""

    BEFORE = "before"
    LATE = "late"  # after the request came and was answered by "receiver not ready"
    NEVER = "never"  # and the requester tries again once only


class Topology(StrEnum):
    """Between the two devices of the fabric, or from the requester's device to itself."""

    PEERS = "peers"
    LOOPBACK = "loopback"


@dataclass(frozen=True, slots=True)
class Region:
    """A memory region of one side: `length` bytes from `page_offset` bytes into a page.

    `iova` is the number by which its first byte is addressed, instead of its virtual address;
    `by_address`: work requests name the virtual address all the same.
    """

    access: Access
    length: int = PAGE
    page_offset: int = 0
    iova: int | None = None
    by_address: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """One entry of a scatter/gather list: `length` bytes at `offset` from its region's first byte.

    With `address` the entry starts there instead, wherever the region lies.
    """

    length: int
    offset: int = 0
    key: Key = Key.OWN
    key_xor: int = 0  # bits of the key that are inverted: the low 8 are the key byte
    address: int | None = None

    @property
    def id(self) -> str:
        word = f"{self.length}@{self.offset if self.address is None else hex(self.address)}"
        if self.key is not Key.OWN:
            word += f"/{self.key}"
        return f"{word}/xor{self.key_xor:02x}" if self.key_xor else word


@dataclass(frozen=True, slots=True)
class Transfer:
    """One work request, posted by the requester on a connected pair of queue pairs.

    `length` is in bytes (8 for atomics); offsets count from the first byte of the region. The
    FLUSH_* rights count among those of `remote` and `qp_access`. An empty scatter/gather list
    stands for one entry: the first `length` bytes of `local`, all bytes of `receive`.
    """

    operation: Operation
    transport: Transport = Transport.RC
    length: int = 64
    local: Region = Region(Access.LOCAL_WRITE)  # the requester's source or sink
    local_sgl: tuple[Segment, ...] = ()
    inline: bool = False  # the data is copied when it is posted (IBV_SEND_INLINE)
    remote: Region = Region(ALL_RIGHTS)  # the responder's region named by rkey
    remote_offset: int = 0
    remote_address: int | None = None  # instead of an offset
    rkey: Key = Key.OWN
    rkey_xor: int = 0  # as in Segment
    receive: Region = Region(Access.LOCAL_WRITE)  # the responder's receive buffer
    receive_sgl: tuple[Segment, ...] = ()
    shared: bool = False  # the receives are posted to a shared receive queue
    posted: Posted = Posted.BEFORE
    qp_access: Access = ALL_RIGHTS  # of the responder's queue pair
    operand: Operand = Operand.PLAIN
    placement: Placement = Placement.GLOBAL  # of a FLUSH
    topology: Topology = Topology.PEERS
    await_event: bool = False  # wait for the responder's asynchronous event
    recover: bool = False  # after the refusal ask the control again, on new queue pairs

    @property
    def local_segments(self) -> tuple[Segment, ...]:
        return self.local_sgl or (Segment(self.length),)

    @property
    def receive_segments(self) -> tuple[Segment, ...]:
        return self.receive_sgl or (Segment(self.receive.length),)

    @property
    def id(self) -> str:
        return "-".join(_words(self))


def _words(case: Transfer) -> Iterator[str]:
    """The parts of a transfer's id: the operation, then all that is not as usual."""
    flush = case.operation is Operation.FLUSH
    yield f"{case.operation}_{case.placement}" if flush else str(case.operation)
    if case.transport is not Transport.RC:
        yield str(case.transport)
    if case.topology is not Topology.PEERS:
        yield str(case.topology)
    full = full_rights(case.operation, case.placement)
    if case.remote.access != full:
        yield f"region:{short(case.remote.access)}"
    yield from _place_words(case.remote)
    if case.qp_access != full:
        yield f"qp:{short(case.qp_access)}"
    if case.length != (8 if case.operation in EIGHT_BYTES else 64):
        yield f"length:{case.length}"
    if case.operand is not Operand.PLAIN:
        yield str(case.operand)
    yield from _key_words(case)
    yield from _buffer_words("local", case.local, case.local_sgl)
    if case.inline:
        yield "inline"
    yield from _buffer_words("receive", case.receive, case.receive_sgl)
    if case.shared:
        yield "srq"
    if case.posted is not Posted.BEFORE:
        yield f"receive:{case.posted}"
    if case.recover:
        yield "recover"


def _place_words(region: Region) -> Iterator[str]:
    if region.page_offset or region.length != PAGE:
        yield f"region:{region.length}@{region.page_offset}"
    if region.iova is not None:
        yield f"iova:{region.iova:#x}"
    if region.by_address:
        yield "by_address"


def _key_words(case: Transfer) -> Iterator[str]:
    if case.rkey is not Key.OWN:
        yield f"key:{case.rkey}"
    if case.rkey_xor:
        yield f"key:xor{case.rkey_xor:02x}"
    if case.remote_address is not None:
        yield f"at:{case.remote_address:#x}"
    elif case.remote_offset:
        yield f"at:{case.remote_offset}"


def _buffer_words(side: str, region: Region, sgl: tuple[Segment, ...]) -> Iterator[str]:
    if region.access != Access.LOCAL_WRITE:
        yield f"{side}:{short(region.access)}"
    if region.length != PAGE or region.page_offset:
        yield f"{side}_region:{region.length}@{region.page_offset}"
    if sgl:
        yield f"{side}:{','.join(segment.id for segment in sgl)}"


@dataclass(frozen=True, slots=True)
class Registration:
    """One ibv_reg_mr() of `length` bytes from `page_offset` bytes into a page."""

    access: int
    length: int = PAGE
    page_offset: int = 0

    @property
    def id(self) -> str:
        return short(self.access)


@dataclass(frozen=True, slots=True)
class ConcurrentAtomics:
    """Bursts of an atomic `operation` of two queue pairs at the same eight bytes."""

    operation: Operation
    bursts: int = 16
    topology: Topology = Topology.PEERS

    @property
    def id(self) -> str:
        return f"{self.operation}-{self.topology}-{self.bursts}_bursts"


Accounted = Memlock | Contention | Ending | LiveUnderLimit


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
    if isinstance(value, tuple):
        return [plain(each) for each in value]
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
    odp_rc_<operation> (also odp_rc_receive), flush_global, flush_persistent, atomic_write;
    transport_<transport>, inline, sge_lists, shared_receive_queue; advise_mr, ibv_rereg_mr,
    rereg_<change> (whether the verb or the command is there, by trying); persistent_region and
    persistent_odp_region (whether ordinary memory may be registered with FLUSH_PERSISTENT, without
    and with ON_DEMAND; seen by trying); and what the host has, such as huge_pages_2m.
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
    "BufferRegistration",
    "Capabilities",
    "Case",
    "ConcurrentAtomics",
    "Expectation",
    "Key",
    "Observation",
    "Operand",
    "Outcome",
    "Placement",
    "Posted",
    "Region",
    "Registration",
    "Segment",
    "Topology",
    "Transfer",
    "plain",
    "replace",
    "wire",
]
