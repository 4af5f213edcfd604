"""Performs the cases of re-registration; see `conformance.spec.reregistration`."""

from typing import Any

from conformance.spec.effect import LOCAL
from conformance.spec.memory import image
from conformance.spec.model import ALL_RIGHTS, GUARD, PAGE, plain
from conformance.spec.reregistration import FEWER, Change, Fault
from conformance.spec.vocabulary import Access, Operation
from conformance.spec.window import (
    EXTENT,
    START,
    WINDOW_RIGHTS,
    Domain,
    Region,
    Through,
    WindowType,
)
from rdma_conformance.endpoint.agreement import NONE, Case
from rdma_conformance.endpoint.stage import SUCCESS, Stage
from rdma_conformance.plants import HONEST, Plant

OWN, FOREIGN = Through.BOUND.value, Through.FOREIGN.value
READ, WRITE = Operation.READ.value, Operation.WRITE.value
WINDOW = "window"
UNKNOWN_FLAG, UNDEFINED_BIT = 1 << 3, 1 << 13


class ReregistrationCases:
    """The performer of its kind of case, for `Pair`."""

    def __init__(self, requester: Any, responder: Any):
        self._responder = responder
        self._stage = Stage(requester, responder)
        self.performers = {"reregistered": self.perform}

    def perform(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        """What the request answers, and what the region is good for after it."""
        facts: dict[str, Any] = {}
        left: list[str] = []
        try:
            facts = self._perform(plant.altered(case), seed, plant)
        finally:
            left = self._stage.clear() + self._responder.lifetimes.end_mapping()
        return {**facts, "left": left}

    def _perform(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage, bench = self._stage, self._responder.bench
        stage.connect(OWN)
        stage.connect(FOREIGN, Domain.OTHER)
        stage.local(seed)
        # The new place is memory without a registration of its own.
        place = bench.register("place", plain(Region(Access.LOCAL_WRITE)), seed)
        bench.deregister("place")
        if case["fault"] == Fault.READ_ONLY:
            return self._read_only(case, seed)
        more, paged = case["more"], Access.ON_DEMAND if case["paged"] else 0
        before = int((FEWER if more else ALL_RIGHTS) | paged)
        if case["fault"] == Fault.WINDOW:
            before |= Access.MW_BIND
        pinned = bench.pinned()
        region = bench.register("region", {**plain(Region(Access(0))), "access": before}, seed)
        if region["result"] != "OK":
            return {"result": f"no region: {region['result']}"}
        key = self._bind() if case["fault"] == Fault.WINDOW else None
        through_window = region["address"] + START
        facts = {}
        if key is not None:
            facts["before"] = self._use(WRITE, OWN, through_window, key, seed)
        after = int((ALL_RIGHTS if more else FEWER) | paged)
        wanted = _wanted(case, place["address"], after)
        if "change" in plant.ignores:
            wanted["flags"] &= ~Change.DOMAIN
        found = self._responder.reregistrations.change("region", case["way"], wanted)
        facts["result"] = found["result"]
        if key is not None:
            facts["window"] = self._use(WRITE, OWN, through_window, key, seed)
            if not plant.leak:
                self._responder.windows.deallocate(WINDOW)
        elif case["fault"] == Fault.NONE and found["result"] == "OK":
            facts |= self._changed(case, (region["address"], place["address"]), found, seed)
        else:
            facts["old"] = self._use(READ, OWN, region["address"], region["rkey"], seed)
            places = (region["address"], place["address"])
            facts["new"] = self._new(case, places, wanted, found["rkey"])
        dereg = bench.deregister("region")
        return {**facts, "dereg": dereg, "pinned_left": bench.pinned() - pinned}

    def _changed(
        self, case: Case, places: tuple[int, int], found: dict[str, Any], seed: int
    ) -> dict[str, Any]:
        """The region as it is to be now, and what it was in each thing that has changed."""
        old, new = places
        change = Change(case["change"])
        moved = Change.TRANSLATION in change
        address = new if moved else old
        through, other = OWN, FOREIGN
        if Change.DOMAIN in change:
            through, other = FOREIGN, OWN
        key = found["rkey"]
        facts = {"new": self._use(READ, through, address, key, seed)}
        facts["bytes"] = self._fetched(seed)
        if moved:
            facts["old_place"] = self._use(READ, through, old, key, seed)
        if Change.DOMAIN in change:
            facts["old_domain"] = self._use(READ, other, address, key, seed)
        if Change.ACCESS in change:
            facts["write"] = self._use(WRITE, through, address, key, seed)
        return facts

    def _new(self, case: Case, places: tuple[int, int], wanted: dict[str, Any], key: int) -> str:
        """Use all that the request asked for and the region has not: it must not be there."""
        if case["fault"] == Fault.NONE:
            return NONE
        change = Change(case["change"])
        operation = WRITE if Change.ACCESS in change else READ
        through = FOREIGN if Change.DOMAIN in change else OWN
        old, new = places
        address = wanted["address"] or (old if change else new)
        return self._use(operation, through, address, key, 0)

    def _read_only(self, case: Case, seed: int) -> dict[str, Any]:
        """Memory that the process may read alone is to become a region that peers may write."""
        lifetimes = self._responder.lifetimes
        mapped = lifetimes.map_read_only(PAGE, int(Access.REMOTE_READ), seed)
        if mapped["result"] != "OK":
            return {"result": f"no region: {mapped['result']}"}
        wanted = _wanted(case, 0, int(ALL_RIGHTS))
        found = self._responder.reregistrations.change("mapped", case["way"], wanted)
        facts = {"result": found["result"]}
        facts["write"] = self._use(WRITE, OWN, mapped["address"], found["rkey"], seed)
        facts["seen"] = lifetimes.seen()
        return {**facts, **lifetimes.unregister_named("mapped")}

    def _bind(self) -> int:
        windows = self._responder.windows
        number = int(WindowType.TYPE_2)
        key = windows.allocate(WINDOW, number, Domain.OWN.value)["rkey"]
        place = {"at": START, "length": EXTENT, "access": int(WINDOW_RIGHTS), "rkey": key ^ 1}
        return windows.bind(WINDOW, OWN, place)["rkey"]

    def _use(self, operation: str, through: str, address: int, rkey: int, seed: int) -> str:
        """The status of an operation; the connection is whole again after it."""
        target = {"address": address, "rkey": rkey}
        request = self._stage.request(operation, seed, target)
        status = self._stage.requester.bench.post(through, request)
        if status != SUCCESS:
            self._stage.reconnect(through)
        return status

    def _fetched(self, seed: int) -> str:
        """Whose bytes the last READ brought."""
        held = self._stage.requester.bench.contents("local", LOCAL)
        for word, name in (("old", "region"), ("new", "place")):
            if held == image(seed, name, PAGE)[GUARD : GUARD + LOCAL].hex():
                return f"of the {word} place"
        return held


def _wanted(case: Case, place: int, access: int) -> dict[str, Any]:
    """The request, with its fault. What is not to change is not named."""
    fault, flags = case["fault"], int(case["change"])
    wanted = {"flags": flags, "address": 0, "length": 0, "access": 0}
    wanted["domain"] = Domain.OTHER.value
    if flags & Change.TRANSLATION:
        wanted |= {"address": place, "length": PAGE}
    if flags & Change.ACCESS:
        wanted["access"] = access
    match fault:
        case Fault.NO_FLAGS:
            wanted["flags"] = 0
        case Fault.UNKNOWN_FLAG:
            wanted["flags"] |= UNKNOWN_FLAG
        case Fault.ILLEGAL_ACCESS:
            wanted["access"] = int(Access.REMOTE_WRITE | Access.REMOTE_READ)
        case Fault.UNDEFINED_BIT:
            wanted["access"] |= UNDEFINED_BIT
        case Fault.UNMAPPED:
            wanted["address"] = PAGE  # below what Linux lets a process map
        case Fault.NO_BYTE:
            wanted["length"] = 0
        case Fault.UNKNOWN_DOMAIN:
            wanted["domain"] = "unknown"
        case Fault.WINDOW if flags & Change.ACCESS:
            wanted["access"] = int(Access.REMOTE_READ)  # no longer a region that is written
    return wanted
