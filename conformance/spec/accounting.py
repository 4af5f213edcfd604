"""The oracle of pinned memory: what the cases of `spec.memlock` must show."""

from dataclasses import replace

from conformance.spec import memlock
from conformance.spec.buffer import Backing
from conformance.spec.memlock import About, Contention, Do, Ending, LiveUnderLimit, Memlock
from conformance.spec.model import Capabilities, Expectation, Outcome
from conformance.spec.umem import SAYS_ALL, all_told_by, untold
from conformance.spec.vocabulary import PAGE, Access, Status, Verdict

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
    outcome, untold_by = _required(case)
    control = _control(case) if isinstance(case, Memlock) else None
    if not untold_by:
        return Expectation(name, (outcome,), control=control)
    facts = {**outcome.facts, **untold_by}
    recorded = Outcome(f"{outcome.name}, with an errno of another cause", facts, Verdict.NOTE)
    return Expectation(name, (outcome, recorded), control=control)


def _required(case: Accounted) -> tuple[Outcome, dict[str, tuple]]:
    """What a case must show, and the facts of a driver that has one errno for all (spec.umem)."""
    match case:
        case Memlock():
            results, pinned = memlock.books(case)
            told = [all_told_by(errno, results) for errno in SAYS_ALL]
            others = tuple(each for each in told if each != results)
            facts = {"results": (results,), "pinned_kb": (pinned,)}
            return Outcome("as the books say", facts), {"results": others} if others else {}
        case Contention():
            facts = {
                "held": ("never over the limit",),
                "pinned": ("as held",),
                "filled": (case.pages,),
                "then": ("ENOMEM",),
                "left_kb": (0,),
            }
            return Outcome("within the limit", facts), {"then": untold("ENOMEM")}
        case Ending():
            facts = {"listed": (case.regions,), "after": (0,), "next": ("OK",)}
            return Outcome("released", facts), {}
        case LiveUnderLimit():
            success = (Status.SUCCESS.name,)
            errno = "ENOMEM" if case.limit else "EPERM"
            facts = {"new": (errno,), "write": success, "read": success, "restored": ("OK",)}
            return Outcome("live regions stay", facts), {"new": untold(errno)}


def _control(case: Memlock) -> Memlock | None:
    """The same steps at a limit that lets them all through, if none of them is let through."""
    results, _ = memlock.books(case)
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
