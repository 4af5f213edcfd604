"""Commands to the kernel's uverbs file itself (include/uapi/rdma/ib_user_verbs.h).

A library keeps its own books, and closes what depends on an object before the object. Here the
kernel is asked directly, by handles: what it answers to a call that libibverbs would not make.
"""

import ctypes
import os
import struct
from dataclasses import dataclass
from typing import Any

from rdma_conformance.endpoint.books import BOOKS, REGION, WINDOW
from rdma_conformance.endpoint.verbs.errors import VerbsError, named

DEALLOC_PD, REG_MR, REREG_MR, DEREG_MR, ALLOC_MW, DEALLOC_MW = 4, 9, 11, 13, 14, 16
DESTROY_QP = 27

_HEADER = struct.Struct("=IHH")  # command, words of the command with this, words of the answer
_HANDLE = struct.Struct("=I")
_REG = struct.Struct("=QQQQII")
_REG_ANSWER = struct.Struct("=III")
_DESTROY_QP = struct.Struct("=QII")
_DESTROY_QP_ANSWER = struct.Struct("=I")
_REREG = struct.Struct("=QIIQQQII")
_REREG_ANSWER = struct.Struct("=II")
_ALLOC_MW = struct.Struct("=QIBxxx")
_ALLOC_MW_ANSWER = struct.Struct("=II")


@dataclass(frozen=True, slots=True)
class Reregistration:
    """What is to change of a region: translation (flag 1), domain (2), access (4).

    `region` and `domain` are the kernel's handles; `length` is in bytes.
    """

    region: int
    flags: int
    address: int = 0
    length: int = 0
    domain: int = 0
    access: int = 0


class Commands:
    """The uverbs file of an open device context."""

    def __init__(self, context: Any):
        self._file = int(context.cmd_fd)

    def deallocate_domain(self, handle: int) -> None:
        """Raises VerbsError, as all of these do: EBUSY while the domain has objects."""
        self._write(DEALLOC_PD, _HANDLE.pack(handle), 0, "DEALLOC_PD")

    def register(self, domain: int, address: int, length: int, access: int) -> int:
        """A region of which no library knows: its handle."""
        answer = ctypes.create_string_buffer(_REG_ANSWER.size)
        where = ctypes.addressof(answer)
        command = _REG.pack(where, address, length, address, domain, access)
        self._write(REG_MR, command, len(answer), "REG_MR")
        handle, _, _ = _REG_ANSWER.unpack(answer.raw)
        BOOKS.region(None, (address, length, access), self._key(REGION, handle))
        return handle

    def deregister(self, handle: int) -> None:
        self._write(DEREG_MR, _HANDLE.pack(handle), 0, "DEREG_MR")
        BOOKS.closed(self._key(REGION, handle))

    def deallocate_window(self, handle: int) -> None:
        with BOOKS.closing(self._key(WINDOW, handle)):
            self._write(DEALLOC_MW, _HANDLE.pack(handle), 0, "DEALLOC_MW")

    def destroy_queue_pair(self, handle: int) -> None:
        answer = ctypes.create_string_buffer(_DESTROY_QP_ANSWER.size)
        command = _DESTROY_QP.pack(ctypes.addressof(answer), handle, 0)
        self._write(DESTROY_QP, command, len(answer), "DESTROY_QP")

    def allocate_window(self, domain: int, number: int) -> tuple[int, int]:
        """A window of type `number` (ibv_mw_type, or any byte): its handle and rkey."""
        answer = ctypes.create_string_buffer(_ALLOC_MW_ANSWER.size)
        command = _ALLOC_MW.pack(ctypes.addressof(answer), domain, number)
        with BOOKS.opening(WINDOW) as opened:
            self._write(ALLOC_MW, command, len(answer), "ALLOC_MW")
            handle, rkey = _ALLOC_MW_ANSWER.unpack(answer.raw)
            opened(None, key=self._key(WINDOW, handle))
        return handle, rkey

    def reregister(self, change: Reregistration) -> tuple[int, int]:
        """Change a region: its lkey and rkey after."""
        answer = ctypes.create_string_buffer(_REREG_ANSWER.size)
        command = _REREG.pack(
            ctypes.addressof(answer),
            change.region,
            change.flags,
            change.address,
            change.length,
            change.address,
            change.domain,
            change.access,
        )
        self._write(REREG_MR, command, len(answer), "REREG_MR")
        lkey, rkey = _REREG_ANSWER.unpack(answer.raw)
        return lkey, rkey

    def _key(self, kind: str, handle: int) -> tuple[int, str, int]:
        """What an object of which no library knows is called in the books."""
        return self._file, kind, handle

    def _write(self, number: int, body: bytes, answer: int, what: str) -> None:
        words = -(-(_HEADER.size + len(body)) // 4)
        header = _HEADER.pack(number, words, answer // 4)
        try:
            os.write(self._file, header + body)
        except OSError as error:
            raise VerbsError(named(error.errno or 0), f"the uverbs command {what}") from None
