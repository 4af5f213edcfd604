"""The oracle of pinned memory: what the cases of `spec.memlock` must show."""

from dataclasses import replace

from conformance.spec import memlock
from conformance.spec.buffer import Backing
from conformance.spec.memlock import About, Contention, Do, Ending, LiveUnderLimit, Memlock
from conformance.spec.model import Capabilities, Expectation, Outcome
from conformance.spec.vocabulary import PAGE, Access, Status

# Bytes of RLIMIT_MEMLOCK that the largest case needs, what an open device pins included.
MEMLOCK_ROOM = 8 << 20

Accounted = Memlock | Contention | Ending | LiveUnderLimit


def requirement(case: Accounted) -> str:
    """The id of the rule that a case asks."""
    match case:
        case Memlock():
            return case.about.value
        case Contention():
            return "MEM-CONTENTION"
        case Ending():
            return "MEM-PROCESS-ENDS"
        case LiveUnderLimit():
            return About.LOWERED.value


def expect(case: Accounted, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`."""
    name = requirement(case)
    for capability in _needed(case):
        if not caps.has(capability):
            return Expectation(name, (), unclaimed=caps.why_not(capability))
    control = None
    match case:
        case Memlock():
            results, pinned = memlock.books(case)
            control = _control(case, results)
            outcome = Outcome("as the books say", {"results": (results,), "pinned_kb": (pinned,)})
        case Contention():
            facts = {
                "held": ("never over the limit",),
                "pinned": ("as held",),
                "filled": (case.pages,),
                "then": ("ENOMEM",),
                "left_kb": (0,),
            }
            outcome = Outcome("within the limit", facts)
        case Ending():
            facts = {"listed": (case.regions,), "after": (0,), "next": ("OK",)}
            outcome = Outcome("released", facts)
        case LiveUnderLimit():
            success = (Status.SUCCESS.name,)
            facts = {
                "new": ("ENOMEM" if case.limit else "EPERM",),
                "write": success,
                "read": success,
                "restored": ("OK",),
            }
            outcome = Outcome("live regions stay", facts)
    return Expectation(name, (outcome,), control=control)


def _control(case: Memlock, results: list[str]) -> Memlock | None:
    """The same steps at a limit that lets them all through, if none of them is let through."""
    asked = [number for number, step in enumerate(case.steps) if step.do is Do.REGISTER]
    if any(results[number] == "OK" for number in asked):
        return None
    return replace(case, limit=PAGE * sum(memlock.pages(case.steps[number]) for number in asked))


def _needed(case: Accounted) -> list[str]:
    needed = ["memlock_room"]
    if not isinstance(case, Memlock):
        return needed
    if case.capable:
        needed.append("ipc_lock")
    if case.limit is None:
        needed.append("unlimited_memlock")
    if any(step.access & Access.ON_DEMAND for step in case.steps):
        needed.append("odp")
    if any(step.backing is Backing.HUGE_2M for step in case.steps):
        needed.append("huge_pages_2m")
    return needed
