"""The oracle of memory windows: the answers that the rules allow.

Sources are with the catalogue's entries (conformance/requirements/windows.toml).
"""

from dataclasses import replace
from typing import Any

from conformance.spec.effect import carried
from conformance.spec.model import Capabilities, Expectation, Outcome
from conformance.spec.operations import ATOMICS, needed_right, size
from conformance.spec.vocabulary import Access, Operation, QPState, Status, Verdict
from conformance.spec.window import (
    BINDABLE,
    ELSEWHERE,
    EXTENT,
    START,
    WINDOW_RIGHTS,
    Allocation,
    Domain,
    Ending,
    Fault,
    Invalidation,
    LentMidway,
    Through,
    Window,
    WindowCase,
    WindowType,
    WrongCall,
    bindable,
    inside,
    other_bits,
    requirement,
)

SUCCESS, BIND_ERR = Status.SUCCESS.name, Status.MW_BIND_ERR.name
RTS, ERR = QPState.RTS.value, QPState.ERR.value
AT_POST = ("post EINVAL", "post EPERM", "post EOPNOTSUPP")  # what a library finds by itself
# LOCAL_INV refused: which of the local errors is told, the documents leave open.
NOT_INVALIDATED = ("LOC_QP_OP_ERR", "MW_BIND_ERR", "LOC_PROT_ERR")
# SEND_WITH_INV refused (a Class J error): the request itself may have been acknowledged.
PEER_TOLD = ("SUCCESS", "REM_ACCESS_ERR", "REM_OP_ERR", "REM_INV_REQ_ERR")
OWNER_TOLD = ("REM_INV_REQ_ERR", "LOC_ACCESS_ERR", "MW_BIND_ERR")
DEAD = frozenset(
    {
        Ending.NEVER_BOUND,
        Ending.UNBOUND,
        Ending.INVALIDATED,
        Ending.INVALIDATED_BY_PEER,
        Ending.DEALLOCATED,
        Ending.QUEUE_PAIR_DESTROYED,
    }
)


def expect(case: WindowCase, caps: Capabilities, seed: int) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    name = requirement(case)
    for capability in _wanted(case):
        if not caps.has(capability):
            return Expectation(name, (), unclaimed=caps.why_not(capability))
    match case:
        case Allocation():
            return _allocation(name, case)
        case WrongCall():
            return _wrong_call(name, case)
        case Invalidation():
            return _invalidation(name, case)
        case LentMidway():
            return _midway(name, case)
    return _window(name, case, seed)


def _wanted(case: WindowCase) -> list[str]:
    """The capabilities without which the device can not be asked."""
    match case:
        case Allocation() if case.number in set(WindowType):
            return [f"memory_window_type_{int(case.number)}"]
        case Allocation():
            return ["memory_window"]
        case Invalidation(fault=Fault.TYPE_1):
            return ["memory_window_type_1", "memory_window_type_2"]
        case Invalidation():
            return ["memory_window_type_2"]
    wanted = [f"memory_window_type_{int(case.type)}"]
    if isinstance(case, Window) and case.operation in ATOMICS:
        wanted.append("atomic")
    if isinstance(case, Window) and case.operation is Operation.ATOMIC_WRITE:
        wanted.append("atomic_write")
    return wanted


def _allocation(name: str, case: Allocation) -> Expectation:
    """C: ibv_alloc_mw(3): the type is 1 or 2; the kernel's own check answers EINVAL to others."""
    facts = {"type_2": ("at most one kind",), "left": ([],)}
    if case.number in set(WindowType):
        facts |= {"result": ("OK",), "rkeys": ("distinct, not 0",)}
        return Expectation(name, (Outcome("allocated", facts),))
    refused = Outcome("refused", {"result": ("EINVAL",), **facts})
    return Expectation(name, (refused,), control=Allocation(WindowType.TYPE_2))


