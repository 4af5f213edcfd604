"""Registrations of every kind of memory, and of what is no memory, as cases."""

from dataclasses import dataclass
from enum import StrEnum

from conformance.spec.vocabulary import PAGE, short

HUGE_2M = 1 << 21
HUGE_1G = 1 << 30
OVER_LIMIT = -1  # as a length: one byte more than the device's max_mr_size


class Backing(StrEnum):
    """What lies behind the addresses of a buffer."""

    ANONYMOUS = "anonymous"
    MEMFD = "memfd"
    SHARED_MEMORY = "shared_memory"  # a file of tmpfs, mapped shared
    PRIVATE_FILE = "private_file"
    SHARED_FILE = "shared_file"  # of whatever file system holds temporary files
    HUGE_2M = "huge_2m"
    HUGE_1G = "huge_1g"
    TRANSPARENT_HUGE = "transparent_huge"
    READ_ONLY = "read_only"
    READ_ONLY_PRIVATE_FILE = "read_only_private_file"
    READ_ONLY_SHARED_FILE = "read_only_shared_file"
    NO_ACCESS = "no_access"  # PROT_NONE
    UNMAPPED = "unmapped"
    NULL = "null"  # address 0
    KERNEL = "kernel"  # an address of the kernel's half
    TOP = "top"  # the last page below 2^64
    DEVICE = "device"  # registers of a PCI device (VM_PFNMAP); nothing there is touched
    KERNEL_DATA = "vvar"  # the kernel's pages in every process (VM_IO)


class Verb(StrEnum):
    """The calls of libibverbs by which user memory is registered."""

    REG_MR = "ibv_reg_mr"
    REG_MR_IOVA = "ibv_reg_mr_iova"
    REG_MR_IOVA2 = "ibv_reg_mr_iova2"


@dataclass(frozen=True, slots=True)
class Buffer:
    """`length` bytes from `offset` bytes into the first page that the region may touch.

    A page of the same kind lies before and behind; `hole` is the number of a page of the region
    that is not mapped.
    """

    backing: Backing = Backing.ANONYMOUS
    length: int = PAGE
    offset: int = 0
    hole: int | None = None

    @property
    def id(self) -> str:
        length = "over_limit" if self.length == OVER_LIMIT else str(self.length)
        word = f"{self.backing}-{length}@{self.offset}"
        return word if self.hole is None else f"{word}-hole:{self.hole}"


@dataclass(frozen=True, slots=True)
class BufferRegistration:
    """`times` registrations, one after the other, of a buffer with `access` by `verb`.

    `iova` is the number by which the first byte is to be addressed; None: its virtual address.
    """

    buffer: Buffer
    access: int
    verb: Verb = Verb.REG_MR
    times: int = 1
    iova: int | None = None

    @property
    def id(self) -> str:
        word = f"{self.buffer.id}-{short(self.access)}"
        if self.verb is not Verb.REG_MR:
            word += f"-{self.verb}"
        if self.iova is not None:
            word += f"-iova:{self.iova:#x}"
        return word if self.times == 1 else f"{word}-times:{self.times}"
