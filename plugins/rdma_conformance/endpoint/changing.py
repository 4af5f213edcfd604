"""Memory that changes under a region: the process forks, or maps other memory at its place."""

import ctypes
import json
import os
from contextlib import suppress
from typing import Any

from conformance.spec.buffer import Backing
from conformance.spec.memory import image
from conformance.spec.model import GUARD
from conformance.spec.vocabulary import PAGE, Access
from rdma_conformance.endpoint import libibverbs, privileges, verbs
from rdma_conformance.endpoint.accounting import PinnedMemory
from rdma_conformance.endpoint.forks import reap
from rdma_conformance.endpoint.mappings import Mapping

CHILDS = 0x11  # what a child writes into all of its copy


class Changing:
    """A part of an end: one region at a time, in the middle of a mapping of its own."""

    def __init__(self, device: str, domain: Any):
        self._device = device
        self._domain = domain
        self._pinned = PinnedMemory()
        self._pinned_kb = 0  # by registering
        self._mapping: Mapping | None = None
        self._regions: list[Any] = []
        self._child: tuple[int, int, int] | None = None
        self._address = self._length = 0

    def open(self, length: int, offset: int, access: int) -> dict[str, int]:
        """Map memory and register `length` bytes of it, `offset` bytes into its second page."""
        self._pinned_kb = 0
        pages = -(-(offset + length) // PAGE)
        self._mapping = Mapping(Backing.ANONYMOUS, (pages + 2) * PAGE, b"")
        self._address, self._length = self._mapping.address + PAGE + offset, length
        return self.register(access)

    def register(self, access: int) -> dict[str, int]:
        """Register the same addresses (again)."""
        before = self._pinned.kilobytes()
        made = verbs.register(self._domain, self._address, self._length, access)
        self._pinned_kb += self._pinned.kilobytes() - before
        self._regions.append(made)
        return {"address": self._address, "length": self._length, "lkey": int(made.lkey)}

    def write(self, seed: int) -> None:
        """Write the image of `seed` into the region, as the process does."""
        data = image(seed, "local", self._length)[GUARD : GUARD + self._length]
        ctypes.memmove(self._address, data, self._length)

    def read(self) -> str:
        """What the process sees in the region, in hexadecimal digits."""
        return ctypes.string_at(self._address, self._length).hex()

    def remap(self) -> None:
        """Unmap all, and map fresh memory at the same addresses."""
        self._mapping.renew()

    def fork(self) -> None:
        """Fork a child that writes all of its copy of the mapping, and then waits."""
        parent = os.getpid()
        told, tell = os.pipe()
        heard, hear = os.pipe()
        pid = os.fork()
        if pid:
            os.close(told)
            os.close(hear)
            os.read(heard, 1)
            self._child = (pid, tell, heard)
            return
        try:
            privileges.die_with_parent(parent)
            ctypes.memset(self._mapping.address, CHILDS, self._mapping.size)
            os.write(hear, b"w")
            os.read(told, 1)
            os.write(hear, json.dumps(self._childs_answer()).encode())
        finally:
            os._exit(0)

    def _childs_answer(self) -> dict[str, str]:
        """In the child: whether its copy is its own, and whether it can use the device itself."""
        own = ctypes.string_at(self._mapping.address, self._mapping.size)
        child = "its own copy" if set(own) == {CHILDS} else "changed by others"
        try:
            domain = libibverbs.Domain(self._device)
            domain.deregister(domain.register(self._mapping.address, PAGE, Access.LOCAL_WRITE))
        except libibverbs.Refused as refused:
            return {"child": child, "child_registers": refused.name}
        return {"child": child, "child_registers": "OK"}

    def end_child(self) -> dict[str, str]:
        """What the child says at last: `child` and `child_registers`."""
        pid, tell, heard = self._child
        self._child = None
        with suppress(BrokenPipeError):  # it died before
            os.write(tell, b"e")
        with os.fdopen(heard, "rb") as pipe:
            answer = pipe.read()
        os.close(tell)
        reap(pid)
        return json.loads(answer) if answer else {"child": "died", "child_registers": "died"}

    def close_region(self) -> int:
        """Deregister and unmap; how many kB of what registering pinned stay pinned."""
        if self._child is not None:
            with suppress(RuntimeError):
                self.end_child()
        before = self._pinned.kilobytes()
        while self._regions:
            verbs.deregister(self._regions.pop())
        left = self._pinned_kb - (before - self._pinned.kilobytes())
        if self._mapping is not None:
            self._mapping.close()
            self._mapping = None
        return left

    def close(self) -> None:
        if self._mapping is not None:
            self.close_region()
        self._pinned.close()