def _wrong_call(name: str, case: WrongCall) -> Expectation:
    """ibv_bind_mw() is for type 1 alone; of type 1 by work request the documents say less."""
    facts: dict[str, tuple[Any, ...]] = {"left": ([],)}
    control = Window(case.type)
    if case.type is WindowType.TYPE_2:
        refused = Outcome("refused", {"bind": ("post EINVAL",), "binder_qp": (RTS,), **facts})
        return Expectation(name, (refused,), control=control)
    outcomes = (
        Outcome("refused at post", {"bind": AT_POST, "binder_qp": (RTS,), **facts}),
        Outcome("refused", {"bind": (BIND_ERR,), "binder_qp": (ERR,), **facts}),
        Outcome("bound", {"bind": (SUCCESS,), "binder_qp": (RTS,), **facts}, Verdict.NOTE),
    )
    return Expectation(name, outcomes, control=control)


def _invalidation(name: str, case: Invalidation) -> Expectation:
    if case.fault is Fault.NONE:
        facts: dict[str, tuple[Any, ...]] = {"requester": (SUCCESS,), "owner_qp": (RTS,)}
        if case.by_peer:
            facts |= {"receive": (SUCCESS,)}
        return Expectation(name, (Outcome("invalidated", {**facts, "left": ([],)}),))
    control = Invalidation(case.by_peer, Fault.NONE)
    if case.by_peer:
        facts = {"requester": PEER_TOLD, "receive": OWNER_TOLD, "owner_qp": (ERR,)}
    else:
        facts = {"requester": NOT_INVALIDATED, "owner_qp": (ERR,)}
    lives = case.fault in (Fault.TYPE_1, Fault.REGION, Fault.QUEUE_PAIR, Fault.DOMAIN)
    facts |= {"use": (SUCCESS,) if lives else ("not asked",), "left": ([],)}
    outcomes = [Outcome("refused", facts)]
    if not case.by_peer:
        early = {**facts, "requester": AT_POST, "owner_qp": (RTS,)}
        outcomes.append(Outcome("refused at post", early))
    if case.fault is Fault.NEVER_BOUND:
        done = {**facts, "requester": (SUCCESS,), "owner_qp": (RTS,)}
        if case.by_peer:
            done["receive"] = (SUCCESS,)
        outcomes.append(Outcome("nothing to do", done))
    return Expectation(name, tuple(outcomes), control=control)


def _midway(name: str, case: LentMidway) -> Expectation:
    if case.ending is Ending.NONE:
        facts: dict[str, tuple[Any, ...]] = {"ending": ("none",), "requester": (SUCCESS,)}
        return Expectation(name, (Outcome("written", {**facts, "left": ([],)}),))
    facts = {
        "ending": ("OK" if case.ending is Ending.DEALLOCATED else SUCCESS,),
        "requester": (SUCCESS, Status.REM_ACCESS_ERR.name),
        "later": ("nothing",),  # written after the end was told
        "left": ([],),
    }
    control = LentMidway(case.type, Ending.NONE)
    return Expectation(name, (Outcome("bounded", facts),), control=control)


def _window(name: str, case: Window, seed: int) -> Expectation:
    if (refused := _refused_binds(case)) is not None:
        return Expectation(name, refused, control=_control(case))
    second = _second_bind(case)
    if second is not None and second != (SUCCESS,):
        facts = _use(case, False, seed)
        outcomes = (
            Outcome("stays", {**facts, "ending": (BIND_ERR,)}),
            Outcome("stays, told at post", {**facts, "ending": AT_POST}),
        )
        return Expectation(name, outcomes, control=_control(case))
    granted = _granted(case)
    outcome = Outcome("granted" if granted else "refused", _use(case, granted, seed))
    plain = granted and case.ending is Ending.NONE
    return Expectation(name, (outcome,), control=None if plain else _control(case))


