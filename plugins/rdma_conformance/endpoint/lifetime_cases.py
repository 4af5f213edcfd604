"""Performs the cases of the end of registrations; see `conformance.spec.lifetime`."""

from collections.abc import Callable
from typing import Any

from conformance.spec.lifetime import Busy, Side
from conformance.spec.lifetime_answers import AT
from conformance.spec.model import ALL_RIGHTS, PAGE, plain
from conformance.spec.vocabulary import Operation
from conformance.spec.window import (
    BINDABLE,
    EXTENT,
    START,
    WINDOW_RIGHTS,
    Domain,
    Region,
    WindowType,
)
from rdma_conformance.endpoint.agreement import NONE, Case
from rdma_conformance.endpoint.stage import LARGE, LARGE_S, RECEIVE_S, SUCCESS, Stage
from rdma_conformance.endpoint.victim import VictimEnd
from rdma_conformance.plants import HONEST, Plant

QP, VICTIM = "bound", "victim"
WINDOW = "window"
SOURCE, SINK, MARKER = 0xA5, 0x11, 0x77
REGION = plain(Region(ALL_RIGHTS))


class LifetimeCases:
    """Performers by kind of case, for `Pair`."""

    def __init__(self, requester: Any, responder: Any):
        self._requester = requester
        self._responder = responder
        self._stage = Stage(requester, responder)
        performers = {
            "retired": self._retired,
            "inuse": self._in_use,
            "handled": self._handled,
            "wrongorder": self._wrong_order,
            "midway": self._midway,
            "rounds": self._rounds,
            "childprocess": self._forked,
            "killed": self._killed,
        }
        self.performers = {kind: self._cleared(perform) for kind, perform in performers.items()}

    def _cleared(self, perform: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        """`perform`, after which nothing is left; the fact `left` says what would not go."""

        def performed(case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
            facts: dict[str, Any] = {}
            left: list[str] = []
            try:
                facts = perform(plant.altered(case), seed, plant)
            finally:
                left = self._stage.clear()
                left += self._responder.lifetimes.end_mapping()
                left += self._requester.lifetimes.end_mapping()
            return {**facts, "left": left}

        return performed

    def _write(
        self, seed: int, address: int, rkey: int, operation: str = "write"
    ) -> dict[str, Any]:
        """An operation at the place in the region that the oracle knows."""
        target = {"address": address + AT, "rkey": rkey}
        return self._stage.request(operation, seed, target, AT, PAGE)

    def _retired(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage = self._stage
        made = self._responder.bench.register("region", REGION, seed)
        stage.connect(QP)
        local = stage.local(seed)
        receive = stage.receive(QP, seed) if case["operation"] == Operation.SEND else None
        facts: dict[str, Any] = {"dereg": NONE}
        side = Side(case["side"])
        bench = self._requester.bench if side is Side.LOCAL else self._responder.bench
        name = {Side.REMOTE: "region", Side.LOCAL: "local", Side.RECEIVE: f"receive-{QP}"}[side]
        if case["ended"]:
            facts["dereg"] = bench.deregister(name)
        if case["again"]:
            key = made["rkey"] if side is Side.REMOTE else local["lkey"]
            rights = int(ALL_RIGHTS)
            facts["registered"] = bench.register_until(name, rights, key, case["again"])
        facts |= stage.use(QP, self._write(seed, made["address"], made["rkey"], case["operation"]))
        if receive is not None:
            facts["receive"] = self._responder.bench.received(receive, RECEIVE_S)["status"]
            facts["received"] = self._responder.bench.changes(f"receive-{QP}")
            if facts["received"]:
                facts["touched"] = [*facts["touched"], "receive"]
        return facts

    def _in_use(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        what = Busy(case["what"])
        if what not in (Busy.WINDOW_1, Busy.WINDOW_2):
            lifetimes = self._responder.lifetimes
            lifetimes.prepare(str(what))
            facts = {"ended": lifetimes.end_domain(), "alive": lifetimes.domain_alive()}
            return {**facts, "after": lifetimes.end_domain_in_order()}
        bench, windows = self._responder.bench, self._responder.windows
        made = bench.register("region", plain(BINDABLE), seed)
        self._stage.connect(QP)
        number = WindowType.TYPE_1 if what is Busy.WINDOW_1 else WindowType.TYPE_2
        key = windows.allocate(WINDOW, int(number), Domain.OWN.value)["rkey"]
        place = {"at": START, "length": EXTENT, "access": int(WINDOW_RIGHTS), "rkey": key ^ 1}
        bound = windows.bind(WINDOW, QP, place)
        if bound["status"] != SUCCESS:
            return {"ended": f"the window is not bound: {bound['status']}"}
        ended = bench.deregister("region")
        if plant.ends_early:
            windows.invalidate(QP, bound["rkey"])
        used = self._stage.use(QP, self._write(seed, made["address"], bound["rkey"]))
        facts = {"ended": ended, "alive": used["requester"], "after": NONE}
        if ended != "OK" and (gone := windows.deallocate(WINDOW)) == "OK":
            facts["after"] = bench.deregister("region")
        elif ended != "OK":
            facts["after"] = f"the window: {gone}"
        return facts

    def _handled(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        made = self._responder.bench.register("region", REGION, seed)
        self._stage.connect(QP)
        result = self._responder.lifetimes.end_handle(case["handle"])
        used = self._stage.use(QP, self._write(seed, made["address"], made["rkey"]))
        return {"result": result, "other": used["requester"]}

    def _wrong_order(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage, lifetimes = self._stage, self._responder.lifetimes
        self._responder.bench.register("region", REGION, seed)  # a bystander
        stage.connect(QP)
        stage.local(seed)  # what it pins is not to be counted
        back = self._requester.bench.register("back", REGION, seed)
        made = lifetimes.map(PAGE, int(ALL_RIGHTS), seed)
        facts = {"changed": lifetimes.change(case["wrong"], seed)}
        request = self._write(seed, made["address"], made["rkey"], case["operation"])
        facts |= stage.use(QP, request)
        facts["seen"] = lifetimes.seen()
        read = self._write(seed, made["address"], made["rkey"], Operation.READ.value)
        into = {"local_address": back["address"], "lkey": back["lkey"]}
        stage.use(QP, {**read, **into, "length": request["length"]})
        facts["read_back"] = self._requester.bench.contents("back", request["length"])
        return {**facts, **lifetimes.unregister()}

    def _midway(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage = self._stage
        here, there = self._requester.lifetimes, self._responder.lifetimes
        write = case["operation"] == Operation.WRITE
        stage.connect(QP)
        rights = int(ALL_RIGHTS)
        local = here.large(LARGE, SOURCE if write else SINK, rights)
        remote = there.large(LARGE, SINK if write else SOURCE, rights)
        request = {**stage.write(local, remote, LARGE), "operation": case["operation"]}
        sink = there if write else here
        begun = self._requester.bench.begin(QP, request)
        if case["after_us"] < 0:
            status = self._requester.bench.finish(begun, LARGE_S)
            arrived = "all" if sink.count(SOURCE) == LARGE else "not all"
            return {"requester": status, "dereg": NONE, "arrived": arrived}
        ending = here if case["side"] == Side.LOCAL else there
        dereg = ending.end_large(case["after_us"], None if ending is sink else MARKER)
        status = self._requester.bench.finish(begun, LARGE_S)
        reached = sink.written_later() if ending is sink else sink.count(MARKER) > 0
        later = "memory was reached" if reached else "nothing"
        return {"requester": status, "dereg": dereg, "later": later}

    def _rounds(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        return self._responder.lifetimes.rounds(case["number"], plant.leak)

    def _forked(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        made = self._responder.bench.register("region", REGION, seed)
        self._stage.connect(QP)
        self._stage.local(seed)
        child = self._responder.lifetimes.fork(case["killed"])
        if plant.ends_early:
            self._responder.bench.deregister("region")
        used = self._stage.use(QP, self._write(seed, made["address"], made["rkey"]))
        return {"child": child, **used}

    def _killed(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        """The victim takes the responder's place, until it is killed during a large transfer."""
        victims, bench = self._responder.victims, self._requester.bench
        counts = victims.resources()
        if plant.leak:
            self._responder.bench.register("leaked", REGION, seed)
        stage = Stage(self._requester, VictimEnd(self._responder))
        try:
            victims.start()
            made = stage.responder.bench.register("region", {**REGION, "length": LARGE}, seed)
            stage.connect(VICTIM, retries=case["retries"])
            target = {"address": made["address"], "rkey": made["rkey"]}
            request = stage.request("write", seed, target)
            facts = {"before": bench.post(VICTIM, request)}
            mine = self._requester.lifetimes.large(LARGE, SOURCE, int(ALL_RIGHTS))
            own = {"local_address": mine["address"], "lkey": mine["lkey"], "length": LARGE}
            begun = bench.begin(VICTIM, {**request, **own, "operation": case["operation"]})
        finally:
            ended = victims.kill()
        facts |= {"ended": ended, "midway": bench.finish(begun), "requester": NONE}
        if facts["midway"] != NONE:  # else nothing that comes behind it will ever complete
            facts["requester"] = bench.post(VICTIM, request)
        facts["requester_qp"] = bench.state(VICTIM, True)
        self._stage.requester.lifetimes.end_mapping()
        bench.clear()
        facts["resources"] = victims.settled(counts)
        return {**facts, "usable": self._usable(seed)}

    def _usable(self, seed: int) -> str:
        made = self._responder.bench.register("region", REGION, seed)
        self._stage.connect(QP)
        return self._stage.use(QP, self._write(seed, made["address"], made["rkey"]))["requester"]
