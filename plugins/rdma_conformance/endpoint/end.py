"""One side of a connection: an open device with its regions, queues and events.

Every method takes and returns builtin types, so that a proxy in another process can stand in.
Cases are the builtin form that `conformance.spec.model.wire` makes.
"""

import os
import signal
import sys
import time
from itertools import count
from typing import Any

from conformance.spec.memory import Run, high, image
from conformance.spec.model import GUARD, Domain, Key
from conformance.spec.transfer import CONSUMING
from conformance.spec.vocabulary import Access, Operation, QPState, access_words
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.agreement import NONE, RECEIVES, Case
from rdma_conformance.endpoint.arena import Area
from rdma_conformance.endpoint.bench import Bench
from rdma_conformance.endpoint.lifetimes import Lifetimes
from rdma_conformance.endpoint.paging import Paging
from rdma_conformance.endpoint.region import Region, Regions
from rdma_conformance.endpoint.reregistration import Reregistrations
from rdma_conformance.endpoint.trial import Trials
from rdma_conformance.endpoint.verbs import VerbsError, WorkRequest
from rdma_conformance.endpoint.victim import Victims
from rdma_conformance.endpoint.windows import Windows

COMPLETION_S = 10.0  # longer than the retries of a queue pair with timeout 14 and retry_cnt 7
ADDEND = 0x8080808080808080
SPARE = 64  # bytes of the second receive buffer


