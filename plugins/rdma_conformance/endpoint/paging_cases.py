"""Performs the cases of on-demand paging; see `conformance.spec.paging`."""

import sys
from collections.abc import Callable
from typing import Any

from conformance.spec.effect import LOCAL
from conformance.spec.lifetime import Side
from conformance.spec.memory import image
from conformance.spec.model import ALL_RIGHTS, GUARD, PAGE, plain
from conformance.spec.operations import size
from conformance.spec.paging import AT, Pages, held
from conformance.spec.vocabulary import Access, Operation
from conformance.spec.window import Region
from rdma_conformance.endpoint.agreement import Case
from rdma_conformance.endpoint.stage import Stage
from rdma_conformance.plants import HONEST, Plant

QP = "bound"
RIGHTS = int(ALL_RIGHTS | Access.ON_DEMAND)


class PagingCases:
    """Performers by kind of case, for `Pair`."""

    def __init__(self, requester: Any, responder: Any):
        self._requester = requester
        self._responder = responder
        self._stage = Stage(requester, responder)
        performers = {
            "paged": self._paged,
            "prefetched": self._prefetched,
            "implicit": self._implicit,
        }
        self.performers = {kind: self._cleared(perform) for kind, perform in performers.items()}

    def _cleared(self, perform: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        def performed(case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
            facts: dict[str, Any] = {}
            left: list[str] = []
            try:
                facts = perform(plant.altered(case), seed, plant)
            finally:
                left = self._stage.clear()
                self._responder.paging.clear()
                self._requester.paging.clear()
            return {**facts, "left": left}

        return performed

    def _paged(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage = self._stage
        side, operation = Side(case["side"]), Operation(case["operation"])
        end = self._requester if side is Side.LOCAL else self._responder
        stage.connect(QP)
        stage.local(seed)
        region = self._responder.bench.register("region", plain(Region(ALL_RIGHTS)), seed)
        if operation is Operation.SEND and side is Side.LOCAL:
            stage.receive(QP, seed)  # before the pages: what is mapped later may take their place
        made = end.paging.map(case["pages"], plant.region_access(RIGHTS), seed)
        if made["result"] != "OK":
            return {"result": made["result"]}
        facts = {"result": "OK", "pinned": made["pinned"]}
        named = region if side is Side.LOCAL else made
        at = case["at"]
        offset = AT if side is Side.LOCAL else at
        target = {"address": named["address"] + offset, "rkey": named["rkey"]}
        request = stage.request(operation.value, seed, target, AT, PAGE)
        length = size(operation)
        if side is Side.LOCAL:
            request |= {"local_address": made["address"] + at, "lkey": made["lkey"]}
        elif operation is Operation.CMP_SWAP:
            old = held(case["pages"], seed)[at : at + length]
            request["operands"][0] = int.from_bytes(old, sys.byteorder)
        if side is Side.RECEIVE:
            end.paging.receive(QP, length, at)
        facts |= stage.post(QP, request)
        if "fork" in plant.ignores:
            end.paging.fork()
        facts["paged"] = end.paging.contents(at, length)
        facts["other"] = self._other(side, operation, length)
        facts |= end.paging.others(at, length)
        if at:
            source = _is_source(side, operation)
            carried = facts["other"] if source else _carried(side, length, seed)
            facts |= end.paging.found(carried, at)
        return {**facts, "dereg": end.bench.deregister("paged")}

    def _other(self, side: Side, operation: Operation, length: int) -> str:
        """What the memory of the other side holds that the operation is about."""
        if side is Side.LOCAL:
            if operation is Operation.SEND:
                return self._responder.bench.contents(f"receive-{QP}", length)
            return self._responder.bench.contents("region", length, AT)
        fetching = (Operation.READ, Operation.CMP_SWAP, Operation.FETCH_ADD)
        return self._requester.bench.contents("local", length) if operation in fetching else ""

    def _prefetched(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage, paging = self._stage, self._responder.paging
        stage.connect(QP)
        stage.local(seed)
        made = paging.map(Pages.UNTOUCHED.value, RIGHTS, seed)
        if made["result"] != "OK":
            return {"advised": f"no region: {made['result']}"}
        facts = {"advised": paging.advise(case["advice"], case["flush"], case["mistake"])}
        return {**facts, **self._written(made, seed)}

    def _implicit(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        stage = self._stage
        stage.connect(QP)
        stage.local(seed)
        bench = self._responder.bench
        before = bench.pinned()
        made = self._responder.paging.map_everything(RIGHTS)
        if made["result"] != "OK":
            return {"result": made["result"]}
        facts = {"result": "OK", "pinned": bench.pinned() - before, "other": ""}
        return {**facts, **self._written(made, seed)}

    def _written(self, made: dict[str, Any], seed: int) -> dict[str, Any]:
        """A WRITE into the page, and the end of its region."""
        target = {"address": made["address"], "rkey": made["rkey"]}
        request = self._stage.request("write", seed, target)
        facts = self._stage.post(QP, request)
        facts["paged"] = self._responder.paging.contents(0, request["length"])
        return {**facts, "dereg": self._responder.bench.deregister("paged")}


def _is_source(side: Side, operation: Operation) -> bool:
    """Whether the paged memory is where the operation takes its bytes from."""
    if side is Side.LOCAL:
        return operation in (Operation.SEND, Operation.WRITE)
    return side is Side.REMOTE and operation is Operation.READ


def _carried(side: Side, length: int, seed: int) -> str:
    """The bytes that come into the paged memory, in hex: the other side's."""
    if side is Side.LOCAL:
        return image(seed, "region", PAGE)[GUARD + AT :][:length].hex()
    return image(seed, "local", LOCAL)[GUARD:][:length].hex()
