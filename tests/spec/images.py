"""The bytes of the buffers, made here as the documents of the suite say, and not by its code.

Regions and receives start below 0x80, sources at 0x80 and above, with 64 bytes of guard.
"""

import hashlib

from .golden import SEED


def stream(label: str, length: int) -> bytes:
    return hashlib.shake_128(f"{label}:{SEED}".encode()).digest(length)


def low(label: str, first: int, length: int, region: int = 4096) -> bytes:
    """`length` bytes from `first` of a region of `region` bytes, before an operation."""
    image = bytes(b & 0x7F for b in stream(label, 64 + region + 64))
    return image[64 + first : 64 + first + length]


def high(label: str, first: int, length: int, region: int = 4096) -> bytes:
    image = bytes(b | 0x80 for b in stream(label, 64 + region + 64))
    return image[64 + first : 64 + first + length]


def run(start: int, data: bytes) -> list[int | str]:
    """More than 64 bytes are named by their digest."""
    if len(data) <= 64:
        return [start, len(data), data.hex()]
    return [start, len(data), "sha256:" + hashlib.sha256(data).hexdigest()]


def source(length: int, start: int = 0, first: int = 0) -> list[list[int | str]]:
    """The requester's bytes from `first`, where they come to lie."""
    return [run(start, high("local", first, length))]


def fetched(length: int, start: int = 0, first: int = 0) -> list[list[int | str]]:
    """The region's bytes from `first`, where they come to lie."""
    return [run(start, low("region", first, length))]
