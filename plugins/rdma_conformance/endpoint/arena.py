"""Memory that the suite owns: every region has guard bytes around it and a known image."""

import ctypes
import mmap

from conformance.spec.memory import Run, changes
from conformance.spec.model import GUARD, PAGE


class Area:
    """`length` bytes of anonymous, populated memory, `page_offset` bytes into a page.

    A page of its own lies before and behind, so that the guards never share a page with what
    another region pins.
    """

    def __init__(self, length: int, page_offset: int = 0):
        pages = -(-(page_offset + length) // PAGE)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
        self._memory = mmap.mmap(-1, (pages + 2) * PAGE, flags=flags)
        first = PAGE + page_offset
        self.length = length
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory)) + first
        self._guarded = slice(first - GUARD, first + length + GUARD)
        self._first = first
        self._image = self._memory[self._guarded]

    def fill(self, data: bytes) -> None:
        """Restore region and guards to `data`, as `image` makes it."""
        self._memory[self._guarded] = data
        self._image = data

    def changes(self) -> list[Run]:
        """The runs in which region and guards differ from what they were filled with."""
        now = self._memory[self._guarded]
        return [] if now == self._image else changes(self._image, now, GUARD)

    def bytes_at(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` bytes behind the region's first byte."""
        return self._memory[self._first + offset : self._first + offset + length]

    def write(self, offset: int, data: bytes) -> None:
        """Put `data` at `offset` bytes behind the region's first byte."""
        self._memory[self._first + offset : self._first + offset + len(data)] = data

    def flip(self, offset: int) -> None:
        """Invert the byte at `offset`: what a stray write of a broken device would do."""
        self._memory[self._first + offset] ^= 0xFF

    def close(self) -> None:
        self._memory.close()
