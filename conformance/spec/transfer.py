"""The oracle of operations between two queue pairs: what the rules allow each side to see.

Statuses and states follow IBTA vol. 1 chapter 9 (responder error classes) as far as the
catalogue's sources show it; each requirement's entry there carries the citations.
"""

from dataclasses import replace
from typing import Any

from conformance.spec.memory import Run, high, image, run
from conformance.spec.model import (
    ALL_RIGHTS,
    GUARD,
    Capabilities,
    Domain,
    Expectation,
    Key,
    Outcome,
    Placement,
    Region,
    Transfer,
)
from conformance.spec.vocabulary import Access, Event, Operation, QPState, Status

IMM = 0x01020304  # the immediate data that the suites send

ATOMICS = frozenset({Operation.CMP_SWAP, Operation.FETCH_ADD})
FETCHING = ATOMICS | {Operation.READ}  # they write what they fetch into the local buffer
CONSUMING = frozenset({Operation.SEND, Operation.WRITE_IMM})

_RIGHT = {
    Operation.SEND: Access(0),
    Operation.WRITE: Access.REMOTE_WRITE,
    Operation.WRITE_IMM: Access.REMOTE_WRITE,
    Operation.READ: Access.REMOTE_READ,
    Operation.CMP_SWAP: Access.REMOTE_ATOMIC,
    Operation.FETCH_ADD: Access.REMOTE_ATOMIC,
    Operation.ATOMIC_WRITE: Access.REMOTE_WRITE,  # there is no access flag of its own
}

_SUBJECT = {
    Operation.CMP_SWAP: "ATOMIC",
    Operation.FETCH_ADD: "ATOMIC",
    Operation.WRITE_IMM: "WRITE-IMM",
    Operation.ATOMIC_WRITE: "ATOMIC-WRITE",
}

_FLAG_CAPABILITY = {
    Access.ON_DEMAND: "odp",
    Access.FLUSH_GLOBAL: "flush_global",
    Access.FLUSH_PERSISTENT: "flush_persistent",
}


def needed_right(operation: Operation, placement: Placement = Placement.GLOBAL) -> Access:
    """The right that the region and the responder's queue pair must both have."""
    if operation is Operation.FLUSH:
        flag = Access.FLUSH_GLOBAL
        return flag if placement is Placement.GLOBAL else Access.FLUSH_PERSISTENT
    return _RIGHT[operation]


def full_rights(operation: Operation, placement: Placement = Placement.GLOBAL) -> Access:
    """The rights that a positive control gives to region and queue pair."""
    return ALL_RIGHTS | needed_right(operation, placement)


def requirement(case: Transfer) -> str:
    """The id of the rule that a case asks: of the region's rights when the QP has all."""
    by_region = full_rights(case.operation, case.placement) in case.qp_access
    if case.await_event:
        return "EVENT-ACCESS-ERR" if by_region else "EVENT-REQ-ERR"
    special = {
        "REG-NO-RIGHTS": not case.local.access,
        "MR-ZERO-LENGTH": case.length == 0,
        "MR-KEY": _wrong_key(case),
        "MR-DOMAIN": case.remote.domain is not Domain.OWN,
        "MR-RANGE": case.remote_offset or case.remote.page_offset,
    }
    for name, asked in special.items():
        if asked:
            return name
    subject = _SUBJECT.get(case.operation, case.operation.name)
    return f"{'MR' if by_region else 'QP'}-RIGHT-{subject}"


