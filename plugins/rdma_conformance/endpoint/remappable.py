"""Memory mapped by mmap(2) itself, so that it can be unmapped, replaced, discarded, protected.

Python's own mmap object would unmap the address again at its end, whoever owns it by then.
"""

import ctypes
import mmap

from conformance.spec.memory import Run, changes
from rdma_conformance.endpoint import libc
from rdma_conformance.endpoint.books import BOOKS, MAPPING


class Remappable:
    """`length` bytes of anonymous private memory, a whole number of pages."""

    def __init__(self, length: int):
        self.length = length
        self.mapped = False
        self.address = self._map(None, 0)
        BOOKS.opened(MAPPING, self)
        self._image = b""

    def _map(self, address: int | None, flags: int) -> int:
        flags |= mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        found = libc.mmap(address, self.length, libc.READ_WRITE, flags)
        self.mapped = True
        return found

    def fill(self, data: bytes, at: int = 0) -> None:
        ctypes.memmove(self.address + at, data, len(data))

    def bytes(self, at: int = 0, length: int | None = None) -> bytes:
        return ctypes.string_at(self.address + at, self.length if length is None else length)

    def remember(self) -> None:
        """What `seen` compares with: the memory as the process sees it now."""
        self._image = self.bytes() if self.mapped else b""

    def seen(self) -> list[Run]:
        """The runs in which the process sees other bytes than at `remember`; none if unmapped."""
        return changes(self._image, self.bytes(), 0) if self.mapped else []

    def unmap(self) -> None:
        libc.munmap(self.address, self.length)
        self.mapped = False

    def map_over(self, data: bytes) -> None:
        """Other memory at the same address, with these bytes."""
        self._map(self.address, libc.MAP_FIXED)
        self.fill(data)

    def discard(self) -> None:
        """Give the pages back to the kernel: the process reads zeros from now on."""
        libc.madvise(self.address, self.length, libc.MADV_DONTNEED)

    def protect(self, protection: int) -> None:
        """`protection` of mmap.PROT_*."""
        libc.mprotect(self.address, self.length, protection)

    def close(self) -> None:
        if self.mapped:
            self.unmap()
        BOOKS.closed(self)
