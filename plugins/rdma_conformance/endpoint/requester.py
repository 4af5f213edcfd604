"""The requester's part of a transfer: post, await both completions, say what was seen."""

import sys
import time
from typing import Any

from conformance.spec.memory import high, image
from conformance.spec.model import GUARD, Key, Operand, Posted
from conformance.spec.vocabulary import Operation
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.agreement import COMPLETION_S, NONE, Case
from rdma_conformance.endpoint.queues import Queues
from rdma_conformance.endpoint.region import Region, Regions
from rdma_conformance.endpoint.verbs import VerbsError, WorkRequest

LATE_S = 0.02  # how long a request meets no receive, where that is asked
ADDEND = 0x8080808080808080


class Requester:
    """Posts what cases ask on the queue pairs of `queues`."""

    def __init__(self, queues: Queues, regions: Regions, spare: Region):
        self._queues = queues
        self._regions = regions
        self._spare = spare
        self._wanted: list[int] = []
        self._done: dict[int, dict[str, Any]] = {}

    def ask(
        self,
        handle: int,
        case: Case,
        seed: int,
        target: dict[str, Any],
        leftover: int,
    ) -> dict[str, Any]:
        """Post the asked work request and a zero-length SEND behind it, and await both.

        Where the responder is to be late, only as long as it takes to be told so.

        `leftover` receives of an earlier case are used up by as many zero-length SENDs first.
        """
        local = self._regions.of("local", case["local"])
        local.area.fill(image(seed, "local", case["local"]["length"]))
        operation = Operation(case["operation"])
        remote_address = case["remote_address"]
        if remote_address is None:
            remote_address = target["address"] + case["remote_offset"]
        request = WorkRequest(
            operation=operation,
            wr_id=self._queues.serial(),
            segments=local.scatter(case["local_sgl"], case["length"], target["foreign"]),
            length=case["length"],
            remote_address=remote_address,
            rkey=self._rkey(case, local, target),
            operands=_operands(operation, case, seed),
            data=local.area.bytes_at(0, 8) if operation is Operation.ATOMIC_WRITE else b"",
            placement=case["placement"],
            inline=case["inline"],
        )
        late = case["posted"] == Posted.LATE
        return self.post(handle, request, leftover, LATE_S if late else COMPLETION_S)

    def _rkey(self, case: Case, local: Region, target: dict[str, Any]) -> int:
        """The key that the request names; the responder told all but a key of this side."""
        if case["rkey"] != Key.FOREIGN:
            return target["rkey"]
        ours = (local.own.rkey, self._spare.own.rkey)
        return next(key for key in ours if key != target["rkey"])

    def post(
        self, handle: int, request: WorkRequest, leftover: int, patience_s: float = COMPLETION_S
    ) -> dict[str, Any]:
        """Post `request` and what goes before and behind it; see `ask`."""
        queues = self._queues
        queues.device.events()  # what is left of an earlier case
        queues.sent.poll()
        queue_pair = queues.of(handle)
        # By itself: an error of the asked request must not meet another one still under way.
        for _ in range(leftover):
            empty = self._empty_send()
            queue_pair.post([empty])
            verbs.collect(queues.sent, [empty.wr_id], 1, time.monotonic() + COMPLETION_S)
        follow_up = self._empty_send()
        self._done = {}
        self._wanted = []
        try:
            queue_pair.post([request, follow_up])
        except VerbsError as refused:
            missing = {"requester": NONE, "follow_up": NONE, "completion": None}
            return {"post": refused.name, **missing}
        self._wanted = [request.wr_id, follow_up.wr_id]
        return self.completions(patience_s)

    def completions(self, patience_s: float = COMPLETION_S) -> dict[str, Any]:
        """What completed of the request and the SEND behind it, after up to `patience_s`."""
        missing = [wr_id for wr_id in self._wanted if wr_id not in self._done]
        deadline = time.monotonic() + patience_s
        for each in verbs.collect(self._queues.sent, missing, len(missing), deadline):
            self._done[each["wr_id"]] = each
        asked, follow_up = (self._done.get(wr_id, {}) for wr_id in self._wanted)
        return {
            "post": "OK",
            "requester": asked.get("status", NONE),
            "completion": asked.get("sent"),
            "follow_up": follow_up.get("status", NONE),
        }

    def facts(self, handle: int, case: Case, failed: bool) -> dict[str, Any]:
        """What this side saw besides its completions."""
        return {
            "requester_qp": self._queues.state(handle, failed, time.monotonic() + 1.0),
            "requester_events": sorted(self._queues.device.events()),
            "local": self._regions.of("local", case["local"]).area.changes(),
        }

    def _empty_send(self) -> WorkRequest:
        spare = self._spare
        nothing = [(spare.area.address, 0, spare.own.lkey)]
        return WorkRequest(Operation.SEND, self._queues.serial(), nothing)


def _operands(operation: Operation, case: Case, seed: int) -> tuple[int, ...]:
    """Compare and swap, or the addend: 8 bytes in this host's order, as the region holds them."""
    first = GUARD + case["remote_offset"]
    old = image(seed, "region", case["remote"]["length"])[first : first + 8]
    before = int.from_bytes(old, sys.byteorder)
    if operation is Operation.FETCH_ADD:
        return ((1 << 64) - before if case["operand"] == Operand.WRAP else ADDEND,)
    if operation is not Operation.CMP_SWAP:
        return ()
    compare = bytearray(old)
    if case["operand"] == Operand.MISS_FIRST:
        compare[0] ^= 0x80
    elif case["operand"] == Operand.MISS_LAST:
        compare[7] ^= 0x01
    return int.from_bytes(compare, sys.byteorder), int.from_bytes(
        high(seed, "operand", 8), sys.byteorder
    )