class End:
    """A device of this host, opened at one port and GID index, with its queue pairs."""

    def __init__(self, device: str, port: int, gid_index: int):
        self._device = verbs.Device(device)
        attributes = self._device.attributes()
        own = self._device.port(port)
        limit = min(attributes["max_qp_rd_atom"], attributes["max_qp_init_rd_atom"])
        self._address = {
            "gid": self._device.gid(port, gid_index),
            "lid": own["lid"],
            "mtu": own["mtu"],
            "link_layer": own["link_layer"],
            "port": port,
            "gid_index": gid_index,
            "rd_atomic": max(1, min(limit, 4)),
        }
        self._domain = verbs.allocate_domain(self._device)
        self._other = verbs.allocate_domain(self._device)
        self._sent = verbs.Completions(self._device)
        self._received = verbs.Completions(self._device)
        self._regions = Regions({Domain.OWN: self._domain, Domain.OTHER: self._other})
        self._spare = Region(self._domain, Access.LOCAL_WRITE, SPARE)
        self._queue_pairs: dict[int, verbs.QueuePair] = {}
        self._handles = count(1)
        self._serials = count(1)
        self._receive_ids: list[int] = []
        self._trials = Trials(self._domain)
        self.bench = Bench(self._device, self._address)
        self.windows = Windows(self.bench)
        self.lifetimes = Lifetimes(self.bench)
        self.reregistrations = Reregistrations(self.bench)
        self.paging = Paging(self.bench)
        self.victims = Victims(device, port, gid_index)

    # Queue pairs

    def attributes(self) -> dict[str, Any]:
        """The device's limits and capability words, with the port's own."""
        port = self._device.port(self._address["port"])
        return {**self._device.attributes(), **verbs.rdma_core(), "port": port, **self._address}

    def probe(self) -> dict[str, dict[str, str]]:
        """Claims and denials that no attribute tells: they are seen by trying."""
        found: dict[str, dict[str, str]] = {"claims": {}, "denials": {}}
        area = Area(1)
        for name, more in (("persistent_region", 0), ("persistent_odp_region", Access.ON_DEMAND)):
            access = Access.FLUSH_PERSISTENT | more
            what = f"registering ordinary memory with {access_words(access)}"
            try:
                made = verbs.register(self._domain, area.address, 1, access)
            except VerbsError as refused:
                found["denials"][name] = f"{what} is refused: {refused.name}"
            else:
                verbs.deregister(made)
                found["claims"][name] = f"{what} succeeds"
        area.close()
        more, paging = self.reregistrations.probe(), self.paging.probe()
        return {told: found[told] | more[told] | paging[told] for told in found}

    def create(self, transport: str) -> int:
        """A new queue pair of `transport`; returns the handle by which it is meant."""
        made = self._device.create_queue_pair(self._domain, self._sent, self._received, transport)
        handle = next(self._handles)
        self._queue_pairs[handle] = made
        return handle

    def init(self, handle: int, access: int) -> dict[str, Any]:
        """Take a queue pair through RESET to INIT; returns what its peer needs to connect."""
        queue_pair = self._queue_pairs[handle]
        queue_pair.to_init(self._address["port"], access)
        psn = next(self._serials) * 0x10001 & 0xFFFFFF
        return {**self._address, "number": queue_pair.number, "psn": psn}

    def connect(self, handle: int, own: dict[str, Any], peer: dict[str, Any], access: int) -> None:
        """INIT to RTS; `own` and `peer` are what `init` returned on both sides."""
        self._queue_pairs[handle].to_rts(own, peer, access)

    def destroy(self, handle: int) -> None:
        self._queue_pairs.pop(handle).close()

    # The responder's part of a transfer

    def arm(self, handle: int, case: Case, seed: int) -> dict[str, int]:
        """Restore region and receive buffers, post two receives; returns address and rkey."""
        remote, receive = case["remote"], case["receive"]
        region = self._regions.of("region", remote)
        buffer = self._regions.of("receive", receive)
        region.area.fill(image(seed, "region", remote["length"]))
        buffer.area.fill(image(seed, "receive", receive["length"]))
        self._spare.area.fill(image(seed, "spare", SPARE))
        self._device.events()  # what is left of an earlier case
        self._received.poll()
        self._receive_ids = [next(self._serials) for _ in range(RECEIVES)]
        queue_pair = self._queue_pairs[handle]
        for wr_id, target in zip(self._receive_ids, (buffer, self._spare), strict=True):
            queue_pair.post_receive(target.receive_request(wr_id))
        return {"address": region.area.address, "rkey": self._rkey(case, region)}

    def _rkey(self, case: Case, region: Region) -> int:
        """The key that the requester is to name, right or wrong."""
        key = region.rkey
        if case["rkey"] == Key.ZERO:
            key = 0
        elif case["rkey"] == Key.DEREGISTERED:
            remote = case["remote"]
            made = verbs.register(
                self._domain, region.area.address, remote["length"], remote["access"]
            )
            key = int(made.rkey)
            verbs.deregister(made)
        return key ^ case["rkey_xor"]

    def responder_facts(
        self, handle: int, case: Case, expected: int, failed: bool, patience_s: float
    ) -> dict[str, Any]:
        """What this side saw, after up to `patience_s` for `expected` receives and the state.

        `receive` lists the runs of the first receive's buffer, then those of the second's,
        counted on from the end of the first's guards.
        """
        deadline = time.monotonic() + patience_s
        done = _collect(self._received, self._receive_ids, expected, deadline)
        state = self._state(handle, failed, deadline)
        events = self._device.events()
        if not events and case["await_event"]:
            events = self._device.events(wait_s=1.0)
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

    # The requester's part of a transfer

    def ask(
        self, handle: int, case: Case, seed: int, target: dict[str, int], leftover: int
    ) -> dict[str, str]:
        """Post the asked work request and a zero-length SEND behind it, and await both.

        `leftover` receives of an earlier case are used up by as many zero-length SENDs first.
        """
        local = self._regions.of("local", case["local"])
        local.area.fill(image(seed, "local", case["local"]["length"]))
        operation = Operation(case["operation"])
        offset = case["local_offset"]
        request = WorkRequest(
            operation=operation,
            wr_id=next(self._serials),
            address=local.area.address + offset,
            length=case["length"],
            lkey=local.lkey,
            remote_address=target["address"] + case["remote_offset"],
            rkey=target["rkey"],
            operands=_operands(operation, case, seed),
            data=local.area.bytes_at(offset, 8) if operation is Operation.ATOMIC_WRITE else b"",
            placement=case["placement"],
        )
        return self._post(handle, request, leftover)

    def requester_facts(self, handle: int, case: Case, failed: bool) -> dict[str, Any]:
        """What this side saw besides its completions."""
        deadline = time.monotonic() + 1.0
        state = self._state(handle, failed, deadline)
        return {
            "requester_qp": state,
            "requester_events": sorted(self._device.events()),
            "local": self._regions.of("local", case["local"]).area.changes(),
        }

    def _post(self, handle: int, request: WorkRequest, leftover: int) -> dict[str, str]:
        self._device.events()
        self._sent.poll()
        queue_pair = self._queue_pairs[handle]
        # By itself: an error of the asked request must not meet another one still under way.
        for _ in range(leftover):
            empty = self._empty_send()
            queue_pair.post([empty])
            _collect(self._sent, [empty.wr_id], 1, time.monotonic() + COMPLETION_S)
        follow_up = self._empty_send()
        try:
            queue_pair.post([request, follow_up])
        except VerbsError as refused:
            return {"post": refused.name, "requester": NONE, "follow_up": NONE}
        wanted = [request.wr_id, follow_up.wr_id]
        done = _collect(self._sent, wanted, 2, time.monotonic() + COMPLETION_S)
        found = {each["wr_id"]: each["status"] for each in done}
        return {
            "post": "OK",
            "requester": found.get(request.wr_id, NONE),
            "follow_up": found.get(follow_up.wr_id, NONE),
        }

    def _empty_send(self) -> WorkRequest:
        spare = self._spare
        return WorkRequest(Operation.SEND, next(self._serials), spare.area.address, 0, spare.lkey)

    def _state(self, handle: int, failed: bool, deadline: float) -> str:
        """The queue pair's state; after a failure ERR is awaited, as it follows a moment later."""
        queue_pair = self._queue_pairs[handle]
        state = queue_pair.state()
        while failed and state != QPState.ERR and time.monotonic() < deadline:
            os.sched_yield()
            state = queue_pair.state()
        return state

    # Registrations on trial

    def register(self, case: Case, seed: int) -> dict[str, str]:
        """Register memory of the suite as `case` says, until `deregister`; see `Trials`."""
        return self._trials.register(case["access"], case["length"], case["page_offset"], seed)

    def write_from_trial(
        self, handle: int, by_offset: bool, target: dict[str, int], length: int, leftover: int
    ) -> dict[str, str]:
        """WRITE the first `length` bytes of the region on trial, named by address or offset 0."""
        trial = self._trials
        request = WorkRequest(
            Operation.WRITE,
            next(self._serials),
            0 if by_offset else trial.area.address,
            length,
            trial.lkey,
            target["address"],
            target["rkey"],
        )
        return self._post(handle, request, leftover)

    def deregister(self, leak: bool) -> dict[str, Any]:
        """End the trial; see `Trials`."""
        return self._trials.deregister(leak)

    # What planted faults need

    def flip(self, case: Case, offset: int) -> None:
        """Invert a byte of the responder's region, as a write past its end would."""
        self._regions.of("region", case["remote"]).area.flip(offset)

    def misbehave(self, how: str) -> None:
        """Never answer, or die."""
        if how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        while True:
            signal.pause()

    def close(self) -> None:
        """Close all in the order that no kernel stumbles over: queue pairs before regions."""
        self.victims.close()
        self.lifetimes.close()
        self.paging.clear()
        self.bench.close()
        for handle in list(self._queue_pairs):
            self.destroy(handle)
        self._regions.close()
        self._spare.close()
        self._sent.close()
        self._received.close()
        self._domain.close()
        self._other.close()
        self._trials.close()
        self._device.close()


def _operands(operation: Operation, case: Case, seed: int) -> tuple[int, ...]:
    """Compare and swap, or the addend: 8 bytes in this host's order, as the region holds them."""
    if operation is Operation.FETCH_ADD:
        return (ADDEND,)
    if operation is not Operation.CMP_SWAP:
        return ()
    first = GUARD + case["remote_offset"]
    compare = image(seed, "region", case["remote"]["length"])[first : first + 8]
    return tuple(
        int.from_bytes(each, sys.byteorder) for each in (compare, high(seed, "operand", 8))
    )


def _collect(
    completions: verbs.Completions, wanted: list[int], number: int, deadline: float
) -> list[dict[str, Any]]:
    """Completions of the `wanted` work requests in their order, until `number` or `deadline`."""
    found = []
    while True:
        found += [each for each in completions.poll() if each["wr_id"] in wanted]
        if len(found) >= number or time.monotonic() > deadline:
            return found
        os.sched_yield()
