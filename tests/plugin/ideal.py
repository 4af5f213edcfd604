"""A stand-in for the fabric that answers as the oracle demands, or as a test tells it to.

It serves tests of what the plugin does with answers; what a driver does is asked in the lab.
"""

from collections.abc import Callable, Sequence
from typing import Any

from conformance.spec import oracle
from conformance.spec.memory import AnyPrefix
from conformance.spec.model import Capabilities, Case, Observation

NAMES = ("odp", "flush_global", "flush_persistent", "atomic", "atomic_write", "memory_window")
QUEUES = ("transport_uc", "transport_ud", "inline", "sge_lists", "shared_receive_queue")
ODP = ("write", "read", "atomic", "flush", "atomic_write")
CLAIMS = dict.fromkeys((*NAMES, *QUEUES, *(f"odp_rc_{word}" for word in ODP)), "ideal")

# Given the case and the ideal answer, the answer to give in its place; it may raise.
Liar = Callable[[Case, dict[str, Any]], Observation]


def _ideal(value: Any) -> Any:
    return value.of(0) if isinstance(value, AnyPrefix) else value


class IdealFabric:
    identity = {
        "device": "ideal0",
        "driver": "ideal",
        "kernel": "7.2.12",
        "rdma_core": "65.0",
        "firmware": "1.0",
        "vendor_id": 1,
        "part_id": 1,
        "node_guid": "0000:0000:0000:0001",
        "link_layer": "Ethernet",
        "gid_type": "RoCE v2",
        "gid": "::ffff:192.0.2.1",
        "mtu": 1024,
    }
    description = "ideal0, loopback"
    device = "ideal0"
    peer = "loopback"
    guarded = "on"
    ports = ()
    without_worker = False
    stuck = False
    waits_in = ""

    def __init__(self, lie: Liar | None = None, claims: dict[str, str] = CLAIMS) -> None:
        self.lie = lie
        self.capabilities = Capabilities(claims)
        self.closed = False

    def perform(self, cases: Sequence[Case], seed: int, bound_s: float) -> list[Observation]:
        answers = []
        for case in cases:
            outcome = oracle.expect(case, self.capabilities, seed).outcomes[0]
            answer = {fact: _ideal(allowed[0]) for fact, allowed in outcome.facts.items()}
            answers.append(self.lie(case, answer) if self.lie else answer)
        return answers

    def leftovers(self, thorough: bool = False) -> list[dict[str, Any]]:
        return []

    def end_workers(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True
