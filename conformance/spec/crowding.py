"""The oracle of many regions: what the cases of `spec.crowd` must show."""

from typing import Any

from conformance.spec.crowd import (
    SIZE,
    Churn,
    Crowd,
    Crowded,
    Forked,
    Limit,
    Listed,
    Overlap,
    Part,
    Remapped,
)
from conformance.spec.model import Capabilities, Case, Expectation, Outcome
from conformance.spec.vocabulary import Access, Operation, Status

_RIGHT = {Operation.WRITE: Access.REMOTE_WRITE, Operation.READ: Access.REMOTE_READ}

# What a driver answers that has no room for another region.
NO_ROOM = ("ENOMEM", "ENOSPC", "EAGAIN", "EDQUOT")

_NAMES = {
    Overlap: "REG-OVERLAP",
    Crowd: "REG-KEYS-DISTINCT",
    Churn: "REG-CHURN",
    Limit: "REG-MAX",
    Listed: "REG-LISTED",
    Forked: "REG-FORK",
    Remapped: "REG-REMAP",
}


def requirement(case: Crowded) -> str:
    """The id of the rule that a case asks."""
    return _NAMES[type(case)]


def effort(case: Case) -> int:
    """How many times the usual time a case may take."""
    if isinstance(case, Limit):
        return 3 if case.count else 60
    return {Churn: 6, Crowd: 3}.get(type(case), 1)


def expect(case: Crowded, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`."""
    name = requirement(case)
    if isinstance(case, Remapped) and case.on_demand and not caps.has("odp_rc_write"):
        return Expectation(name, (), unclaimed=caps.why_not("odp_rc_write"))
    if isinstance(case, Limit) and not (caps.has("ipc_lock") or caps.has("unlimited_memlock")):
        # The process would meet its own limit long before the device's, with the same errno.
        return Expectation(name, (), unclaimed=caps.why_not("ipc_lock"))
    return Expectation(name, _outcomes(case))


def _outcomes(case: Crowded) -> tuple[Outcome, ...]:
    success = (Status.SUCCESS.name,)
    if isinstance(case, Limit):
        facts = {"again": ("OK",), "bystander": success, "left": ([],)}
        full = Outcome("no room, and room again", {**facts, "result": NO_ROOM})
        return (full, Outcome("as many as asked for", {**facts, "result": ("OK",)}))
    facts: dict[str, tuple[Any, ...]]
    match case:
        case Overlap():
            facts = _overlap(case)
        case Crowd():
            total = (case.processes * case.threads * case.count,)
            facts = {"errors": ([],), "regions": total, "lkeys": total, "rkeys": total}
            facts["after"] = (0,)
        case Churn():
            facts = {"errors": ([],), "newest": success, "bytes": ("exact",), "left": ([],)}
        case Listed():
            facts = {"before": ([],), "listed": ([case.length],), "after": ([],)}
        case Forked():
            facts = {
                "source": ("what the parent wrote",),
                "sink": ("seen by the parent",),
                "child": ("its own copy",),
                "child_registers": ("OK",),
            }
        case Remapped():
            kept = "new" if case.on_demand else "old"
            facts = {"old": (kept,), "new": ("new",), "left_kb": (0,)}
    return (Outcome("as it must be", facts),)


def _overlap(case: Overlap) -> dict[str, tuple[Any, ...]]:
    first, second = _granted(case, case.first), _granted(case, case.second)
    return {
        "first": (first,),
        "second": (second,),
        "first_ended": ("refused",),
        "second_stays": (second,),
    }


def _granted(case: Overlap, part: Part) -> str:
    inside = part.offset <= case.at and case.at + SIZE <= part.offset + part.length
    return "granted" if inside and part.access & _RIGHT[case.operation] else "refused"