def _refused_binds(case: Window) -> tuple[Outcome, ...] | None:
    """The answers to a bind that must be refused, or None when it must be granted."""
    fault = (
        not bindable(case)
        or not inside(case)
        or Domain.OTHER in (case.domain, case.region.domain)
        or (case.type is WindowType.TYPE_1 and case.rights & Access.ZERO_BASED)
    )
    bits = other_bits(case.rights)
    if not fault and not bits:
        return None
    # The key that the window would have: it opens nothing, whatever was told of the bind.
    dead = {**_refused_use(), "alloc": ("OK",), "left": ([],)}
    outcomes = [
        Outcome("bind refused", {**dead, "bind": (BIND_ERR,), "binder_qp": (ERR,)}),
        Outcome("bind refused at post", {**dead, "bind": AT_POST, "binder_qp": (RTS,)}),
    ]
    if bits and not fault:
        taken = {"alloc": ("OK",), "bind": (SUCCESS,), "binder_qp": (RTS,), "left": ([],)}
        outcomes.append(Outcome("bits ignored", taken, Verdict.NOTE))
    if case.type is WindowType.TYPE_1 and case.domain is case.region.domain is Domain.OTHER:
        # Window and region agree; what of the queue pair that only posts the bind, is left open.
        posted = {**dead, "bind": (SUCCESS,), "binder_qp": (RTS,)}
        outcomes.append(Outcome("bound, and closed to this domain", posted, Verdict.NOTE))
    return tuple(outcomes)


def _second_bind(case: Window) -> tuple[str, ...] | None:
    """What the second bind of a case must answer, or None when there is none."""
    if case.ending is Ending.MOVED:
        # o10-37.2.30: a window of type 2 must have been invalidated first.
        return (SUCCESS,) if case.type is WindowType.TYPE_1 else (BIND_ERR,)
    return (SUCCESS,) if case.ending is Ending.BOUND_AGAIN else None


def _granted(case: Window) -> bool:
    if case.ending in DEAD or case.old_key or case.rkey_xor or case.by_address:
        return False
    if case.through is Through.FOREIGN:
        return False
    if case.through is Through.OTHER and case.type is WindowType.TYPE_2:
        return False
    if not 0 <= case.at <= case.extent - size(case.operation):
        return False
    return needed_right(case.operation) in case.rights


def _use(case: Window, granted: bool, seed: int) -> dict[str, tuple[Any, ...]]:
    """The facts of a window that was bound as it may be, and then named by an operation."""
    facts: dict[str, tuple[Any, ...]] = {
        "alloc": ("OK",),
        "bind": ("none" if case.ending is Ending.NEVER_BOUND else SUCCESS,),
        "binder_qp": (RTS,),
        "ending": (_ended(case),),
        "left": ([],),
    }
    if case.ending is Ending.INVALIDATED_BY_PEER:
        facts["invalidated"] = ("the window's key",)
    if not granted:
        return facts | _refused_use()
    place = ELSEWHERE if _second_bind(case) is not None else case.start
    done = carried(case.operation, seed, place + case.at, case.region.length)
    region, local = done.region, done.local
    return facts | {
        "requester": (SUCCESS,),
        "requester_qp": (RTS,),
        "responder_qp": (RTS,),
        "region": (region,),
        "local": (local,),
    }


def _ended(case: Window) -> str:
    """What the step of `case.ending` must answer."""
    if case.ending in (Ending.NONE, Ending.NEVER_BOUND):
        return "none"
    by_verb = case.ending in (Ending.DEALLOCATED, Ending.QUEUE_PAIR_DESTROYED)
    return "OK" if by_verb else SUCCESS


def _refused_use() -> dict[str, tuple[Any, ...]]:
    return {
        "requester": (Status.REM_ACCESS_ERR.name,),
        "requester_qp": (ERR,),
        "responder_qp": (ERR,),
        "touched": ([],),
    }


def _control(case: Window) -> Window:
    """The same window, bound as it may be and used where it may be."""
    rights = case.rights & (WINDOW_RIGHTS | Access.ZERO_BASED)
    if case.type is WindowType.TYPE_1:
        rights &= ~Access.ZERO_BASED
    access = case.region.access | Access.MW_BIND | Access.LOCAL_WRITE
    return replace(
        case,
        rights=rights | needed_right(case.operation),
        region=replace(BINDABLE, access=access),
        domain=Domain.OWN,
        start=START,
        extent=EXTENT,
        ending=Ending.NONE,
        old_key=False,
        rkey_xor=0,
        at=0,
        by_address=False,
        through=Through.BOUND,
    )
