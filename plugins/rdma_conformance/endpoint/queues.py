"""The queue pairs of an end, by handle, and the queues that they share."""

import os
import time
from itertools import count
from typing import Any

from conformance.spec.vocabulary import QPState
from rdma_conformance.endpoint import verbs


class Queues:
    """Queue pairs of `domain` on an open `device`, at the address that `End` found."""

    def __init__(self, device: verbs.Device, domain: Any, address: dict[str, Any]):
        self.device = device
        self.sent = verbs.Completions(device)
        self.received = verbs.Completions(device)
        self._domain = domain
        self._address = address
        self._queue_pairs: dict[int, verbs.QueuePair] = {}
        self._shared: dict[int, verbs.SharedReceives] = {}
        self._handles = count(1)
        self._serials = count(1)

    def serial(self) -> int:
        """A number that no other work request of this end has."""
        return next(self._serials)

    def create(self, transport: str, shared: bool = False) -> int:
        """A new queue pair, its receives in a queue of its own or a shared one; its handle."""
        handle = next(self._handles)
        receives = verbs.SharedReceives(self._domain) if shared else None
        if receives:
            self._shared[handle] = receives
        self._queue_pairs[handle] = self.device.create_queue_pair(
            self._domain, self.sent, self.received, transport, receives
        )
        return handle

    def init(self, handle: int, access: int) -> dict[str, Any]:
        """Take a queue pair through RESET to INIT; returns what its peer needs to connect."""
        queue_pair = self.of(handle)
        queue_pair.to_init(self._address["port"], access)
        psn = self.serial() * 0x10001 & 0xFFFFFF
        return {**self._address, "number": queue_pair.number, "psn": psn}

    def connect(
        self,
        handle: int,
        own: dict[str, Any],
        peer: dict[str, Any],
        access: int,
        rnr_retry: int = 7,
    ) -> None:
        """INIT to RTS; `own` and `peer` are what `init` returned on both sides.

        With an `rnr_retry` of 7 a requester waits for ever for a receiver that is not ready.
        """
        self.of(handle).to_rts(own, peer, access, rnr_retry)

    def of(self, handle: int) -> verbs.QueuePair:
        return self._queue_pairs[handle]

    def receive_queue(self, handle: int) -> Any:
        """What takes the receives of a queue pair: its own queue, or the shared one."""
        return self._shared.get(handle) or self.of(handle)

    def state(self, handle: int, failed: bool, deadline: float) -> str:
        """The queue pair's state; after a failure ERR or SQE, which follows it, is awaited."""
        queue_pair = self.of(handle)
        state = queue_pair.state()
        while failed and state not in (QPState.ERR, QPState.SQE) and time.monotonic() < deadline:
            os.sched_yield()
            state = queue_pair.state()
        return state

    def destroy(self, handle: int) -> None:
        self._queue_pairs.pop(handle).close()
        if handle in self._shared:
            self._shared.pop(handle).close()

    def count(self) -> tuple[int, int]:
        """How many queue pairs and shared receive queues there are."""
        return len(self._queue_pairs), len(self._shared)

    def close(self) -> None:
        """Queue pairs before what they use."""
        for handle in list(self._queue_pairs):
            self.destroy(handle)
        self.sent.close()
        self.received.close()
