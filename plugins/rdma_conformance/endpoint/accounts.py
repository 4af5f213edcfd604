"""The state that a refused or ended call must leave as it found it."""

import os
from dataclasses import dataclass

from rdma_conformance.endpoint.accounting import PinnedMemory
from rdma_conformance.endpoint.restrack import ResourceLists


@dataclass(frozen=True, slots=True)
class Balance:
    """Pinned memory in kB, the number of mappings, and the kernel's memory regions of a process."""

    pinned_kb: int
    mappings: int
    regions: int


class Accounts:
    """Balances of this process at a device."""

    def __init__(self, device: str):
        self._pinned = PinnedMemory()
        self._regions = ResourceLists([device])
        self._maps = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)

    def balance(self) -> Balance:
        return Balance(self._pinned.kilobytes(), self._count_mappings(), self._regions.own("mr"))

    def left(self, before: Balance) -> list[str]:
        """What differs from `before`, in words; empty when all is as it was."""
        now = self.balance()
        found = []
        if now.pinned_kb != before.pinned_kb:
            found.append(f"pinned memory {now.pinned_kb - before.pinned_kb:+} kB")
        if now.mappings != before.mappings:
            found.append(f"mappings {now.mappings - before.mappings:+}")
        if now.regions != before.regions:
            found.append(f"memory regions {now.regions - before.regions:+}")
        return found

    def pinned_kb(self) -> int:
        return self._pinned.kilobytes()

    def _count_mappings(self) -> int:
        os.lseek(self._maps, 0, os.SEEK_SET)
        count = 0
        while data := os.read(self._maps, 1 << 16):
            count += data.count(b"\n")
        return count

    def close(self) -> None:
        self._pinned.close()
        os.close(self._maps)
