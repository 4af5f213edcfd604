"""Performs the cases of pinned memory: each in a process of its own limits."""

from collections.abc import Callable
from typing import Any

from rdma_conformance.endpoint.agreement import Case
from rdma_conformance.plants import HONEST, Plant

Performer = Callable[..., dict[str, Any]]

# Fields of a case that say what it is about, and not what to do.
_TOLD = ("kind", "about", "name")
_KINDS = ("memlock", "contention", "ending", "liveunderlimit")


def accounts(requester: Any) -> dict[str, Performer]:
    """The performers of `spec.memlock`'s kinds of cases on `requester`."""
    confined = requester.confined

    def perform(case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        altered = plant.altered(case)
        arguments = {name: value for name, value in altered.items() if name not in _TOLD}
        if "limit" in plant.ignores:
            arguments["capable"] = True
        for step in arguments.get("steps", ()):
            step["access"] = plant.region_access(step["access"])
        return confined.run(case["kind"], {**arguments, "forgetful": plant.leak})

    return dict.fromkeys(_KINDS, perform)
