"""Memory of an end that is registered more than once: a part of an end."""

from typing import Any

from conformance.spec.memory import Run, image
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.arena import Area


class Overlaps:
    """One piece of memory at a time, with its regions in the order in which they were made."""

    def __init__(self, domain: Any):
        self._domain = domain
        self._area: Area | None = None
        self._regions: list[Any] = []
        self._image = b""

    def open(self, parts: list[dict[str, int]], seed: int) -> dict[str, Any]:
        """Register `parts` (access, offset, length) of fresh memory; its address and the rkeys."""
        size = max(part["offset"] + part["length"] for part in parts)
        self._area = Area(size)
        self._image = image(seed, "region", size)
        self._area.fill(self._image)
        for part in parts:
            address = self._area.address + part["offset"]
            made = verbs.register(self._domain, address, part["length"], part["access"])
            self._regions.append(made)
        rkeys = [int(each.rkey) for each in self._regions]
        return {"address": self._area.address, "rkeys": rkeys}

    def changes(self) -> list[Run]:
        """What has changed in the memory and its guards since this was asked last."""
        found = self._area.changes()
        self._area.fill(self._image)
        return found

    def end_first(self) -> None:
        verbs.deregister(self._regions.pop(0))

    def close(self) -> None:
        while self._regions:
            verbs.deregister(self._regions.pop())
        if self._area is not None:
            self._area.close()
            self._area = None
