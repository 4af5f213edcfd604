"""Performs the cases of memory windows. The responder owns and binds, the requester uses."""

from collections.abc import Callable
from typing import Any

from conformance.spec.model import plain
from conformance.spec.vocabulary import Access
from conformance.spec.window import (
    BINDABLE,
    ELSEWHERE,
    EXTENT,
    START,
    WINDOW_RIGHTS,
    Domain,
    Ending,
    Fault,
    Through,
    WindowType,
)
from rdma_conformance.endpoint.abi import DEVICE_CAPS
from rdma_conformance.endpoint.agreement import NONE, Case
from rdma_conformance.endpoint.stage import LARGE, LARGE_S, RECEIVE_S, SUCCESS, Stage
from rdma_conformance.plants import HONEST, Plant

WINDOW = "window"
INDEX = 0x0100  # the lowest bit of a key's index
DOMAINS = {Through.BOUND: Domain.OWN, Through.OTHER: Domain.OWN, Through.FOREIGN: Domain.OTHER}


class WindowCases:
    """Performers by kind of case, for `Pair`."""

    def __init__(self, requester: Any, responder: Any):
        self._responder = responder
        self._stage = Stage(requester, responder)
        self.performers: dict[str, Callable[..., dict[str, Any]]] = {
            "window": self._cleared(self._window),
            "invalidation": self._cleared(self._invalidation),
            "allocation": self._cleared(self._allocation),
            "wrongcall": self._cleared(self._wrong_call),
            "lentmidway": self._cleared(self._midway),
        }

    def _cleared(self, perform: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """`perform`, after which nothing is left; the fact `left` says what would not go."""

        def performed(case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
            try:
                facts = perform(plant.altered(case), seed, plant)
            except BaseException:
                self._stage.clear()
                raise
            return {**facts, "left": self._stage.clear()}

        return performed

    # A window's life

    def _window(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage, windows = self._stage, self._responder.windows
        region = case["region"]
        made = self._responder.bench.register("region", region, seed)
        if made["result"] != "OK":
            return {"alloc": NONE, "bind": f"no region: {made['result']}"}
        stage.connect(Through.BOUND.value)
        through = case["through"]
        if through != Through.BOUND:
            stage.connect(through, DOMAINS[Through(through)])
        allocated = windows.allocate(WINDOW, case["type"], case["domain"])
        facts: dict[str, Any] = {"alloc": allocated["result"], "bind": NONE, "ending": NONE}
        if allocated["result"] != "OK":
            return facts
        keys = [allocated["rkey"]]
        if case["ending"] != Ending.NEVER_BOUND:
            bound = self._bind(case, keys, case["start"], case["extent"], case["key_xor"])
            facts["bind"] = bound
        refused = facts["bind"] not in (SUCCESS, NONE)
        by_completion = refused and not facts["bind"].startswith("post ")
        facts["binder_qp"] = self._responder.bench.state(Through.BOUND.value, by_completion)
        if not refused:
            facts |= self._end(case, keys, seed)
        if by_completion or facts["ending"] not in (SUCCESS, "OK", NONE):
            stage.reconnect(Through.BOUND.value)
        if case["ending"] == Ending.QUEUE_PAIR_DESTROYED:
            through = Through.OTHER.value
            stage.connect(through)
        return facts | self._use(case, made["address"], keys, through, seed)

    def _bind(self, case: Case, keys: list[int], start: int, extent: int, xor: int = 2) -> str:
        """Bind the window there; its key is added to `keys`. Returns the status."""
        wanted = keys[-1] ^ xor
        place = {"at": start, "length": extent, "access": case["rights"], "rkey": wanted}
        bound = self._responder.windows.bind(WINDOW, Through.BOUND.value, place)
        keys.append(bound["rkey"])
        return bound["status"]

    def _end(self, case: Case, keys: list[int], seed: int) -> dict[str, Any]:
        windows, bound = self._responder.windows, Through.BOUND.value
        ended = NONE
        match case["ending"]:
            case Ending.UNBOUND:
                ended = self._bind(case, keys[:], case["start"], 0)
            case Ending.MOVED:
                ended = self._bind(case, keys, ELSEWHERE, EXTENT)
            case Ending.INVALIDATED:
                ended = windows.invalidate(bound, keys[-1])
            case Ending.BOUND_AGAIN:
                ended = windows.invalidate(bound, keys[-1])
                if ended == SUCCESS:
                    ended = self._bind(case, keys, ELSEWHERE, EXTENT)
                else:
                    ended = f"invalidating: {ended}"
            case Ending.INVALIDATED_BY_PEER:
                return self._end_by_peer(keys[-1], seed)
            case Ending.DEALLOCATED:
                ended = windows.deallocate(WINDOW)
            case Ending.QUEUE_PAIR_DESTROYED:
                ended = self._responder.bench.destroy(bound)
        return {"ending": ended}

    def _end_by_peer(self, key: int, seed: int) -> dict[str, Any]:
        stage, bound = self._stage, Through.BOUND.value
        stage.local(seed)
        receive = stage.receive(bound, seed)
        status = stage.requester.windows.send_invalidate(bound, key, "local")
        came = stage.responder.bench.received(receive, RECEIVE_S)
        told = came["invalidated"]
        word = NONE if told is None else f"{told:#x}"
        return {"ending": status, "invalidated": "the window's key" if told == key else word}

    def _use(
        self, case: Case, address: int, keys: list[int], through: str, seed: int
    ) -> dict[str, Any]:
        stage = self._stage
        moved = case["ending"] in (Ending.MOVED, Ending.BOUND_AGAIN)
        start = ELSEWHERE if moved else case["start"]
        by_offset = case["rights"] & Access.ZERO_BASED and not case["by_address"]
        origin = 0 if by_offset else address + start
        target = {
            "address": (origin + case["at"]) & (1 << 64) - 1,
            "rkey": keys[-2 if case["old_key"] else -1] ^ case["rkey_xor"],
        }
        length = case["region"]["length"]
        old_at = min(max(0, start + case["at"]), length - 8)
        request = stage.request(case["operation"], seed, target, old_at, length)
        return stage.use(through, request)

    def _midway(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        """End a window over a large region in the middle of a WRITE of all its bytes."""
        stage, bench, windows = self._stage, self._responder.bench, self._responder.windows
        bound = Through.BOUND.value
        made = bench.register("region", {**_BINDABLE, "length": LARGE}, seed)
        stage.connect(bound)
        key = windows.allocate(WINDOW, case["type"], Domain.OWN.value)["rkey"]
        place = {**_PLACE, "at": 0, "length": LARGE}
        done = windows.bind(WINDOW, bound, {**place, "rkey": key ^ 1})
        if done["status"] != SUCCESS:
            return {"ending": f"the window is not bound: {done['status']}"}
        source = self._stage.requester.bench.register("local", {**_BINDABLE, "length": LARGE}, seed)
        request = stage.write(source, {"address": made["address"], "rkey": done["rkey"]}, LARGE)
        begun = stage.requester.bench.begin(bound, request)
        facts: dict[str, Any] = {"ending": NONE}
        match case["ending"]:
            case _ if "end" in plant.ignores:
                facts["ending"] = "OK"
            case Ending.UNBOUND:
                ended = windows.bind(WINDOW, bound, {**place, "length": 0, "rkey": key})
                facts["ending"] = ended["status"]
            case Ending.INVALIDATED:
                facts["ending"] = windows.invalidate(bound, done["rkey"])
            case Ending.DEALLOCATED:
                facts["ending"] = windows.deallocate(WINDOW)
        bench.remember("region")
        facts["requester"] = stage.requester.bench.finish(begun, LARGE_S)
        if case["ending"] != Ending.NONE:
            later = bench.changed_since("region")
            facts["later"] = "memory was written" if later else "nothing"
        return facts

    # Invalidation of what may not be invalidated

    def _invalidation(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage, windows = self._stage, self._responder.windows
        fault = Fault(case["fault"])
        bound = Through.BOUND.value
        by = bound
        if fault in (Fault.TYPE_1, Fault.REGION, Fault.QUEUE_PAIR):
            by = Through.OTHER.value
        elif fault is Fault.DOMAIN:
            by = Through.FOREIGN.value
        made = self._responder.bench.register("region", _BINDABLE, seed)
        stage.connect(bound)
        if by != bound:
            stage.connect(by, DOMAINS[Through(by)])
        number = WindowType.TYPE_1 if fault is Fault.TYPE_1 else WindowType.TYPE_2
        key = windows.allocate(WINDOW, int(number), Domain.OWN.value)["rkey"]
        if fault is not Fault.NEVER_BOUND:
            done = windows.bind(WINDOW, bound, {**_PLACE, "rkey": key ^ 1})
            if done["status"] != SUCCESS:
                return {"requester": f"the window is not bound: {done['status']}"}
            key = done["rkey"]
        living = made["rkey"] if fault is Fault.REGION else key
        wrong = {Fault.OTHER_BYTE: 0x55, Fault.OTHER_INDEX: INDEX << 12}.get(fault, 0)
        facts = self._invalidate(case["by_peer"], by, living ^ wrong, seed)
        if by == bound:
            return {**facts, "use": "not asked"}
        target = {"address": made["address"] + START, "rkey": living}
        used = stage.use(bound, stage.request("write", seed, target))
        return {**facts, "use": used["requester"]}

    def _invalidate(self, by_peer: bool, by: str, key: int, seed: int) -> dict[str, Any]:
        stage = self._stage
        if not by_peer:
            status = self._responder.windows.invalidate(by, key)
            failed = status != SUCCESS and not status.startswith("post ")
            return {"requester": status, "owner_qp": self._responder.bench.state(by, failed)}
        stage.local(seed)
        receive = stage.receive(by, seed)
        status = stage.requester.windows.send_invalidate(by, key, "local")
        came = stage.responder.bench.received(receive, RECEIVE_S)["status"]
        state = self._responder.bench.state(by, came != SUCCESS)
        return {"requester": status, "receive": came, "owner_qp": state}

    # Calls

    def _allocation(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        found = self._responder.windows.allocate_by_number(case["number"])
        flags = self._responder.attributes()["device_cap_flags_ex"]
        kinds = sum(flags >> bit & 1 for bit in DEVICE_CAPS["memory_window_type_2"])
        return {**found, "type_2": "at most one kind" if kinds < 2 else "both 2A and 2B"}

    def _wrong_call(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        self._responder.bench.register("region", _BINDABLE, seed)
        bound = Through.BOUND.value
        self._stage.connect(bound)
        windows = self._responder.windows
        key = windows.allocate(WINDOW, case["type"], Domain.OWN.value)["rkey"]
        bind = windows.bind if "call" in plant.ignores else windows.bind_other_way
        status = bind(WINDOW, bound, {**_PLACE, "rkey": key ^ 1})["status"]
        failed = status != SUCCESS and not status.startswith("post ")
        return {"bind": status, "binder_qp": self._responder.bench.state(bound, failed)}


_BINDABLE = plain(BINDABLE)
_PLACE = {"at": START, "length": EXTENT, "access": int(WINDOW_RIGHTS)}
