"""Do messages of any size and any alignment arrive to the byte, and touch nothing else?"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from conformance.remote.operations import READ, SEND, WRITE, WRITE_IMM
from conformance.spec.model import PAGE, Region, Segment, Transfer
from conformance.spec.vocabulary import Operation, Transport
from rdma_conformance.suite import asks

MTUS = (256, 512, 1024, 2048, 4096)
# Around one, two and three packets of every path MTU, and up to a mebibyte.
SIZES = sorted(
    {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 65, 127, 128, 129}
    | {packets * mtu + odd for mtu in MTUS for packets in (1, 2, 3) for odd in (-1, 0, 1)}
    | {(1 << power) + odd for power in (14, 16, 18, 20) for odd in (-1, 0)}
    | {(1 << 16) + 1}
)
TRANSFERS = (
    SEND,
    WRITE,
    WRITE_IMM,
    READ,
    replace(SEND, transport=Transport.UC),
    replace(WRITE, transport=Transport.UC),
    replace(SEND, shared=True),
)
LARGEST_UNRELIABLE = 1 << 16  # bytes: of more, a packet may well be lost on a busy machine


def with_room(case: Transfer, length: int, here: int = 0, there: int = 0) -> Transfer:
    """`case` with `length` bytes at these offsets of the two sides, in regions with bytes left."""
    room = -(-(length + max(here, there) + 1) // PAGE) * PAGE + PAGE
    named = replace(
        case,
        length=length,
        local=Region(case.local.access, room),
        remote=replace(case.remote, length=room),
        local_sgl=(Segment(length, here),) if here else (),
    )
    if case.operation is Operation.SEND:
        there_sgl = (Segment(length, there),) if there else ()
        return replace(named, receive=Region(case.receive.access, room), receive_sgl=there_sgl)
    return replace(named, remote_offset=there)


@asks(
    "DATA-EXACT",
    cases=[
        with_room(case, length)
        for case in TRANSFERS
        for length in SIZES
        if case.transport is Transport.RC or length <= LARGEST_UNRELIABLE
    ],
)
def test_every_size(case, verify):
    verify(case)


@asks(
    "DATA-EXACT",
    cases=[
        with_room(case, length, here, there)
        for case in (SEND, WRITE, READ)
        for length in (1, 37, 1500)
        for here, there in product((1, 2, 3, 4, 5, 6, 7, PAGE - 1), repeat=2)
    ],
)
def test_every_alignment(case, verify):
    verify(case)


def split(length: int, parts: tuple[int, ...]) -> Iterator[Segment]:
    """`length` bytes in entries that begin at each of `parts`, with gaps between them."""
    for index, (first, last) in enumerate(zip(parts, (*parts[1:], length), strict=True)):
        yield Segment(last - first, first + 100 * index + index)


def scattered(case: Transfer, length: int, parts: tuple[int, ...]) -> Iterator[Transfer]:
    """`case` with the message gathered, and scattered, in those parts."""
    segments = tuple(split(length, parts))
    yield replace(with_room(case, length), local_sgl=segments)
    if case.operation is Operation.SEND:
        yield replace(with_room(case, length), receive_sgl=segments)
        yield replace(with_room(case, length), local_sgl=segments, receive_sgl=segments)


@asks(
    "DATA-EXACT",
    cases=[
        listed
        for case in (SEND, WRITE, READ, replace(SEND, shared=True))
        for length, parts in (
            (64, (0, 1)),
            (64, (0, 1, 63)),
            (1500, (0, 1024)),
            (1500, (0, 700, 1100)),
            (5000, (0, 1, 4097)),
        )
        for listed in scattered(case, length, parts)
    ],
)
def test_several_entries(case, verify):
    verify(case)
