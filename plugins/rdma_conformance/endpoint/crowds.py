"""Performs the cases of many regions, and of memory that changes under one."""

from collections.abc import Callable
from typing import Any

from conformance.spec.crowd import SIZE
from conformance.spec.memory import image, run
from conformance.spec.model import ALL_RIGHTS, GUARD
from conformance.spec.vocabulary import PAGE, Access, Operation, Status
from rdma_conformance.endpoint.agreement import Case
from rdma_conformance.endpoint.registrations import EXACT, Carry
from rdma_conformance.plants import HONEST, Plant

# operation, the responder's memory (address and rkey), seed -> what both sides saw
Reach = Callable[[Operation, dict[str, int], int], dict[str, Any]]


class Crowds:
    """One performer for each kind of `spec.crowd`."""

    def __init__(self, requester: Any, responder: Any, carry: Carry, reach: Reach):
        self._requester = requester
        self._responder = responder
        self._carry = carry
        self._reach = reach

    def performers(self) -> dict[str, Callable[..., dict[str, Any]]]:
        """By the kind of case."""
        return {
            "overlap": self.overlap,
            "crowd": self.crowd,
            "churn": self.churn,
            "limit": self.limit,
            "listed": self.listed,
            "forked": self.forked,
            "remapped": self.remapped,
        }

    def overlap(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        overlaps = self._responder.overlaps
        first = {**case["first"], "access": plant.region_access(case["first"]["access"])}
        opened = overlaps.open([first, case["second"]], seed)

        def by(number: int) -> str:
            target = {"address": opened["address"] + case["at"], "rkey": opened["rkeys"][number]}
            return self._tried(Operation(case["operation"]), target, case["at"], seed)

        found = {"first": by(0), "second": by(1)}
        overlaps.end_first()
        found |= {"first_ended": by(0), "second_stays": by(1)}
        overlaps.close()
        return found

    def _tried(self, operation: Operation, target: dict[str, int], at: int, seed: int) -> str:
        """`granted` or `refused`, each to the byte; else what was seen."""
        seen = self._reach(operation, target, seed)
        changed = self._responder.overlaps.changes()
        wanted = {"there": changed, "here": seen["bystander"]}
        granted: dict[str, Any] = {"there": [], "here": []}
        if operation is Operation.WRITE:
            granted["there"] = [run(at, image(seed, "local", SIZE)[GUARD : GUARD + SIZE])]
        else:
            first = GUARD + at
            # The image of a longer region begins as that of a shorter one.
            data = image(seed, "region", at + SIZE)[first : first + SIZE]
            granted["here"] = [run(0, data)]
        status = seen["requester"]
        if status == Status.SUCCESS.name and wanted == granted:
            return "granted"
        if status == Status.REM_ACCESS_ERR.name and not changed and not seen["bystander"]:
            return "refused"
        return f"{status}: {wanted}"

    def churn(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        found = self._responder.churns.churn(case["count"], plant.leak)
        whole = {"access": int(ALL_RIGHTS), "offset": 0, "length": PAGE}
        opened = self._responder.overlaps.open([whole], seed)
        target = {"address": opened["address"], "rkey": opened["rkeys"][0]}
        seen = self._reach(Operation.WRITE, target, seed)
        changed = self._responder.overlaps.changes()
        self._responder.overlaps.close()
        exact = changed == [run(0, image(seed, "local", SIZE)[GUARD : GUARD + SIZE])]
        return {**found, "newest": seen["requester"], "bytes": EXACT if exact else changed}

    def crowd(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        arguments = {name: case[name] for name in ("processes", "threads", "count")}
        return self._requester.confined.run("crowd", {**arguments, "forgetful": plant.leak})

    def limit(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        churns, bystander = self._requester.churns, self._requester.buffers.bystander()
        self._carry(Operation.WRITE, bystander, seed)  # what a connection pins is not counted
        result = churns.fill(case["count"])
        seen = self._carry(Operation.WRITE, bystander, seed)
        return {"result": result, "bystander": seen["requester"], **churns.empty(plant.leak)}

    def listed(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        return self._requester.churns.listed(plant.altered(case)["length"])

    def forked(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        changing = self._requester.changing
        region = changing.open(case["length"], case["offset"], int(Access.LOCAL_WRITE))
        changing.write(seed)
        changing.fork()
        if "fork" in plant.ignores:
            changing.remap()
        changing.write(seed + 1)
        source = self._content(region, seed)
        self._carry(Operation.READ, region, seed)
        arrived = image(seed, "region", case["length"])[GUARD : GUARD + case["length"]].hex()
        seen = changing.read()
        found = {
            "source": "what the parent wrote" if source == "new" else source,
            "sink": "seen by the parent" if seen == arrived else seen,
            **changing.end_child(),
        }
        changing.close_region()
        return found

    def remapped(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        changing = self._requester.changing
        access = int(Access.LOCAL_WRITE | (Access.ON_DEMAND if case["on_demand"] else 0))
        region = changing.open(case["length"], 0, plant.region_access(access))
        changing.write(seed)
        self._carry(Operation.WRITE, region, seed)
        changing.remap()
        changing.write(seed + 1)
        found = {"old": self._content(region, seed)}
        found["new"] = self._content(changing.register(access), seed)
        return {**found, "left_kb": changing.close_region()}

    def _content(self, region: dict[str, int], seed: int) -> str:
        """Whether a WRITE from the region carries the `old` image or the `new` one."""
        seen = self._carry(Operation.WRITE, region, seed)
        length = region["length"]
        for name, each in (("old", seed), ("new", seed + 1)):
            if seen["region"] == [run(0, image(each, "local", length)[GUARD : GUARD + length])]:
                return name
        return f"{seen['requester']}: {seen['region']}"
