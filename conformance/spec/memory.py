"""What every byte of a buffer must be: the images before an operation, and runs of change after.

Buffers that an operation may write start with bytes below 0x80 (`low`), sources hold bytes of
0x80 and above (`high`), so that a byte which was written can never look like one that was not.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from conformance.spec.model import GUARD

INLINE = 64  # bytes of a run that are kept as they are; longer runs are kept as a digest

# [first byte's offset from the start of the region, length in bytes, hex digits or digest]
Run = list[int | str]


def _stream(seed: int, label: str, length: int) -> bytes:
    return hashlib.shake_128(f"{label}:{seed}".encode()).digest(length)


_CLEAR = bytes(byte & 0x7F for byte in range(256))
_SET = bytes(byte | 0x80 for byte in range(256))


def low(seed: int, label: str, length: int) -> bytes:
    """`length` bytes, each below 0x80, that differ by seed and label."""
    return _stream(seed, label, length).translate(_CLEAR)


def high(seed: int, label: str, length: int) -> bytes:
    """`length` bytes, each of 0x80 or above, that differ by seed and label."""
    return _stream(seed, label, length).translate(_SET)


@lru_cache(maxsize=64)
def image(seed: int, label: str, length: int) -> bytes:
    """A region's bytes before an operation, with GUARD bytes on either side.

    `local` holds bytes of 0x80 and above, every other label bytes below 0x80.
    """
    fill = high if label == "local" else low
    return fill(seed, label, length + 2 * GUARD)


def run(start: int, data: bytes) -> Run:
    """A run of `data` written at `start` bytes from the region's first byte."""
    if len(data) <= INLINE:
        return [start, len(data), data.hex()]
    return [start, len(data), "sha256:" + hashlib.sha256(data).hexdigest()]


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that are written together, `start` bytes from the region's first byte."""

    start: int
    data: bytes


def runs(pieces: Iterable[Piece]) -> list[Run]:
    """The runs of change that writing `pieces` leaves; pieces that touch make one run.

    Each written byte must differ from what it replaces, as it does between `low` and `high`.
    """
    joined: list[Piece] = []
    for piece in sorted((each for each in pieces if each.data), key=lambda each: each.start):
        if joined and joined[-1].start + len(joined[-1].data) == piece.start:
            joined[-1] = Piece(joined[-1].start, joined[-1].data + piece.data)
        else:
            joined.append(piece)
    return [run(piece.start, piece.data) for piece in joined]


@dataclass(frozen=True, slots=True, eq=False)
class AnyPrefix:
    """An allowed value: the runs that any number of the first bytes of `pieces` leave, or none."""

    pieces: tuple[Piece, ...]

    def of(self, length: int) -> list[Run]:
        """The runs that the first `length` bytes leave."""
        cut = []
        for piece in self.pieces:
            cut.append(Piece(piece.start, piece.data[:length]))
            length -= len(cut[-1].data)
        return runs(cut)

    def __eq__(self, seen: object) -> bool:
        """Whether `seen` are such runs; two of these are equal when they stand for the same."""
        if isinstance(seen, AnyPrefix):
            return self.pieces == seen.pieces
        if not isinstance(seen, list):
            return NotImplemented
        return self.of(sum(each[1] for each in seen)) == seen

    __hash__ = None

    def plain(self) -> dict[str, list[Run]]:
        """As the run file keeps it."""
        return {"any prefix of": runs(self.pieces)}


def any_prefix(pieces: Iterable[Piece]) -> Any:
    """The allowed value for any number of the first bytes of `pieces`; of no byte that is []."""
    kept = tuple(piece for piece in pieces if piece.data)
    return AnyPrefix(kept) if kept else []


_DIFFERING = re.compile(rb"[^\0]+")


def changes(before: bytes, after: bytes, origin: int) -> list[Run]:
    """The runs in which two images of one buffer differ; offset `origin` is the region's start.

    Raises ValueError when the images have not the same length.
    """
    if before == after:
        return []
    if len(before) != len(after):
        raise ValueError(f"images of {len(before)} and {len(after)} bytes are not of one buffer")
    # As numbers, since a loop over bytes costs milliseconds a page on an emulated machine.
    differing = int.from_bytes(before, "big") ^ int.from_bytes(after, "big")
    return [
        run(found.start() - origin, after[found.start() : found.end()])
        for found in _DIFFERING.finditer(differing.to_bytes(len(before), "big"))
    ]
