"""The oracle of the end of registrations: the answers that the rules allow.

Sources are with the catalogue's entries (conformance/requirements/lifetime.toml).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.spec.effect import LOCAL, carried
from conformance.spec.lifetime import (
    Busy,
    ChildProcess,
    Handle,
    Handled,
    InUse,
    Killed,
    LifetimeCase,
    Midway,
    Retired,
    Rounds,
    Side,
    Wrong,
    WrongOrder,
    requirement,
)
from conformance.spec.memory import image, run
from conformance.spec.model import GUARD, PAGE, Capabilities, Expectation, Outcome
from conformance.spec.operations import ATOMICS
from conformance.spec.vocabulary import Operation, QPState, Status, Verdict

SUCCESS = Status.SUCCESS.name
RTS, ERR = QPState.RTS.value, QPState.ERR.value
AT = 512  # bytes of the region before the place that the operations name
NO_OBJECT = ("ENOENT", "EINVAL")  # of a handle that means nothing (any more)
STILL_BOUND = ("EINVAL", "EBUSY")
# A type of window or an operation that a case needs, and the capability that claims it.
_WINDOWS = {Busy.WINDOW_1: "memory_window_type_1", Busy.WINDOW_2: "memory_window_type_2"}

Facts = dict[str, tuple[Any, ...]]
Answer = tuple[tuple[Outcome, ...], LifetimeCase | None]  # the outcomes, and the control


def expect(case: LifetimeCase, caps: Capabilities, seed: int) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    name = requirement(case)
    for capability in _wanted(case):
        if not caps.has(capability):
            return Expectation(name, (), unclaimed=caps.why_not(capability))
    outcomes, control = _ANSWERS[type(case)](case, seed)
    return Expectation(name, outcomes, control=control)


def _wanted(case: LifetimeCase) -> list[str]:
    if isinstance(case, InUse):
        if case.what is Busy.DOMAIN_WINDOW:
            return ["memory_window_type_2"]
        return [_WINDOWS[case.what]] if case.what in _WINDOWS else []
    operation = getattr(case, "operation", None)
    if operation in ATOMICS:
        return ["atomic"]
    return ["atomic_write"] if operation is Operation.ATOMIC_WRITE else []


def _granted_facts(seed: int, operation: Operation = Operation.WRITE) -> Facts:
    done = carried(operation, seed, AT, PAGE)
    region, local = done.region, done.local
    return {
        "requester": (SUCCESS,),
        "requester_qp": (RTS,),
        "responder_qp": (RTS,),
        "region": (region,),
        "local": (local,),
        "left": ([],),
    }


def _retired(case: Retired, seed: int) -> Answer:
    if not case.ended:
        facts = {**_granted_facts(seed, case.operation), "dereg": ("none",)}
        if case.operation is Operation.SEND:
            sent = image(seed, "local", LOCAL)[GUARD : GUARD + LOCAL]
            facts |= {"region": ([],), "receive": (SUCCESS,), "received": ([run(0, sent)],)}
        return (Outcome("granted", facts),), None
    facts = {"dereg": ("OK",), "touched": ([],), "left": ([],)}
    match case.side:
        case Side.REMOTE:
            facts |= {"requester": (Status.REM_ACCESS_ERR.name,), "responder_qp": (ERR,)}
        case Side.LOCAL:
            facts |= {"requester": (Status.LOC_PROT_ERR.name,), "responder_qp": (RTS,)}
            if case.operation in ATOMICS:  # only the answer found no place: it may be done
                facts["touched"] = ([], ["region"])
        case Side.RECEIVE:
            facts |= {
                "requester": (Status.REM_OP_ERR.name,),
                "responder_qp": (ERR,),
                "receive": (Status.LOC_PROT_ERR.name,),
                "received": ([],),
            }
    facts["requester_qp"] = (ERR,)
    control = replace(case, ended=False, again=0)
    if not case.again:
        return (Outcome("refused", facts),), control
    # Keys may be given out again (they are unpredictable at most): then the old one is the new.
    issued = {"dereg": ("OK",), "registered": ("the same key",), "left": ([],)}
    outcomes = (
        Outcome("refused", {**facts, "registered": ("the same index",)}),
        Outcome(
            "refused, and its index was not seen again",
            {**facts, "registered": ("another index",)},
            Verdict.NOTE,
        ),
        Outcome("the key was given out again", issued, Verdict.NOTE),
    )
    return outcomes, control


def _in_use(case: InUse, seed: int) -> Answer:
    """Refused, all still works, and the right order succeeds."""
    after: Facts = {"after": ("OK",), "left": ([],)}
    if case.what in _WINDOWS:
        refused = {"ended": STILL_BOUND, "alive": (SUCCESS,), **after}
        closed = {"ended": ("OK",), "alive": (Status.REM_ACCESS_ERR.name,), "left": ([],)}
        noted = Outcome("the region went, and the window opens nothing", closed, Verdict.NOTE)
        return (Outcome("refused", refused), noted), None
    refused = {"ended": ("EBUSY",), "alive": ("OK",), **after}
    noted = Outcome("taken", {"ended": ("OK",)}, Verdict.NOTE)
    return (Outcome("refused", refused), noted), None


def _handled(case: Handled, seed: int) -> Answer:
    live = case.handle is Handle.LIVE
    facts: Facts = {
        "result": ("OK",) if live else NO_OBJECT,
        "other": (SUCCESS,),
        "left": ([],),
    }
    outcome = Outcome("deregistered" if live else "no such region", facts)
    return (outcome,), None if live else Handled(Handle.LIVE)


def _wrong_order(case: WrongOrder, seed: int) -> Answer:
    """The device keeps the pages that were pinned, whatever the process sees at the address."""
    done = carried(case.operation, seed, AT, PAGE)
    region, local = done.region, done.local
    held = region[0][2] if region else image(seed, "region", PAGE)[GUARD + AT :][:64].hex()
    same_pages = case.wrong in (Wrong.NOTHING, Wrong.READ_ONLY)
    facts: Facts = {
        "changed": ("done",),
        "requester": (SUCCESS,),
        "requester_qp": (RTS,),
        "responder_qp": (RTS,),
        "local": (local,),
        "seen": (region if same_pages else [],),  # by the process, at the address
        "read_back": (held,),
        "dereg": ("OK",),
        "pinned_left": (0,),
        "left": ([],),
    }
    control = None if case.wrong is Wrong.NOTHING else replace(case, wrong=Wrong.NOTHING)
    return (Outcome("the pinned pages", facts),), control


def _midway(case: Midway, seed: int) -> Answer:
    if case.after_us < 0:
        facts: Facts = {"requester": (SUCCESS,), "dereg": ("none",), "arrived": ("all",)}
        return (Outcome("done", {**facts, "left": ([],)}),), None
    error = Status.LOC_PROT_ERR if case.side is Side.LOCAL else Status.REM_ACCESS_ERR
    facts = {
        "requester": (SUCCESS, error.name),
        "dereg": ("OK",),
        "later": ("nothing",),  # reached after deregistration had returned
        "left": ([],),
    }
    return (Outcome("bounded", facts),), replace(case, after_us=-1)


def _killed(case: Killed, seed: int) -> Answer:
    # Nobody answers any more, or the region went before the queue pair.
    errors = (Status.RETRY_EXC_ERR.name, Status.REM_OP_ERR.name, Status.REM_ACCESS_ERR.name)
    facts: Facts = {
        "before": (SUCCESS,),
        "ended": ("killed",),
        "midway": (SUCCESS, *errors),
        "requester": (*errors, Status.WR_FLUSH_ERR.name),
        "requester_qp": (ERR,),
        "resources": ("as before",),
        "usable": (SUCCESS,),
        "left": ([],),
    }
    return (Outcome("told in time, and cleaned up", facts),), None


def _rounds(case: Rounds, seed: int) -> Answer:
    facts: Facts = {"failed": (0,), "pinned_left": (0,), "cost": ("flat",)}
    return (Outcome("all of them", facts),), None


def _forked(case: ChildProcess, seed: int) -> Answer:
    facts: Facts = {"child": ("killed" if case.killed else "exited",), **_granted_facts(seed)}
    return (Outcome("the parent goes on", facts),), None


_ANSWERS: dict[type, Callable[..., Answer]] = {
    Retired: _retired,
    InUse: _in_use,
    Handled: _handled,
    WrongOrder: _wrong_order,
    Midway: _midway,
    Rounds: _rounds,
    ChildProcess: _forked,
    Killed: _killed,
}
