"""Memory for on-demand paging, brought into a state and registered by one end."""

import ctypes
import mmap
import os
import signal
from typing import Any

from conformance.spec.memory import image
from conformance.spec.model import GUARD
from conformance.spec.paging import BLANK, EXTENT, Mistake, Pages, over
from conformance.spec.vocabulary import Access
from conformance.spec.window import Domain
from rdma_conformance.endpoint import privileges, verbs
from rdma_conformance.endpoint.bench import Bench
from rdma_conformance.endpoint.remappable import Remappable
from rdma_conformance.endpoint.verbs import VerbsError

NAME = "paged"
FLUSH = 1  # IBV_ADVISE_MR_FLAG_FLUSH
WRONG_ADVICE, WRONG_FLAGS = 77, 1 << 7


class Child:
    """A forked child that shares this process's pages, and says what it sees in one."""

    def __init__(self, address: int, length: int):
        asked, ask = os.pipe()
        answer, answered = os.pipe()
        self._ask, self._answer = ask, answer
        self._length = length
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            privileges.die_with_parent(parent)
            os.close(ask)  # else its own end would keep the pipe open
            os.read(asked, 1)
            os.write(answered, ctypes.string_at(address, length))
            os._exit(0)
        os.close(asked)
        os.close(answered)

    def sees(self) -> bytes:
        os.write(self._ask, b"?")
        return os.read(self._answer, self._length)

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._ask)
        os.close(self._answer)


class Paging:
    """One mapping at a time; its region is the bench's region `paged`."""

    def __init__(self, bench: Bench):
        self._bench = bench
        self._mapping: Remappable | None = None
        self._zero: Remappable | None = None
        self._child: Child | None = None
        self._before = b""

    def map(self, pages: str, access: int, seed: int) -> dict[str, Any]:
        """Map pages, register them, and bring them into the state of `spec.paging.Pages`.

        `access` has ON_DEMAND but for a planted fault. result is OK or the errno; address, lkey,
        rkey; pinned is what that pins, in kB.
        """
        mapping = self._mapping = Remappable(EXTENT)
        if pages not in BLANK or pages == Pages.DISCARDED:
            self._before = image(seed, NAME, EXTENT)[GUARD : GUARD + EXTENT]
            mapping.fill(self._before)
        if pages == Pages.READ_ONLY:
            mapping.protect(mmap.PROT_READ)
        found = self._register(mapping.address, EXTENT, access)
        if pages == Pages.ZERO:
            self._zero = Remappable(EXTENT)
            self._zero.bytes()
            mapping.bytes()
        elif pages == Pages.FORKED:
            self.fork()
        elif pages == Pages.UNMAPPED:
            mapping.unmap()
        elif pages == Pages.MAPPED_OVER:
            mapping.map_over(over(seed))
        elif pages == Pages.DISCARDED:
            mapping.discard()
        return found

    def fork(self) -> None:
        """Fork a child that shares the pages, in place of one that was forked before."""
        if self._child is not None:
            self._child.close()
        self._child = Child(self._mapping.address, EXTENT)

    def map_everything(self, access: int) -> dict[str, Any]:
        """An implicit region over the whole address space, and a page to use through it."""
        self._mapping = Remappable(EXTENT)
        try:
            made = verbs.register_everything(self._bench.domains[Domain.OWN], access)
        except VerbsError as refused:
            return {"result": refused.name}
        self._bench.regions[NAME] = made
        return {"result": "OK", "address": self._mapping.address, "rkey": int(made.rkey)}

    def _register(self, address: int, length: int, access: int) -> dict[str, Any]:
        bench = self._bench
        before = bench.pinned()
        try:
            made = verbs.register(bench.domains[Domain.OWN], address, length, access)
        except VerbsError as refused:
            return {"result": refused.name, "address": address, "pinned": 0}
        bench.regions[NAME] = made
        keys = {"lkey": int(made.lkey), "rkey": int(made.rkey)}
        return {"result": "OK", "address": address, "pinned": bench.pinned() - before, **keys}

    def advise(self, advice: int, flush: bool, mistake: str) -> str:
        """ibv_advise_mr() of the whole page: OK or the errno."""
        made, mapping = self._bench.regions[NAME], self._mapping
        flags = FLUSH if flush else 0
        address, length, key = mapping.address, EXTENT, int(made.lkey)
        match mistake:
            case Mistake.RANGE:
                address += EXTENT
            case Mistake.KEY:
                key ^= 0x00A5A500
            case Mistake.ADVICE:
                advice = WRONG_ADVICE
            case Mistake.FLAGS:
                flags |= WRONG_FLAGS
        domain = self._bench.domains[Domain.OWN]
        try:
            verbs.advise(domain, advice, flags, (address, length, key))
        except VerbsError as refused:
            return refused.name
        return "OK"

    def contents(self, at: int, length: int) -> str:
        """What the process sees, in hex; `unmapped` where there is nothing to see."""
        mapping = self._mapping
        return mapping.bytes(at, length).hex() if mapping.mapped else "unmapped"

    def found(self, carried: str, at: int) -> dict[str, Any]:
        """Where in the pages these bytes (hex) are, -1 if nowhere, and what changed elsewhere.

        `at` is where they belong.
        """
        data, now = bytes.fromhex(carried), self._mapping.bytes()
        rest = [each[:at] + each[at + len(data) :] for each in (self._before, now)]
        elsewhere = "nothing" if rest[0] == rest[1] else "changed"
        return {"at": now.find(data), "elsewhere": elsewhere}

    def others(self, at: int, length: int) -> dict[str, str]:
        """What the child sees, and whether the zero page still is one."""
        seen = {}
        if self._child is not None:
            seen["child"] = self._child.sees()[at : at + length].hex()
        if self._zero is not None:
            blank = self._zero.bytes() == bytes(EXTENT)
            seen["zero_page"] = "zeros" if blank else "changed"
        return seen

    def receive(self, queue_pair: str, length: int, at: int) -> int:
        """A receive into the page; returns its wr_id."""
        return self._bench.post_receive_at(queue_pair, NAME, self._mapping.address + at, length)

    def clear(self) -> None:
        """End the child, and unmap: the region has ended before."""
        for each in (self._child, self._zero, self._mapping):
            if each is not None:
                each.close()
        self._child = self._zero = self._mapping = None

    def probe(self) -> dict[str, dict[str, str]]:
        """Whether ibv_advise_mr() is there, by trying it on a region with on-demand paging."""
        found: dict[str, dict[str, str]] = {"claims": {}, "denials": {}}
        made = self.map(Pages.WRITTEN, int(Access.LOCAL_WRITE | Access.ON_DEMAND), 0)
        if made["result"] == "OK":
            result = self.advise(0, True, Mistake.NONE)
            told = "denials" if result == "EOPNOTSUPP" else "claims"
            found[told]["advise_mr"] = f"ibv_advise_mr() with PREFETCH answers {result}"
            self._bench.deregister(NAME)
        else:
            why = f"no region with ON_DEMAND registers: {made['result']}"
            found["denials"]["advise_mr"] = why
        self.clear()
        return found
