"""Scatter/gather lists with one fault, at the requester and at the receiver."""

from collections.abc import Iterator
from dataclasses import replace

from conformance.spec.model import Key, Region, Segment
from conformance.spec.vocabulary import Access

# One byte of a key is the consumer's, the rest an index; both are part of the key.
OTHER_KEYS = tuple(1 << bit for bit in (0, 7, 8, 12, 16, 23, 31))
EACH_KEY_BYTE = range(1, 256)

# (length, page_offset) in bytes: a whole page, the middle of a page, and over a page's edge.
PLACES = ((4096, 0), (1000, 1000), (1000, 3600))
FAR = 1 << 30
NEAR_THE_TOP = (1 << 64) - 32  # bytes from here run over the end of the address space

# Three entries of 64 bytes in all, apart from each other.
THREE = (Segment(16), Segment(24, 100), Segment(24, 200))


def wrong_keys(length: int) -> Iterator[Segment]:
    """A whole buffer under each kind of wrong key."""
    for key in (Key.ZERO, Key.DEREGISTERED):
        yield Segment(length, key=key)
    for bits in OTHER_KEYS:
        yield Segment(length, key_xor=bits)


def edges(length: int, region: Region) -> Iterator[int]:
    """Offsets of `length` bytes around both ends of `region`, from inside to far away."""
    last = region.length - length  # of the last byte that fits
    yield from (last, -1, -length, last + 1, last + length, -FAR, FAR)


def placed() -> Iterator[Region]:
    """The regions whose ends are asked."""
    for length, page_offset in PLACES:
        yield Region(Access.LOCAL_WRITE, length, page_offset)


def one_of_three(fault: Segment) -> Iterator[tuple[Segment, ...]]:
    """`THREE` with `fault` in place of the first, the second and the third entry.

    Of `fault` the key and, if it has one, the address or offset are taken.
    """
    for index, good in enumerate(THREE):
        entry = replace(fault, length=good.length, offset=fault.offset or good.offset)
        yield (*THREE[:index], entry, *THREE[index + 1 :])
