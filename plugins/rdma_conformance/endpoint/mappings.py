"""Memory of every kind, mapped with mmap(2) itself: Python's own mmap hides address and rights."""

import contextlib
import ctypes
import mmap
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from conformance.spec.buffer import HUGE_1G, HUGE_2M, Backing
from conformance.spec.vocabulary import PAGE
from rdma_conformance.endpoint import libc
from rdma_conformance.endpoint.books import BOOKS, MAPPING

PRIVATE, SHARED, ANONYMOUS = mmap.MAP_PRIVATE, mmap.MAP_SHARED, mmap.MAP_ANONYMOUS
MAP_HUGETLB = 0x40000
MAP_HUGE_SHIFT = 26
MADV_HUGEPAGE = 14

# Temporary files: the folder (None: that of temporary files), and rights and flags of the mapping.
FILES = {
    Backing.SHARED_MEMORY: ("/dev/shm", libc.READ_WRITE, SHARED),
    Backing.PRIVATE_FILE: (None, libc.READ_WRITE, PRIVATE),
    Backing.SHARED_FILE: (None, libc.READ_WRITE, SHARED),
    Backing.READ_ONLY_PRIVATE_FILE: (None, mmap.PROT_READ, PRIVATE),
    Backing.READ_ONLY_SHARED_FILE: (None, mmap.PROT_READ, SHARED),
}

# Addresses that are no memory of this process, whatever it maps.
ADDRESSES = {Backing.NULL: 0, Backing.KERNEL: 1 << 63, Backing.TOP: (1 << 64) - PAGE}


def unit(backing: str) -> int:
    """Bytes of one page of that kind of memory."""
    return {Backing.HUGE_2M: HUGE_2M, Backing.HUGE_1G: HUGE_1G}.get(Backing(backing), PAGE)


class Mapping:
    """`size` bytes of one kind of memory at `address`; `content` is what it holds at first."""

    def __init__(self, backing: str, size: int, content: bytes):
        self.size = size
        self._kept: list[tuple[int, int]] = []
        self.address = self._make(Backing(backing), content)
        BOOKS.opened(MAPPING, self)

    def _make(self, backing: Backing, content: bytes) -> int:
        if backing is Backing.DEVICE:
            with _opened(registers()) as fd:
                return self._map(mmap.PROT_READ, SHARED, fd)
        if backing is Backing.MEMFD:
            with _opened(os.memfd_create("rdma-conformance")) as fd:
                return self._map_file(fd, content, libc.READ_WRITE, SHARED)
        if backing in FILES:
            folder, rights, flags = FILES[backing]
            with tempfile.TemporaryFile(dir=folder) as file:
                return self._map_file(file.fileno(), content, rights, flags)
        return self._map_anonymous(backing, content)

    def _map_anonymous(self, backing: Backing, content: bytes) -> int:
        flags = PRIVATE | ANONYMOUS
        if backing in (Backing.HUGE_2M, Backing.HUGE_1G):
            flags |= MAP_HUGETLB | (unit(backing).bit_length() - 1) << MAP_HUGE_SHIFT
        if backing is Backing.TRANSPARENT_HUGE:
            address = self._map_aligned(HUGE_2M)
            libc.madvise(address, self.size, MADV_HUGEPAGE)
        else:
            address = self._map(libc.READ_WRITE, flags)
        ctypes.memmove(address, content, len(content))
        protections = {Backing.READ_ONLY: mmap.PROT_READ, Backing.NO_ACCESS: libc.PROT_NONE}
        if backing in protections:
            libc.mprotect(address, self.size, protections[backing])
        elif backing is Backing.UNMAPPED:
            self.unmap(address, self.size)
        return address

    def _map_aligned(self, alignment: int) -> int:
        """Anonymous memory from a multiple of `alignment` on."""
        found = libc.mmap(None, self.size + alignment, libc.READ_WRITE, PRIVATE | ANONYMOUS)
        self._kept.append((found, self.size + alignment))
        return -(-found // alignment) * alignment

    def _map_file(self, fd: int, content: bytes, rights: int, flags: int) -> int:
        os.ftruncate(fd, self.size)
        os.pwrite(fd, content, 0)
        return self._map(rights, flags, fd)

    def _map(self, rights: int, flags: int, fd: int = -1) -> int:
        found = libc.mmap(None, self.size, rights, flags, fd)
        self._kept.append((found, self.size))
        return found

    def renew(self) -> None:
        """Unmap all of it, and map fresh anonymous memory at the same addresses."""
        self.unmap(self.address, self.size)
        flags = PRIVATE | ANONYMOUS | libc.MAP_FIXED
        libc.mmap(self.address, self.size, libc.READ_WRITE, flags)

    def unmap(self, address: int, size: int) -> None:
        """Unmap a part: from then on it is a hole."""
        libc.munmap(address, size)

    def close(self) -> None:
        for address, size in self._kept:  # a hole in it is no error
            libc.munmap(address, size)
        self._kept.clear()
        BOOKS.closed(self)


def registers() -> int:
    """A descriptor of registers of a PCI device that can be mapped. Raises OSError."""
    for resource in sorted(Path("/sys/bus/pci/devices").glob("*/resource[0-5]")):
        with contextlib.suppress(OSError):
            if resource.stat().st_size >= PAGE:
                fd = os.open(resource, os.O_RDWR | os.O_CLOEXEC)
                try:
                    mmap.mmap(fd, PAGE, prot=mmap.PROT_READ).close()
                except (OSError, ValueError):
                    os.close(fd)
                else:
                    return fd
    raise FileNotFoundError("no PCI device whose registers can be mapped")


def kernel_data() -> int | None:
    """The address of the kernel's data page in this process ([vvar]), or None."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("[vvar]"):
            return int(line.partition("-")[0], 16)
    return None


@contextlib.contextmanager
def _opened(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)