def expect(case: Transfer, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    name = requirement(case)
    if (unclaimed := _unclaimed(case, caps)) is not None:
        return Expectation(name, (), unclaimed=unclaimed)
    right = needed_right(case.operation, case.placement)
    outcomes = []
    if right not in case.qp_access:
        outcomes += _refused_by_queue_pair(case)
    if case.length and (
        right not in case.remote.access
        or _wrong_key(case)
        or case.remote.domain is not Domain.OWN
        or not 0 <= case.remote_offset <= case.remote.length - case.length
    ):
        outcomes += _refused_by_region(case)
    if case.operation in FETCHING and Access.LOCAL_WRITE not in case.local.access:
        outcomes.append(_refused_by_local_buffer(case, seed))
    if not outcomes:
        return Expectation(name, (_granted(case, seed),))
    return Expectation(name, tuple(outcomes), control=_control(case))


def _wrong_key(case: Transfer) -> bool:
    return case.rkey is not Key.OWN or case.rkey_xor != 0


def _unclaimed(case: Transfer, caps: Capabilities) -> str | None:
    """Why the device can not be asked, or None when it claims all that the case needs."""
    wanted = [
        capability
        for flag, capability in _FLAG_CAPABILITY.items()
        if flag & (case.remote.access | case.qp_access)
    ]
    if case.operation in ATOMICS:
        wanted.append("atomic")
    if case.operation is Operation.ATOMIC_WRITE:
        wanted.append("atomic_write")
    if case.operation is Operation.FLUSH:
        wanted.append(f"flush_{case.placement}")
    if Access.ON_DEMAND in case.remote.access and case.operation is not Operation.SEND:
        wanted.append(f"odp_rc_{_odp_word(case.operation)}")
    for capability in wanted:
        if not caps.has(capability):
            return caps.why_not(capability)
    if Access.FLUSH_PERSISTENT in case.remote.access:
        # The suite's memory is not persistent, for which a device may refuse the flag.
        paged = Access.ON_DEMAND in case.remote.access
        return caps.denials.get("persistent_odp_region" if paged else "persistent_region")
    return None


def _odp_word(operation: Operation) -> str:
    if operation in ATOMICS:
        return "atomic"
    return "write" if operation is Operation.WRITE_IMM else str(operation)


def _control(case: Transfer) -> Transfer:
    """The same operation without a fault: it must succeed before a refusal says anything.

    Every right, the region's own key, the queue pair's protection domain, the first byte.
    """
    rights = full_rights(case.operation, case.placement)
    access = case.remote.access | rights
    return replace(
        case,
        local=replace(case.local, access=case.local.access | Access.LOCAL_WRITE),
        remote=replace(case.remote, access=access, domain=Domain.OWN),
        remote_offset=0,
        rkey=Key.OWN,
        rkey_xor=0,
        qp_access=rights,
        await_event=False,
    )


def _refused(case: Transfer, name: str, status: Status, **facts: tuple[Any, ...]) -> Outcome:
    """A refusal: an error at the requester, both QPs in ERR, and not one byte changed."""
    if case.await_event:
        return Outcome(
            name,
            {"requester": (status.name,), "responder_events": facts["responder_events"]},
        )
    flushed = Status.WR_FLUSH_ERR.name
    return Outcome(
        name,
        {
            "post": ("OK",),
            "requester": (status.name,),
            "follow_up": (flushed,),
            "receives": ([flushed, flushed],),
            "received": (None,),
            "requester_qp": (QPState.ERR.value,),
            "responder_qp": (QPState.ERR.value,),
            "requester_events": ([],),
            "region": ([],),
            "local": ([],),
            "receive": ([],),
            **facts,
        },
    )


def _events(case: Transfer, event: Event) -> tuple[list[str], ...]:
    """The event, or none yet: only the cases that wait for it may demand it."""
    return ([event.value],) if case.await_event else ([], [event.value])


def _refused_by_region(case: Transfer) -> list[Outcome]:
    """Class C error found by the key check: NAK remote access error (IBTA C9-222.1.1)."""
    facts = {"responder_events": _events(case, Event.QP_ACCESS_ERR)}
    if case.operation is Operation.WRITE_IMM:
        # It relates to a receive work request, so a completion reports it, and no event does.
        facts = {
            "receives": ([Status.LOC_ACCESS_ERR.name, Status.WR_FLUSH_ERR.name],),
            "responder_events": ([],),
        }
    return [_refused(case, "refused by the region", Status.REM_ACCESS_ERR, **facts)]


def _refused_by_local_buffer(case: Transfer, seed: int) -> Outcome:
    """The requester's own error, found with the answer in hand: the responder saw nothing wrong.

    What was posted behind is flushed, but may have been sent before the answer came.
    """
    region, _, _ = effect(case, seed)
    return _refused(
        case,
        "refused by the local buffer",
        Status.LOC_PROT_ERR,
        receives=([], [Status.SUCCESS.name]),
        responder_qp=(QPState.RTS.value,),
        responder_events=([],),
        region=([], region) if region else ([],),
    )


def _refused_by_queue_pair(case: Transfer) -> list[Outcome]:
    """Class C error of an operation not enabled on the queue pair: NAK invalid request."""
    status = Status.REM_INV_REQ_ERR
    event = _refused(
        case,
        "refused by the queue pair",
        status,
        responder_events=_events(case, Event.QP_REQ_ERR),
    )
    if case.operation is not Operation.WRITE_IMM:
        return [event]
    completion = _refused(
        case,
        "refused by the queue pair, reported by the receive",
        status,
        receives=([status.name, Status.WR_FLUSH_ERR.name],),
        responder_events=([],),
    )
    return [completion, event]


def _granted(case: Transfer, seed: int) -> Outcome:
    success = Status.SUCCESS.name
    consuming = case.operation in CONSUMING
    region, local, receive = effect(case, seed)
    return Outcome(
        "granted",
        {
            "post": ("OK",),
            "requester": (success,),
            "follow_up": (success,),
            "receives": ([success, success] if consuming else [success],),
            "received": (_received(case),),
            "requester_qp": (QPState.RTS.value,),
            "responder_qp": (QPState.RTS.value,),
            "requester_events": ([],),
            "responder_events": ([],),
            "region": (region,),
            "local": (local,),
            "receive": (receive,),
        },
    )


def _received(case: Transfer) -> dict[str, Any] | None:
    """What the responder's completion must say of an operation that consumes a receive."""
    if case.operation is Operation.SEND:
        return {"byte_len": case.length, "imm": None, "opcode": "RECV"}
    if case.operation is Operation.WRITE_IMM:
        return {"byte_len": case.length, "imm": IMM, "opcode": "RECV_RDMA_WITH_IMM"}
    return None


def effect(case: Transfer, seed: int) -> tuple[list[Run], list[Run], list[Run]]:
    """What a granted operation changes in the region, the local buffer and the receive buffer."""
    if case.length == 0:
        return [], [], []
    source = _bytes_of(case.local, seed, "local", case.local_offset, case.length)
    if case.operation is Operation.SEND:
        return [], [], [run(0, source)]
    if case.operation in (Operation.WRITE, Operation.WRITE_IMM, Operation.ATOMIC_WRITE):
        return [run(case.remote_offset, source)], [], []
    if case.operation is Operation.FLUSH:
        return [], [], []
    old = _bytes_of(case.remote, seed, "region", case.remote_offset, case.length)
    fetched = [run(case.local_offset, old)]
    if case.operation is Operation.READ:
        return [], fetched, []
    if case.operation is Operation.CMP_SWAP:
        new = high(seed, "operand", 8)
    else:
        new = bytes(byte + 0x80 for byte in old)  # the addend is 0x80 in each of the 8 bytes
    return [run(case.remote_offset, new)], fetched, []


def _bytes_of(region: Region, seed: int, label: str, offset: int, length: int) -> bytes:
    return image(seed, label, region.length)[GUARD + offset : GUARD + offset + length]
