"""Memory mapped by mmap(2) itself, so that it can be unmapped, replaced, discarded, protected.

Python's own mmap object would unmap the address again at its end, whoever owns it by then.
"""

import ctypes
import errno
import mmap
import os

from conformance.spec.memory import Run, changes

FIXED = 0x10  # MAP_FIXED
DONTNEED = 4  # MADV_DONTNEED

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
for _name in ("munmap", "madvise", "mprotect"):
    _function = getattr(_libc, _name)
    _function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int][
        : 2 if _name == "munmap" else 3
    ]


class Mapping:
    """`length` bytes of anonymous private memory, a whole number of pages."""

    def __init__(self, length: int):
        self.length = length
        self.mapped = False
        self.address = self._map(None, 0)
        self._image = b""

    def _map(self, address: int | None, flags: int) -> int:
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        flags |= mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        found = _libc.mmap(address, self.length, protection, flags, -1, 0)
        if found in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.mapped = True
        return int(found)

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
        self._check(_libc.munmap(self.address, self.length))
        self.mapped = False

    def map_over(self, data: bytes) -> None:
        """Other memory at the same address, with these bytes."""
        self._map(self.address, FIXED)
        self.fill(data)

    def discard(self) -> None:
        """Give the pages back to the kernel: the process reads zeros from now on."""
        self._check(_libc.madvise(self.address, self.length, DONTNEED))

    def protect(self, protection: int) -> None:
        """`protection` of mmap.PROT_*."""
        self._check(_libc.mprotect(self.address, self.length, protection))

    def close(self) -> None:
        if self.mapped:
            self.unmap()

    @staticmethod
    def _check(result: int) -> None:
        if result != 0:
            code = ctypes.get_errno() or errno.EIO
            raise OSError(code, os.strerror(code))
