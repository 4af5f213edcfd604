"""What one end does around the end of a registration; see `conformance.spec.lifetime`."""

import ctypes
import mmap
import os
import signal
import time
from typing import Any

from conformance.spec.lifetime import Busy, Handle, Wrong
from conformance.spec.memory import Run, image, low
from conformance.spec.model import ALL_RIGHTS, GUARD, PAGE
from conformance.spec.vocabulary import Access
from conformance.spec.window import Domain
from rdma_conformance.endpoint import privileges, verbs
from rdma_conformance.endpoint.bench import LATER_S, Bench
from rdma_conformance.endpoint.forks import reap
from rdma_conformance.endpoint.remappable import Remappable
from rdma_conformance.endpoint.verbs import VerbsError

TRIAL = "trial"  # the protection domain that is to be ended
UNKNOWN = 0x7FFFFFF0  # no kernel gives such a handle
TENTHS = 10
STEEP = 4  # times the first tenth's fastest round: then the cost is not flat


class Lifetimes:
    """Works on the objects of a `Bench`."""

    def __init__(self, bench: Bench):
        self._bench = bench
        self._before = 0
        self._trial: Any = None
        self._mapping: Remappable | None = None
        self._mapped: Any = None
        self._snapshot = b""

    # An object that is in use

    def prepare(self, what: str) -> None:
        """A protection domain with a region, a window or a queue pair in it."""
        bench = self._bench
        self._trial = bench.domains[TRIAL] = verbs.allocate_domain(bench.device)
        if what == Busy.DOMAIN_REGION:
            region = {"access": int(ALL_RIGHTS), "length": PAGE, "page_offset": 0}
            bench.register("user", {**region, "domain": TRIAL}, 0)
        elif what == Busy.DOMAIN_WINDOW:
            bench.windows["user"] = verbs.allocate_window(self._trial, 2)
        else:
            bench.queue_pair("user", TRIAL)

    def end_domain(self) -> str:
        """Ask the kernel to end the domain as it is: OK or the errno."""
        try:
            self._bench.commands.deallocate_domain(int(self._trial.handle))
        except VerbsError as refused:
            return refused.name
        return "OK"

    def domain_alive(self) -> str:
        """Whether the domain still takes a region: OK or the errno."""
        region = {"access": 1, "length": PAGE, "page_offset": 0, "domain": TRIAL}
        result = self._bench.register("newcomer", region, 0)["result"]
        return result if result != "OK" else self._bench.deregister("newcomer")

    def end_domain_in_order(self) -> str:
        """Take down what is in the domain, then the domain: OK or the errno."""
        bench = self._bench
        left = bench.clear()
        del bench.domains[TRIAL]
        if left:
            return ", ".join(left)
        try:
            verbs.deallocate_domain(self._trial)
        except VerbsError as refused:
            return refused.name
        return "OK"

    def end_handle(self, which: str) -> str:
        """DEREG_MR of a region's handle, in its first, or its second life, or of no region."""
        commands = self._bench.commands
        domain = int(self._bench.domains[Domain.OWN].handle)
        area = self._bench.areas["region"]
        handle = commands.register(domain, area.address, PAGE, int(Access.LOCAL_WRITE))
        if which == Handle.LIVE:
            return self._ended(handle)
        result = self._ended(handle)
        if result != "OK":
            return f"the first time: {result}"
        wrong = {Handle.TWICE: handle, Handle.UNKNOWN: UNKNOWN, Handle.DOMAIN: domain}
        return self._ended(wrong[Handle(which)])

    def _ended(self, handle: int) -> str:
        try:
            self._bench.commands.deregister(handle)
        except VerbsError as refused:
            return refused.name
        return "OK"

    # Memory that goes before its registration

    def map(self, length: int, access: int, seed: int) -> dict[str, Any]:
        """Map and register memory with the bytes of the image of `region`: address and rkey."""
        self._mapping = Remappable(length)
        self._mapping.fill(image(seed, "region", length)[GUARD : GUARD + length])
        self._before = self._bench.pinned()
        domain = self._bench.domains[Domain.OWN]
        self._mapped = verbs.register(domain, self._mapping.address, length, access)
        self._mapping.remember()
        return {"address": self._mapping.address, "rkey": int(self._mapped.rkey)}

    def map_read_only(self, length: int, access: int, seed: int) -> dict[str, Any]:
        """As `map`, of memory that this process may only read; the region is named mapped."""
        bench = self._bench
        self._mapping = Remappable(length)
        self._mapping.fill(image(seed, "region", length)[GUARD : GUARD + length])
        self._mapping.protect(mmap.PROT_READ)
        self._mapping.remember()
        self._before = bench.pinned()
        domain, address = bench.domains[Domain.OWN], self._mapping.address
        try:
            bench.regions["mapped"] = verbs.register(domain, address, length, access)
        except VerbsError as refused:
            return {"result": refused.name, "address": address}
        return {"result": "OK", "address": address}

    def unregister_named(self, name: str) -> dict[str, Any]:
        """Deregister a region of the bench: dereg, and pinned_left since it was mapped."""
        result = self._bench.deregister(name)
        return {"dereg": result, "pinned_left": self._bench.pinned() - self._before}

    def change(self, how: str, seed: int) -> str:
        """Do to the memory what `spec.lifetime.Wrong` says: done, or what went wrong."""
        mapping = self._mapping
        try:
            match how:
                case Wrong.UNMAPPED:
                    mapping.unmap()
                case Wrong.MAPPED_OVER:
                    mapping.map_over(low(seed, "over", mapping.length))
                case Wrong.DISCARDED:
                    mapping.discard()
                case Wrong.READ_ONLY:
                    mapping.protect(mmap.PROT_READ)
        except OSError as error:
            return str(error)
        mapping.remember()
        return "done"

    def seen(self) -> list[Run]:
        """What changed since, as this process sees its memory."""
        return self._mapping.seen()

    def unregister(self) -> dict[str, Any]:
        """Deregister the mapping and unmap what is left: dereg and pinned_left in kB."""
        made, self._mapped = self._mapped, None
        result = "OK"
        try:
            verbs.deregister(made)
        except VerbsError as refused:
            result = refused.name
        else:
            self._mapping.close()
        return {"dereg": result, "pinned_left": self._bench.pinned() - self._before}

    # A large transfer

    def large(self, length: int, fill: int, access: int) -> dict[str, Any]:
        """Map and register `length` bytes of the value `fill`: address, lkey, rkey."""
        self._mapping = Remappable(length)
        self._mapping.fill(bytes([fill]) * length)
        domain = self._bench.domains[Domain.OWN]
        self._mapped = verbs.register(domain, self._mapping.address, length, access)
        keys = {"lkey": int(self._mapped.lkey), "rkey": int(self._mapped.rkey)}
        return {"address": self._mapping.address, **keys}

    def end_large(self, after_us: int, marker: int | None) -> str:
        """Deregister after so many microseconds: OK or the errno.

        Then the memory is remembered for `later`, or overwritten with the value `marker`.
        """
        time.sleep(after_us / 1e6)
        made, self._mapped = self._mapped, None
        try:
            verbs.deregister(made)
        except VerbsError as refused:
            self._mapped = made
            return refused.name
        if marker is None:
            self._snapshot = self._mapping.bytes()
        else:
            self._mapping.fill(bytes([marker]) * self._mapping.length)
        return "OK"

    def written_later(self) -> bool:
        """Whether memory has changed since `end_large` returned, or does within a while."""
        time.sleep(LATER_S)
        return self._mapping.bytes() != self._snapshot

    def count(self, value: int) -> int:
        """How many bytes of the mapping have this value."""
        return self._mapping.bytes().count(bytes([value]))

    def end_mapping(self) -> list[str]:
        """Take down what `map` or `large` made: what would not go."""
        left = []
        if self._mapped is not None:
            made, self._mapped = self._mapped, None
            try:
                verbs.deregister(made)
            except VerbsError as refused:
                return [f"region mapping: {refused.name}"]
        if self._mapping is not None:
            self._mapping.close()
            self._mapping = None
        return left

    # Many rounds, and a child

    def rounds(self, number: int, forgetful: bool) -> dict[str, Any]:
        """Register and deregister a page `number` times: failed, pinned_left (kB) and cost.

        The cost is flat unless the fastest round of the last tenth takes several times as long
        as that of the first. `forgetful` is a planted fault: a region more stays.
        """
        domain = self._bench.domains[Domain.OWN]
        mapping = Remappable(PAGE)
        access = int(ALL_RIGHTS)
        failed, fastest = 0, []
        before = self._bench.pinned()
        if forgetful:
            region = {"access": access, "length": PAGE, "page_offset": 0, "domain": Domain.OWN}
            self._bench.register("forgotten", region, 0)
        for _ in range(TENTHS):
            times = []
            for _ in range(number // TENTHS):
                started = time.perf_counter()
                try:
                    verbs.deregister(verbs.register(domain, mapping.address, PAGE, access))
                except VerbsError:
                    failed += 1
                times.append(time.perf_counter() - started)
            fastest.append(min(times))
        mapping.close()
        flat = fastest[-1] <= STEEP * fastest[0]
        cost = "flat" if flat else f"from {fastest[0] * 1e6:.0f} to {fastest[-1] * 1e6:.0f} us"
        pinned = self._bench.pinned() - before
        return {"failed": failed, "pinned_left": pinned, "cost": cost}

    def fork(self, killed: bool) -> str:
        """A child that does nothing, and exits or is killed: how it ended."""
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            privileges.die_with_parent(parent)
            if killed:
                ctypes.CDLL(None).pause()  # without a look at Python's locks, which may be held
            os._exit(0)
        if killed:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            return "killed" if os.waitstatus_to_exitcode(status) == -signal.SIGKILL else "died"
        status = reap(child)
        return "exited" if status == 0 else "died" if status < 0 else "failed"

    def close(self) -> None:
        self.end_mapping()
