"""Two connections contend for the same eight bytes."""

from typing import Any

from conformance.spec.contention import BURST, LANES
from conformance.spec.model import Topology
from conformance.spec.vocabulary import Operation, Status
from rdma_conformance.endpoint.agreement import Case


def contend(pair: Any, case: Case) -> dict[str, Any]:
    """Perform a case of kind `contention` on `LANES` connections of `pair`."""
    loopback = case["topology"] == Topology.LOOPBACK
    links = [pair.lane(lane, loopback) for lane in range(LANES)]
    here, there = pair.requester.bursts, links[0].there.bursts
    target = there.clear()
    operation = case["operation"]
    handles = [link.requester for link in links]
    statuses: set[str] = set()
    returned: list[int] = []
    for number in range(case["bursts"]):
        first = number * BURST
        found = here.burst(handles, operation, first, target)
        statuses |= {status for lane in found["statuses"] for status in lane}
        for lane in found["returned"]:
            returned += (
                lane
                if operation == Operation.FETCH_ADD
                else [old for step, old in enumerate(lane) if old == first + step]
            )
    for link in links:
        link.connected = statuses == {Status.SUCCESS.name}
    return {
        "requester": sorted(statuses),
        "value": there.value(),
        "returned": sorted(returned),
    }
