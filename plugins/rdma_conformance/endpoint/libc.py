"""The memory calls of libc that Python does not offer at chosen addresses. All raise OSError."""

import ctypes
import mmap as _mmap
import os
from ctypes import c_int, c_long, c_size_t, c_void_p

PROT_NONE = 0
READ_WRITE = _mmap.PROT_READ | _mmap.PROT_WRITE
MAP_FIXED = 0x10
MADV_DONTNEED = 4
_FAILED = c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = c_void_p
_libc.mmap.argtypes = (c_void_p, c_size_t, c_int, c_int, c_int, c_long)
_libc.munmap.argtypes = (c_void_p, c_size_t)
_libc.mprotect.argtypes = _libc.madvise.argtypes = (c_void_p, c_size_t, c_int)


def mmap(address: int | None, length: int, protection: int, flags: int, fd: int = -1) -> int:
    """mmap(2) from the start of `fd`, or of anonymous memory; returns the address."""
    found = _libc.mmap(address, length, protection, flags, fd, 0)
    if found in (None, _FAILED):
        raise _error("mmap")
    return int(found)


def munmap(address: int, length: int) -> None:
    if _libc.munmap(address, length):
        raise _error("munmap")


def mprotect(address: int, length: int, protection: int) -> None:
    """`protection` of mmap.PROT_*, or PROT_NONE."""
    if _libc.mprotect(address, length, protection):
        raise _error("mprotect")


def madvise(address: int, length: int, advice: int) -> None:
    if _libc.madvise(address, length, advice):
        raise _error("madvise")


def _error(call: str) -> OSError:
    code = ctypes.get_errno()
    return OSError(code, f"{call}: {os.strerror(code)}")
