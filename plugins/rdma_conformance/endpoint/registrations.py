"""Performs registrations of every kind of memory on a pair of ends."""

from collections.abc import Callable
from typing import Any

from conformance.spec.buffer import HUGE_2M
from conformance.spec.memory import Run, image, run
from conformance.spec.model import GUARD
from conformance.spec.vocabulary import PAGE, Access, Operation, Status
from rdma_conformance.endpoint.agreement import NONE, Case
from rdma_conformance.plants import HONEST, Plant

WHOLE = 4 * PAGE  # bytes up to which a region's data travel at once, else in samples
SAMPLE = 64
EXACT = "exact"

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
        place = self._buffers.open(plant.altered(case)["buffer"], seed)
        if plant.instead:  # other memory is looked at as that of the case
            place["length"] = case["buffer"]["length"]
        iova = None if "iova" in plant.ignores else case["iova"]
        found = self._buffers.attempt(access, case["verb"], iova, case["times"], plant.leak)
        if found["result"] == "OK":
            made = self._buffers.register(access, iova)
            found |= self._used(place, made, case, seed)
        else:
            request = self._buffers.bystander()
            found["bystander"] = self._carry(Operation.WRITE, request, seed)["requester"]
        self._buffers.close_buffer()
        return found

    def _used(
        self, place: dict[str, int], made: dict[str, int], case: Case, seed: int
    ) -> dict[str, Any]:
        """Look for what `case` promises of the region `made`: source, sink, edges. Deregister."""
        iova, lkey = case["iova"], made["lkey"]
        address = place["address"] if iova is None else iova
        writable = bool(case["access"] & Access.LOCAL_WRITE)
        found: dict[str, Any] = {"pinned_kb": made["pinned_kb"]}
        whole = place["readable"] and place["length"]
        for at, length in samples(address, place["length"]) if whole else ():
            part = {"address": address + at, "length": length, "lkey": lkey}
            content = image(seed, "local", place["length"])[GUARD:]
            _note(found, "source", *self._source(part, at, seed, content))
            if writable:
                _note(found, "sink", *self._sink(part, at, seed))
        for name, at in (("before", -1), ("beyond", place["length"])):
            found[name] = self._edge(address + at, lkey, seed)
        if iova is not None:
            found["by_address"] = self._edge(place["address"], lkey, seed)
        ended = self._buffers.deregister()
        if ended.pop("released_kb") != made["pinned_kb"]:
            found["dereg"] = "did not release what registering pinned"
            return found
        return found | ended

    def _edge(self, address: int, lkey: int, seed: int) -> str:
        """Whether a byte at an address, of which only 64 bits count, is refused."""
        part = {"address": address % (1 << 64), "length": 1, "lkey": lkey}
        return _told(self._carry(Operation.WRITE, part, seed))

    def _source(
        self, part: dict[str, int], at: int, seed: int, content: bytes
    ) -> tuple[str, list[Run], list[Run]]:
        """A WRITE from the region: its status, what changed at the peer, what should have."""
        seen = self._carry(Operation.WRITE, part, seed)
        return seen["requester"], seen["region"], [run(0, content[at : at + part["length"]])]

    def _sink(self, part: dict[str, int], at: int, seed: int) -> tuple[str, list[Run], list[Run]]:
        """A READ into the region: its status, what changed here, what should have."""
        seen = self._carry(Operation.READ, part, seed)
        length = part["length"]
        arrived = image(seed, "region", max(length, SAMPLE))[GUARD : GUARD + length]
        changed = self._buffers.changes()
        self._buffers.refill()
        return seen["requester"], changed, [run(at, arrived)]


def _note(
    found: dict[str, Any], name: str, status: str, changed: list[Run], wanted: list[Run]
) -> None:
    """Keep the first answer that is not exact, with what was seen then."""
    if found.setdefault(name, EXACT) != EXACT or changed == wanted:
        return
    found[name] = "other bytes" if status == Status.SUCCESS.name else status
    found[f"{name}_seen"] = changed


def _told(seen: dict[str, Any]) -> str:
    """`refused`, with whatever error, or what happened instead.

    With which error a requester's own fault is told is asked by the rules of local protection.
    """
    failed = seen["requester"] not in (Status.SUCCESS.name, NONE)
    if failed and not seen["region"]:
        return "refused"
    return f"{seen['requester']}, {seen['region']}"
