"""Buffers of every kind of memory, registered and looked at: a part of an end."""

import ctypes
from typing import Any

from conformance.spec.buffer import OVER_LIMIT, Backing, Verb
from conformance.spec.memory import Run, changes, image
from conformance.spec.model import GUARD, Key
from conformance.spec.pinning import LARGE, READ_ONLY, UNPINNABLE
from conformance.spec.vocabulary import Access
from rdma_conformance.endpoint import libibverbs, mappings, verbs
from rdma_conformance.endpoint.accounts import Accounts
from rdma_conformance.endpoint.agreement import NONE
from rdma_conformance.endpoint.books import BOOKS
from rdma_conformance.endpoint.region import Region

BYSTANDER = 64  # bytes of the region that has to go on working


class Buffers:
    """One buffer at a time: `open`, then what is asked of it, then `close_buffer`."""

    def __init__(self, device: str, domain: Any, max_mr_size: int):
        self._domain = domain
        self._direct = libibverbs.Domain(device)
        self._accounts = Accounts(device)
        self._bystander = Region({Key.OWN: domain}, Access.LOCAL_WRITE, BYSTANDER)
        self._max_mr_size = max_mr_size
        self._leaked: list[Any] = []  # by a planted fault
        self._stuck: list[Any] = []  # what would not deregister: it ends with the process
        self._mapping: mappings.Mapping | None = None
        self._made: Any = None
        self._address = self._length = 0
        self._image = b""
        self._writable = True  # by this process

    def bystander(self) -> dict[str, int]:
        """A region that is there from first to last, as `End.request` takes it."""
        area = self._bystander.area
        return {"address": area.address, "length": area.length, "lkey": self._bystander.own.lkey}

    def fill_bystander(self, seed: int) -> dict[str, int]:
        """Give the bystander the image of a requester's buffer; returns it as `bystander`."""
        self._bystander.area.fill(image(seed, "local", BYSTANDER))
        return self.bystander()

    def count(self) -> int:
        """How many regions are there from one case to the next."""
        return self._bystander.count()

    def bystander_changes(self) -> list[Run]:
        return self._bystander.area.changes()

    def open(self, buffer: dict[str, Any], seed: int) -> dict[str, int]:
        """Map the buffer that is a builtin `spec.buffer.Buffer`; returns address and length.

        `readable`: the process may look at all of it.
        """
        backing = Backing(buffer["backing"])
        self._length = self._max_mr_size + 1 if buffer["length"] == OVER_LIMIT else buffer["length"]
        self._writable = backing not in READ_ONLY
        fixed = mappings.kernel_data() if backing is Backing.KERNEL_DATA else None
        fixed = mappings.ADDRESSES.get(backing, fixed)
        if fixed is None:
            self._map(backing, buffer, seed)
        else:
            self._address = fixed
        there = self._mapping is not None and backing not in UNPINNABLE
        readable = there and buffer["hole"] is None and self._length < LARGE
        return {"address": self._address, "length": self._length, "readable": readable}

    def _map(self, backing: Backing, buffer: dict[str, Any], seed: int) -> None:
        """A page before, the pages of the region (one of a range that can't be), a page behind."""
        unit, offset = mappings.unit(backing), buffer["offset"]
        size = self._length if self._length < LARGE else unit
        pages = -(-(offset + size) // unit)
        first = unit + offset
        self._image = image(seed, "local", size)
        content = bytes(first - GUARD) + self._image
        self._mapping = mappings.Mapping(
            backing, (pages + 2) * unit if backing is not Backing.DEVICE else unit, content
        )
        self._address = self._mapping.address + first
        if backing is Backing.DEVICE:
            self._address = self._mapping.address
        if buffer["hole"] is not None:
            self._mapping.unmap(self._mapping.address + unit * (1 + buffer["hole"]), unit)

    def attempt(
        self, access: int, verb: str, iova: int | None, times: int, leak: bool
    ) -> dict[str, Any]:
        """Register and deregister at once, `times` times, in a protection domain of its own.

        `result` is OK or errnos, more than one when they differ; `left` what differs after.
        With `leak` a region stays, as with a driver that loses count.
        """
        before = self._accounts.balance()
        results: list[str] = []
        reported = "as asked"
        for _ in range(times):
            try:
                made = self._register(access, verb, iova)
            except libibverbs.Refused as refused:
                result = refused.name
            else:
                result, reported = "OK", self._reported(made)
                self._direct.deregister(made)
            if result not in results:
                results.append(result)
        if leak:
            area = self._bystander.area
            self._leaked.append(self._direct.register(area.address, 1, 0))
            BOOKS.closed(self._leaked[-1])
        found = {"result": ", ".join(results), "left": self._accounts.left(before)}
        return {**found, "reported": reported} if found["result"] == "OK" else found

    def _register(self, access: int, verb: str, iova: int | None) -> Any:
        named = self._address if iova is None else iova
        return self._direct.register(self._address, self._length, access, Verb(verb), named)

    def _reported(self, made: Any) -> str:
        address, length = made.contents.addr or 0, made.contents.length
        if (address, length) == (self._address, self._length):
            return "as asked"
        return f"address {address:#x}, length {length:#x}"

    def attempt_ordinary(self) -> str:
        """OK, or the errno of registering ordinary memory, which is deregistered at once."""
        try:
            made = self._direct.register(self._bystander.area.address, 1, Access.LOCAL_WRITE)
        except libibverbs.Refused as refused:
            return refused.name
        self._direct.deregister(made)
        return "OK"

    def register(self, access: int, iova: int | None) -> dict[str, Any]:
        """Register so that queue pairs can use it: `lkey`, and `pinned_kb` by doing so."""
        before = self._accounts.pinned_kb()
        self._made = verbs.register(self._domain, self._address, self._length, access, iova)
        return {"lkey": int(self._made.lkey), "pinned_kb": self._accounts.pinned_kb() - before}

    def deregister(self) -> dict[str, Any]:
        """`dereg` is OK or the errno, `released_kb` what it unpinned."""
        before = self._accounts.pinned_kb()
        result = NONE
        if self._made is not None:
            result = "OK"
            try:
                verbs.deregister(self._made)
            except verbs.VerbsError as refused:
                self._stuck.append(self._made)
                result = refused.name
            self._made = None
        return {"dereg": result, "released_kb": before - self._accounts.pinned_kb()}

    def refill(self) -> None:
        """Restore region and guards, where the process may write them."""
        if self._writable:
            ctypes.memmove(self._address - GUARD, self._image, len(self._image))

    def changes(self) -> list[Run]:
        """The runs in which region and guards differ from what was filled in."""
        now = ctypes.string_at(self._address - GUARD, len(self._image))
        return changes(self._image, now, GUARD)

    def close_buffer(self) -> None:
        if self._mapping is not None:
            self._mapping.close()
            self._mapping = None

    def close(self) -> None:
        self.close_buffer()
        for each in self._leaked:
            self._direct.deregister(each)
        self._bystander.close()
        self._direct.close()
        self._accounts.close()
