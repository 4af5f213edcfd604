"""Performs registrations of every kind of memory on a pair of ends."""

from collections.abc import Callable
from typing import Any

from conformance.spec.buffer import HUGE_2M
from conformance.spec.memory import image, run
from conformance.spec.model import GUARD
from conformance.spec.vocabulary import PAGE, Access, Operation
from rdma_conformance.endpoint.agreement import Case
from rdma_conformance.plants import HONEST, Plant

WHOLE = 4 * PAGE  # bytes up to which a region's data travel at once, else in samples
SAMPLE = 64

# operation, the requester's memory as `End.request` takes it, seed -> what both sides saw
Carry = Callable[[Operation, dict[str, int], int], dict[str, Any]]


def samples(address: int, length: int) -> list[tuple[int, int]]:
    """Offsets and lengths of the parts of a region whose data are looked at.

    All of a small one; of a large one the first and the last bytes and the edges of huge pages.
    """
    if length <= WHOLE:
        return [(0, length)]
    edges = range(-address % HUGE_2M, length - SAMPLE, HUGE_2M)
    inner = [(at - SAMPLE // 2, SAMPLE) for at in edges if at > SAMPLE]
    return [(0, SAMPLE), *inner[:3], (length - SAMPLE, SAMPLE)]


class BufferTrials:
    """Registers a buffer, uses it as source and sink to the byte, and looks what is left."""

    def __init__(self, requester: Any, carry: Carry):
        self._buffers = requester.buffers
        self._carry = carry

    def perform(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        """The facts of a `spec.buffer.BufferRegistration`."""
        access = plant.region_access(case["access"])
        place = self._buffers.open(case["buffer"], seed)
        found = self._buffers.attempt(access, case["verb"], case["times"], plant.leak)
        if found["result"] == "OK":
            found |= self._used(place, access, seed)
        else:
            request = self._buffers.bystander()
            found["bystander"] = self._carry(Operation.WRITE, request, seed)["requester"]
        self._buffers.close_buffer()
        return found

    def _used(self, place: dict[str, int], access: int, seed: int) -> dict[str, Any]:
        made = self._buffers.register(access)
        address, lkey = place["address"], made["lkey"]
        source = image(seed, "local", place["length"])[GUARD:]
        found: dict[str, Any] = {"pinned_kb": made["pinned_kb"], "source": "exact", "sink": "exact"}
        for at, length in samples(address, place["length"]) if place["length"] else ():
            part = {"address": address + at, "length": length, "lkey": lkey}
            seen = self._carry(Operation.WRITE, part, seed)
            if seen["region"] != [run(0, source[at : at + length])]:
                found["source"] = f"{seen['requester']} at {at}: {seen['region']}"
            if access & Access.LOCAL_WRITE:
                seen = self._carry(Operation.READ, part, seed)
                arrived = image(seed, "region", length)[GUARD : GUARD + length]
                changed = self._buffers.changes()
                self._buffers.refill()
                if changed != [run(at, arrived)]:
                    found["sink"] = f"{seen['requester']} at {at}: {changed}"
        for name, at in (("before", -1), ("beyond", place["length"])):
            part = {"address": address + at, "length": 1, "lkey": lkey}
            found[name] = self._carry(Operation.WRITE, part, seed)["requester"]
        ended = self._buffers.deregister()
        if ended.pop("released_kb") != made["pinned_kb"]:
            found["dereg"] = "did not release what registering pinned"
            return found
        return found | ended
