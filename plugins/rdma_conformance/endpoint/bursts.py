"""Atomics of two queue pairs at the same eight bytes, posted faster than either is answered."""

import sys
import time
from typing import Any

from conformance.spec.contention import BURST
from conformance.spec.model import ALL_RIGHTS
from conformance.spec.vocabulary import Operation
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.agreement import COMPLETION_S, NONE
from rdma_conformance.endpoint.queues import Queues
from rdma_conformance.endpoint.region import Regions
from rdma_conformance.endpoint.verbs import WorkRequest

WORD = {"access": int(ALL_RIGHTS), "length": 4096, "page_offset": 0}


class Bursts:
    """Both parts: the responder's eight bytes, the requester's bursts."""

    def __init__(self, queues: Queues, regions: Regions):
        self._queues = queues
        self._regions = regions

    def clear(self) -> dict[str, int]:
        """Set the responder's eight bytes to 0; returns their address and rkey."""
        region = self._regions.of("contended", WORD)
        region.area.write(0, bytes(8))
        return {"address": region.area.address, "rkey": region.own.rkey}

    def value(self) -> int:
        """The responder's eight bytes, in this host's order."""
        return _number(self._regions.of("contended", WORD).area.bytes_at(0, 8))

    def burst(
        self, handles: list[int], operation: str, first: int, target: dict[str, int]
    ) -> dict[str, Any]:
        """Post a burst on each queue pair, then await all.

        FETCH_ADD adds 1; CMP_SWAP climbs from `first` by 1 with each request. `statuses` and
        `returned` (the values fetched) are lists by queue pair.
        """
        local = self._regions.of("fetched", WORD)
        self._queues.sent.poll()
        posted = []
        for lane, handle in enumerate(handles):
            requests = []
            for step in range(BURST):
                value = first + step
                operands = (1,) if operation == Operation.FETCH_ADD else (value, value + 1)
                place = local.area.address + 8 * (lane * BURST + step)
                requests.append(
                    WorkRequest(
                        Operation(operation),
                        self._queues.serial(),
                        [(place, 8, local.own.lkey)],
                        remote_address=target["address"],
                        rkey=target["rkey"],
                        operands=operands,
                    )
                )
            self._queues.of(handle).post(requests)
            posted.append([request.wr_id for request in requests])
        wanted = [wr_id for lane in posted for wr_id in lane]
        deadline = time.monotonic() + COMPLETION_S
        done = verbs.collect(self._queues.sent, wanted, len(wanted), deadline)
        statuses = {each["wr_id"]: each["status"] for each in done}
        return {
            "statuses": [[statuses.get(wr_id, NONE) for wr_id in lane] for lane in posted],
            "returned": [
                [
                    _number(local.area.bytes_at(8 * (lane * BURST + step), 8))
                    for step in range(BURST)
                ]
                for lane in range(len(handles))
            ],
        }


def _number(data: bytes) -> int:
    return int.from_bytes(data, sys.byteorder)
