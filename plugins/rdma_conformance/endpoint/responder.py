"""The responder's part of a transfer: memory and receives ready, then what was done to them."""

import time
from typing import Any

from conformance.spec.answer import GRH
from conformance.spec.memory import Run, image
from conformance.spec.model import GUARD, Key, Posted
from conformance.spec.operations import CONSUMING
from conformance.spec.vocabulary import Status, Transport
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.agreement import RECEIVES, SPARE, Case
from rdma_conformance.endpoint.queues import Queues
from rdma_conformance.endpoint.region import Region, Regions


class Responder:
    """Prepares for cases and watches them on the queue pairs of `queues`."""

    def __init__(self, queues: Queues, regions: Regions, spare: Region, header: Region):
        self._queues = queues
        self._regions = regions
        self._spare = spare
        self._header = header
        self._receive_ids: list[int] = []

    def arm(self, handle: int, case: Case, seed: int) -> dict[str, Any]:
        """Restore region and receive buffers, and post the receives.

        Returns the region's address, the rkey that names it rightly or wrongly, and `foreign`:
        two keys of this device, for a requester that takes them for its own.
        """
        remote, receive = case["remote"], case["receive"]
        region = self._regions.of("region", remote)
        buffer = self._regions.of("receive", receive)
        region.area.fill(image(seed, "region", remote["length"]))
        buffer.area.fill(image(seed, "receive", receive["length"]))
        self._spare.area.fill(image(seed, "spare", SPARE))
        self._queues.device.events()  # what is left of an earlier case
        self._queues.received.poll()
        self._receive_ids = []
        if case["posted"] == Posted.BEFORE:
            self.post(handle, case)
        # A key of the other device is that one's to name.
        key = Key.OWN if case["rkey"] == Key.FOREIGN else case["rkey"]
        return {
            "address": region.address,
            "rkey": region.names(key, case["rkey_xor"]).rkey,
            "foreign": [region.own.lkey, self._spare.own.lkey],
        }

    def post(self, handle: int, case: Case) -> None:
        """Post the receive that the case is about, and another one behind it."""
        buffer = self._regions.of("receive", case["receive"])
        header = self._header if case["transport"] == Transport.UD else None
        self._receive_ids = [self._queues.serial() for _ in range(RECEIVES)]
        queue = self._queues.receive_queue(handle)
        for wr_id, region, segments in zip(
            self._receive_ids, (buffer, self._spare), (case["receive_sgl"], []), strict=True
        ):
            queue.post_receive(region.receive_request(wr_id, segments, header))

    def facts(
        self, handle: int, case: Case, expected: int, failed: bool, patience_s: float
    ) -> dict[str, Any]:
        """What this side saw, after up to `patience_s` for `expected` receives and the state.

        A receive without a byte is that of the SEND behind the request: nothing follows it.
        `receive` lists the runs of the first receive's buffer, then those of the second's,
        counted on from the end of the first's guards.
        """
        deadline = time.monotonic() + patience_s
        empty = GRH if case["transport"] == Transport.UD else 0

        def last(each: dict[str, Any]) -> bool:
            found = each["received"]
            return case["length"] > 0 and found is not None and found["byte_len"] == empty

        queues = self._queues
        done = verbs.collect(queues.received, self._receive_ids, expected, deadline, last)
        failed = failed or any(each["status"] != Status.SUCCESS.name for each in done)
        state = queues.state(handle, failed, deadline)
        events = queues.device.events()
        if not events and case["await_event"]:
            events = queues.device.events(wait_s=1.0)
        consuming = case["operation"] in CONSUMING
        shift = case["receive"]["length"] + 2 * GUARD
        spare: list[Run] = [[shift + at, *rest] for at, *rest in self._spare.area.changes()]
        return {
            "receives": [each["status"] for each in done],
            "received": done[0]["received"] if done and consuming else None,
            "responder_qp": state,
            "responder_events": sorted(events),
            "region": self._regions.of("region", case["remote"]).area.changes(),
            "receive": self._regions.of("receive", case["receive"]).area.changes() + spare,
        }

    def flip(self, case: Case, offset: int) -> None:
        """Invert a byte of the region, as a write past its end would: a planted fault."""
        self._regions.of("region", case["remote"]).area.flip(offset)
