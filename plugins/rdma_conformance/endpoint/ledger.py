"""What a process under a limit has registered, and what that pins."""

from typing import Any

from rdma_conformance.endpoint import privileges
from rdma_conformance.endpoint.accounting import PinnedMemory
from rdma_conformance.endpoint.libibverbs import Domain
from rdma_conformance.endpoint.mappings import Mapping, unit


class Ledger:
    """A device opened under a limit, with regions by number and what they pin beyond the start."""

    def __init__(self, device: str, limit: int | None, capable: bool):
        self._device = device
        self._domain = Domain(device)
        self._pinned = PinnedMemory()
        self._start_kb = self._pinned.kilobytes()
        self._regions: dict[int, Any] = {}
        self._first: Mapping | None = None
        if not capable:
            privileges.drop(privileges.CAP_IPC_LOCK)
        self.limit(limit)

    def limit(self, value: int | None) -> None:
        """Limit what may be pinned beyond what an open device pins; 0 stays 0."""
        privileges.limit_memlock(value + self._start_kb * 1024 if value else value)

    def pinned_kb(self) -> int:
        return self._pinned.kilobytes() - self._start_kb

    def register(
        self, number: int, length: int, *, offset: int, backing: str, same: bool, access: int
    ) -> None:
        """Register fresh memory of that kind, or the first one's again. Raises Refused."""
        if self._first is None or not same:
            size = unit(backing)
            pages = -(-(offset + length) // size)
            mapping = Mapping(backing, pages * size, b"")
            self._first = self._first or mapping
        else:
            mapping = self._first
        self._regions[number] = self._domain.register(mapping.address + offset, length, access)

    def deregister(self, number: int) -> None:
        self._domain.deregister(self._regions.pop(number))

    def forget(self, number: int) -> None:
        """As a driver that loses count: the region stays."""
        self._regions.pop(number)

    def reopen(self) -> None:
        """Close the device with all that is registered, and open it again."""
        self._regions.clear()
        self._domain.abandon()
        self._domain = Domain(self._device)
