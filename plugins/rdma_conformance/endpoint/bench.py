"""Objects that one case makes, names and takes down again: regions, queue pairs, windows.

Where a case is about an object's own life, nothing may be kept for the next one. Every method
takes and returns builtin types, so that a proxy in another process can stand in.
"""

import os
import time
from itertools import count
from typing import Any

from conformance.spec.memory import Run, image
from conformance.spec.vocabulary import Operation, QPState
from conformance.spec.window import Domain
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.accounting import PinnedMemory
from rdma_conformance.endpoint.agreement import NONE
from rdma_conformance.endpoint.arena import Area
from rdma_conformance.endpoint.verbs import VerbsError, WorkRequest

COMPLETION_S = 10.0  # longer than the retries of a queue pair with timeout 14 and retry_cnt 7
LATER_S = 0.05  # how long memory is watched after a transfer is over
STATE_S = 1.0  # how long a queue pair may take to show an error that was reported


class Bench:
    """Named objects of one end. `clear` takes them down in the order that no kernel minds."""

    def __init__(self, device: verbs.Device, address: dict[str, Any]):
        self._address = address
        self.device = device
        self.commands = verbs.Commands(device.context)
        self.domains = {name: verbs.allocate_domain(device) for name in Domain}
        self._sent = verbs.BindingCompletions(device)
        self._received = verbs.BindingCompletions(device)
        self.regions: dict[str, Any] = {}
        self.areas: dict[str, Area] = {}
        self.queue_pairs: dict[str, verbs.BindingQueuePair] = {}
        self.windows: dict[str, Any] = {}
        self._pinned = PinnedMemory()
        self._serials = count(1)
        self._stuck: list[Any] = []
        self._remembered = b""

    # Regions

    def pinned(self) -> int:
        """Memory that is pinned for this process (VmPin), in kB."""
        return self._pinned.kilobytes()

    def register(self, name: str, region: dict[str, Any], seed: int) -> dict[str, Any]:
        """Register memory filled with the image of `name`: result, address, lkey and rkey.

        `region` is the builtin form of `spec.model.Region`. The name `local` gives a source,
        every other a sink; see `conformance.spec.memory`.
        """
        area = self.areas[name] = Area(region["length"], region["page_offset"])
        area.fill(image(seed, name, region["length"]))
        return self.register_again(name, name, region["access"], region["domain"])

    def register_again(self, name: str, memory: str, access: int, domain: str) -> dict[str, Any]:
        """A region over the memory of the region `memory`, which keeps its bytes."""
        area = self.areas[memory]
        found: dict[str, Any] = {"result": "OK", "address": area.address}
        try:
            made = verbs.register(self.domains[domain], area.address, area.length, access)
        except VerbsError as refused:
            return {**found, "result": refused.name, "lkey": 0, "rkey": 0}
        self.regions[name] = made
        return {**found, "lkey": int(made.lkey), "rkey": int(made.rkey)}

    def register_until(self, memory: str, access: int, key: int, limit: int) -> str:
        """Register and deregister over one memory until `key`'s index comes round, and keep that.

        At most `limit` times, of which the last one is kept. Returns which key that has, against
        `key`: the same, the same index, or another index.
        """
        for number in range(1, limit + 1):
            made = self.register_again("again", memory, access, Domain.OWN)
            if key in (made["lkey"], made["rkey"]):
                return "the same key"
            if made["lkey"] >> 8 == key >> 8:
                return "the same index"
            if number < limit:
                self.deregister("again")
        return "another index"

    def deregister(self, name: str) -> str:
        """OK or the errno. The memory stays as it is, and can be looked at."""
        try:
            verbs.deregister(self.regions[name])
        except VerbsError as refused:
            return refused.name
        del self.regions[name]
        return "OK"

    def changes(self, name: str) -> list[Run]:
        """The runs in which a region's memory differs from what it was filled with."""
        return self.areas[name].changes()

    def contents(self, name: str, length: int, at: int = 0) -> str:
        """`length` bytes of a region's memory from `at` bytes into it, in hex."""
        return self.areas[name].bytes_at(at, length).hex()

    def remember(self, name: str) -> None:
        """What `changed_since` compares with: a region's memory as it is now."""
        area = self.areas[name]
        self._remembered = area.bytes_at(0, area.length)

    def changed_since(self, name: str) -> bool:
        """Whether a region's memory has changed since `remember`, or does within a while."""
        time.sleep(LATER_S)
        area = self.areas[name]
        return area.bytes_at(0, area.length) != self._remembered

    # Queue pairs

    def queue_pair(self, name: str, domain: str) -> None:
        self.queue_pairs[name] = verbs.BindingQueuePair(
            self.device, self.domains[domain], self._sent, self._received
        )

    def init(self, name: str, access: int) -> dict[str, Any]:
        """Through RESET to INIT; returns what the peer needs to connect."""
        queue_pair = self.queue_pairs[name]
        queue_pair.to_init(self._address["port"], access)
        psn = next(self._serials) * 0x10001 & 0xFFFFFF
        return {**self._address, "number": queue_pair.number, "psn": psn}

    def connect(
        self,
        name: str,
        own: dict[str, Any],
        peer: dict[str, Any],
        access: int,
        retries: int = 7,
    ) -> None:
        """INIT to RTS; `own` and `peer` are what `init` returned on both sides."""
        self.queue_pairs[name].to_rts(own, peer, access, retries=retries)

    def state(self, name: str, failed: bool) -> str:
        """The queue pair's state; after a failure ERR is awaited, as it follows a moment later."""
        deadline = time.monotonic() + STATE_S
        state = self.queue_pairs[name].state()
        while failed and state != QPState.ERR and time.monotonic() < deadline:
            os.sched_yield()
            state = self.queue_pairs[name].state()
        return state

    def destroy(self, name: str) -> str:
        """End a queue pair by the command itself, as pyverbs ends what is bound to it first."""
        made = self.queue_pairs[name]
        try:
            made.destroy_by(self.commands)
        except VerbsError as refused:
            return refused.name
        self._stuck.append(self.queue_pairs.pop(name))  # the library's half stays
        return "OK"

    # Work

    def post_receive(self, queue_pair: str, region: str) -> int:
        """A receive into the whole region; returns its wr_id."""
        area = self.areas[region]
        return self.post_receive_at(queue_pair, region, area.address, area.length)

    def post_receive_at(self, queue_pair: str, region: str, address: int, length: int) -> int:
        """A receive by a region's lkey into any place; returns its wr_id."""
        request = verbs.receive_request([(address, length, int(self.regions[region].lkey))])
        request.wr_id = next(self._serials)
        self.queue_pairs[queue_pair].post_receive(request)
        return int(request.wr_id)

    def received(self, wr_id: int, wait_s: float) -> dict[str, Any]:
        """The completion of a receive: status and invalidated rkey; status none if none came."""
        return _await(self._received, wr_id, wait_s)

    def post(self, queue_pair: str, asked: dict[str, Any], wait_s: float = COMPLETION_S) -> str:
        """Post one work request and await it: its status, `post ERRNO`, or none.

        `asked`: operation, lkey, local_address, length, address, rkey, operands, data (hex).
        """
        return self.finish(self.begin(queue_pair, asked), wait_s)

    def begin(self, queue_pair: str, asked: dict[str, Any]) -> int | str:
        """Post one work request: its wr_id, or `post ERRNO`."""
        request = WorkRequest(
            operation=Operation(asked["operation"]),
            wr_id=next(self._serials),
            segments=[(asked["local_address"], asked["length"], asked["lkey"])],
            length=asked["length"],
            remote_address=asked["address"],
            rkey=asked["rkey"],
            operands=tuple(asked["operands"]),
            data=bytes.fromhex(asked["data"]),
        )
        try:
            self.queue_pairs[queue_pair].post([request])
        except VerbsError as refused:
            return f"post {refused.name}"
        return request.wr_id

    def finish(self, begun: int | str, wait_s: float = COMPLETION_S) -> str:
        """The status of what `begin` posted, after up to `wait_s`; none if it does not come."""
        return begun if isinstance(begun, str) else self.await_sent(begun, wait_s)

    def await_sent(self, wr_id: int, wait_s: float = COMPLETION_S) -> str:
        return _await(self._sent, wr_id, wait_s)["status"]

    def serial(self) -> int:
        """A number for a work request that no other has."""
        return next(self._serials)

    # The end of a case

    def clear(self) -> list[str]:
        """Take everything down, windows first, regions last: what would not go, with its errno."""
        left = []
        for kind, objects, end in (
            ("window", self.windows, verbs.deallocate_window),
            ("queue pair", self.queue_pairs, verbs.BindingQueuePair.close),
            ("region", self.regions, verbs.deregister),
        ):
            for name in list(objects):
                made = objects.pop(name)
                try:
                    end(made)
                except VerbsError as refused:
                    self._stuck.append(made)  # ends with the process: trying again tells nothing
                    left.append(f"{kind} {name}: {refused.name}")
        for area in self.areas.values():
            if left:
                self._stuck.append(area)  # a region that stayed may still be reached
            else:
                area.close()
        self.areas.clear()
        return left

    def close(self) -> None:
        self.clear()
        self._pinned.close()
        self._sent.close()
        self._received.close()
        if not self._stuck:  # a domain does not end before its objects
            for domain in self.domains.values():
                domain.close()


def _await(completions: verbs.BindingCompletions, wr_id: int, wait_s: float) -> dict[str, Any]:
    deadline = time.monotonic() + wait_s
    while True:
        for each in completions.poll():
            if each["wr_id"] == wr_id:
                return each
        if time.monotonic() > deadline:
            return {"wr_id": wr_id, "status": NONE, "invalidated": None}
        os.sched_yield()
