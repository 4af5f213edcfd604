"""What is wrong with a transfer: the faults that a conforming driver has to find."""

from enum import StrEnum

from conformance.spec.effect import bad
from conformance.spec.model import Key, Posted, Region, Segment, Transfer
from conformance.spec.operations import CONSUMING, EIGHT_BYTES, FETCHING, needed_right
from conformance.spec.vocabulary import Access, Operation, Transport

_KEYS = frozenset({Key.ZERO, Key.DEREGISTERED, Key.FOREIGN})

# Operations of each transport, beside RC, which has all (ibv_post_send(3)).
OFFERED = {
    Transport.UC: frozenset({Operation.SEND, Operation.WRITE, Operation.WRITE_IMM}),
    Transport.UD: frozenset({Operation.SEND}),
}


class Fault(StrEnum):
    """The kinds of fault, by who finds them."""

    TRANSPORT = "the transport has no such operation"
    ALIGNMENT = "the remote address is not aligned to 8 bytes"
    SIZE = "the local buffer of an atomic has not 8 bytes"
    LOCAL = "the requester's own buffer"
    QUEUE_PAIR = "the responder's queue pair does not allow the operation"
    REGION = "the responder's region"
    UNREADY = "the responder has no receive"
    TOO_LONG = "the message is longer than the receive"
    RECEIVE = "the responder's receive buffer"


class Cause(StrEnum):
    """Why a scatter/gather list is refused, or what is odd about one that is granted."""

    ZERO_LENGTH = "ZERO-LENGTH"
    DOMAIN = "DOMAIN"
    KEY = "KEY"
    RIGHT = "RIGHT"
    RANGE = "RANGE"


def faults(case: Transfer) -> list[Fault]:
    """All that is wrong with `case`, in the order in which it can be found."""
    offered = OFFERED.get(case.transport)
    if offered is not None and case.operation not in offered:
        return [Fault.TRANSPORT]
    found = {
        Fault.ALIGNMENT: _misaligned(case),
        Fault.SIZE: _odd_size(case),
        Fault.LOCAL: _bad_local(case),
        Fault.QUEUE_PAIR: needed_right(case.operation, case.placement) not in case.qp_access,
        Fault.REGION: out_of_reach(case),
        Fault.UNREADY: case.posted is Posted.NEVER,
        Fault.TOO_LONG: case.operation is Operation.SEND and case.length > capacity(case),
        Fault.RECEIVE: _bad_receive(case),
    }
    return [fault for fault, there in found.items() if there]


def capacity(case: Transfer) -> int:
    """The bytes that the receive takes, whatever memory is behind it."""
    return sum(segment.length for segment in case.receive_segments)


def out_of_reach(case: Transfer) -> bool:
    """Whether the request names memory that its key does not open to it."""
    if case.length == 0 or case.operation is Operation.SEND:
        return False
    if needed_right(case.operation, case.placement) not in case.remote.access:
        return True
    segment = Segment(
        case.length, case.remote_offset, case.rkey, case.rkey_xor, case.remote_address
    )
    return case.rkey is Key.NO_RIGHTS or bad(segment, case.remote, sink=False)


def cause(segments: tuple[Segment, ...], region: Region, sink: bool) -> Cause | None:
    """What is odd about `segments` of `region`, or None."""
    keys = {segment.key for segment in segments}
    if any(_names_nothing(segment) for segment in segments) and not any(
        bad(segment, region, sink) for segment in segments
    ):
        return Cause.ZERO_LENGTH
    if Key.OTHER_DOMAIN in keys:
        return Cause.DOMAIN
    if keys & _KEYS or any(segment.key_xor for segment in segments):
        return Cause.KEY
    if Key.NO_RIGHTS in keys or region.access != Access.LOCAL_WRITE:
        return Cause.RIGHT
    if Key.NEIGHBOUR in keys or any(
        _outside(segment) or segment.offset + segment.length >= region.length
        for segment in segments
    ):
        return Cause.RANGE
    return None


def _names_nothing(segment: Segment) -> bool:
    """Whether a segment without a byte would be refused if it had one."""
    odd = segment.key is not Key.OWN or segment.key_xor or _outside(segment)
    return segment.length == 0 and bool(odd)


def _outside(segment: Segment) -> bool:
    return segment.address is not None or segment.offset < 0


def _misaligned(case: Transfer) -> bool:
    first = case.remote.page_offset if case.remote.iova is None else case.remote.iova
    address = first + case.remote_offset
    return case.operation in EIGHT_BYTES and address % 8 != 0


def _odd_size(case: Transfer) -> bool:
    return case.operation in EIGHT_BYTES and _total(case.local_segments) != 8


def _total(segments: tuple[Segment, ...]) -> int:
    return sum(segment.length for segment in segments)


def _bad_local(case: Transfer) -> bool:
    if case.operation in (Operation.ATOMIC_WRITE, Operation.FLUSH):
        return False  # they have no local buffer
    sink = case.operation in FETCHING
    if case.inline:  # the processor reads the data, by its address: no key is looked at
        return False
    return any(bad(segment, case.local, sink) for segment in case.local_segments)


def _bad_receive(case: Transfer) -> bool:
    """Whether the bytes that come would be laid into a segment that is bad."""
    if case.operation is not Operation.SEND:
        return False
    left = case.length
    for segment in case.receive_segments:
        if left > 0 and bad(segment, case.receive, sink=True):
            return True
        left -= segment.length
    return False


def consumes(case: Transfer) -> bool:
    """Whether a granted transfer uses up a receive."""
    return case.operation in CONSUMING
