"""Performs the cases of pinned memory: each in a process of its own limits."""

from collections.abc import Callable
from typing import Any

from conformance.spec.vocabulary import Operation
from rdma_conformance.endpoint.agreement import Case
from rdma_conformance.endpoint.registrations import Carry
from rdma_conformance.plants import HONEST, Plant

Performer = Callable[..., dict[str, Any]]

# Fields of a case that say what it is about, and not what to do.
_TOLD = ("kind", "about", "name")
_KINDS = ("memlock", "contention", "ending")


def accounts(requester: Any, carry: Carry) -> dict[str, Performer]:
    """The performers of `spec.memlock`'s kinds of cases on `requester`."""
    confined = requester.confined

    def perform(case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        arguments = {name: value for name, value in case.items() if name not in _TOLD}
        if "limit" in plant.ignores:
            arguments["capable"] = True
        for step in arguments.get("steps", ()):
            step["access"] = plant.region_access(step["access"])
        return confined.run(case["kind"], {**arguments, "forgetful": plant.leak})

    def live(case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        return _live_under_limit(requester.buffers, carry, case, seed)

    return {**dict.fromkeys(_KINDS, perform), "liveunderlimit": live}


def _live_under_limit(buffers: Any, carry: Carry, case: Case, seed: int) -> dict[str, Any]:
    bystander = buffers.bystander()
    # A connection that is made under the limit could itself be refused for it.
    carry(Operation.READ, bystander, seed)
    carry(Operation.WRITE, bystander, seed)
    buffers.lower_limit(case["limit"])
    try:
        new = buffers.attempt_ordinary()
        write = carry(Operation.WRITE, bystander, seed)["requester"]
        read = carry(Operation.READ, bystander, seed)["requester"]
    finally:
        buffers.restore_limit()
    return {"new": new, "write": write, "read": read, "restored": buffers.attempt_ordinary()}
