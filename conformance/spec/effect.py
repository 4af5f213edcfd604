"""What a transfer writes: the bytes that it carries, and where they come to lie."""

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.spec.memory import Piece, Run, changes, high, image, runs
from conformance.spec.model import GUARD, Key, Operand, Region, Segment, Transfer
from conformance.spec.operations import ALL_RIGHTS, ATOMICS, WRITING, size
from conformance.spec.vocabulary import Access, Operation

LOCAL = 64  # bytes of the requester's buffer where nothing is asked of that
NEIGHBOUR_LENGTH = 4096  # bytes of the region behind the one that is meant


@dataclass(frozen=True, slots=True)
class Effect:
    """The runs of change that a granted transfer leaves in each buffer."""

    region: list[Run]
    local: list[Run]
    receive: list[Run]


NONE = Effect([], [], [])


def effect(case: Transfer, seed: int) -> Effect:
    """What a granted transfer changes."""
    if case.length == 0 or case.operation is Operation.FLUSH:
        return NONE
    if case.operation is Operation.SEND:
        return Effect([], [], runs(spread(sent(case, seed), case.receive_segments)))
    if case.operation in WRITING:
        return Effect(runs([Piece(case.remote_offset, sent(case, seed))]), [], [])
    old = target(case, seed)
    local = runs(spread(old, case.local_segments))
    if case.operation is Operation.READ:
        return Effect([], local, [])
    return Effect(changes(old, _after(case, old, seed), -case.remote_offset), local, [])


def carried(operation: Operation, seed: int, at: int, region: int) -> Effect:
    """What `operation` changes that carries `size(operation)` bytes in whole to or from `at`.

    From the first byte of a buffer of `LOCAL` bytes, or to it; `region` is the other's length.
    """
    case = Transfer(
        operation,
        length=size(operation),
        local=Region(Access.LOCAL_WRITE, LOCAL),
        remote=Region(ALL_RIGHTS, region),
        remote_offset=at,
    )
    return effect(case, seed)


def sent(case: Transfer, seed: int) -> bytes:
    """The bytes that the local scatter/gather list names, in its order."""
    before = image(seed, "local", case.local.length)
    if case.operation is Operation.ATOMIC_WRITE:
        return before[GUARD : GUARD + 8]  # it carries its data itself
    return b"".join(
        before[GUARD + segment.offset : GUARD + segment.offset + segment.length]
        for segment in case.local_segments
        if segment.length and segment.address is None
    )


def target(case: Transfer, seed: int) -> bytes:
    """The bytes of the region that the request names."""
    first = GUARD + case.remote_offset
    return image(seed, "region", case.remote.length)[first : first + case.length]


def spread(data: bytes, segments: Iterable[Segment]) -> list[Piece]:
    """`data` laid into `segments` in their order; what does not fit is left."""
    pieces = []
    for segment in segments:
        pieces.append(Piece(segment.offset, data[: segment.length]))
        data = data[segment.length :]
    return pieces


def within(segments: tuple[Segment, ...], region: Region, sink: bool) -> tuple[Segment, ...]:
    """What may be touched of `segments`: all before the first bad one, and of that its start."""
    good = []
    for segment in segments:
        if bad(segment, region, sink):
            left = region.length - segment.offset
            if segment.address is None and segment.offset >= 0 and 0 < left < segment.length:
                start = Segment(left, segment.offset, segment.key, segment.key_xor)
                if not bad(start, region, sink):
                    good.append(start)
            break
        good.append(segment)
    return tuple(good)


def bad(segment: Segment, region: Region, sink: bool) -> bool:
    """Whether a segment is refused: its key, its protection domain, its range, its right to write.

    `sink` says that the segment is to be written. A segment without a byte names no memory.
    """
    if segment.length == 0:
        return False
    if segment.key_xor or segment.address is not None:
        return True
    end = segment.offset + segment.length
    match segment.key:
        case Key.OWN:
            missing = sink and Access.LOCAL_WRITE not in region.access
            return missing or not 0 <= segment.offset <= end <= region.length
        case Key.NO_RIGHTS:
            return sink or not 0 <= segment.offset <= end <= region.length
        case Key.NEIGHBOUR:
            first = region.length
            return not first <= segment.offset <= end <= first + NEIGHBOUR_LENGTH
    return True


def _after(case: Transfer, old: bytes, seed: int) -> bytes:
    """The 8 bytes that an atomic leaves where `old` was."""
    assert case.operation in ATOMICS
    if case.operand in (Operand.MISS_FIRST, Operand.MISS_LAST):
        return old
    if case.operand is Operand.WRAP:
        return bytes(8)  # the sum is 2^64
    if case.operation is Operation.CMP_SWAP:
        return high(seed, "operand", 8)
    return bytes(byte + 0x80 for byte in old)  # the addend is 0x80 in each of the 8 bytes
