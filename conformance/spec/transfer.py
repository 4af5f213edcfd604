"""The oracle of operations between two queue pairs: which rule a case asks, and what it allows."""

from collections.abc import Callable
from dataclasses import replace

from conformance.spec.answer import granted
from conformance.spec.fault import Fault, cause, faults
from conformance.spec.model import (
    Capabilities,
    Expectation,
    Key,
    Operand,
    Posted,
    Region,
    Segment,
    Transfer,
)
from conformance.spec.operations import ATOMICS, FETCHING, full_rights
from conformance.spec.refusal import refusals
from conformance.spec.vocabulary import Access, Operation, Transport, Verdict

_SUBJECT = {
    Operation.CMP_SWAP: "ATOMIC",
    Operation.FETCH_ADD: "ATOMIC",
    Operation.WRITE_IMM: "WRITE-IMM",
    Operation.ATOMIC_WRITE: "ATOMIC-WRITE",
}

_FLAG_CAPABILITY = {
    Access.MW_BIND: "memory_window",  # without windows a device may refuse the flag
    Access.ON_DEMAND: "odp",
    Access.FLUSH_GLOBAL: "flush_global",
    Access.FLUSH_PERSISTENT: "flush_persistent",
}

_USUAL = Transfer(Operation.WRITE)


def _event(case: Transfer) -> str | None:
    if not case.await_event:
        return None
    by_region = full_rights(case.operation, case.placement) in case.qp_access
    return "EVENT-ACCESS-ERR" if by_region else "EVENT-REQ-ERR"


def _unusual_fault(case: Transfer) -> str | None:
    """Faults that have a rule of their own, whatever they are of."""
    found = faults(case)
    unreliable = case.transport is Transport.UC
    names = {
        "TWO-FAULTS": len(found) > 1,
        "TRANSPORT-OPERATION": Fault.TRANSPORT in found,
        "UC-REFUSAL": unreliable and {Fault.REGION, Fault.QUEUE_PAIR} & set(found),
        "UD-RECEIVE": case.transport is Transport.UD,
        "RECEIVER-NOT-READY": case.posted is not Posted.BEFORE,
        "RECV-LENGTH": Fault.TOO_LONG in found,
    }
    return next((name for name, asked in names.items() if asked), None)


def _atomic(case: Transfer) -> str | None:
    found = faults(case)
    if Fault.ALIGNMENT in found:
        return "ATOMIC-ALIGNMENT"
    if Fault.SIZE in found:
        return "ATOMIC-SIZE"
    return None if case.operand is Operand.PLAIN else "ATOMIC-RESULT"


def _zero_length(case: Transfer) -> str | None:
    if case.operation is Operation.FLUSH:
        return "FLUSH-ZERO-LENGTH" if case.length == 0 else None
    named = case.operation is not Operation.SEND and not case.local_sgl
    return "MR-ZERO-LENGTH" if case.length == 0 and named and not faults(case) else None


def _buffer(case: Transfer) -> str | None:
    """What is odd about the requester's or the receiver's scatter/gather list."""
    if case.inline:
        return "LOC-INLINE"
    if not case.local.access:
        return "REG-NO-RIGHTS"
    sink = case.operation in FETCHING
    named = (case.local, case.local_sgl) != (_USUAL.local, ()) or Fault.LOCAL in faults(case)
    if named and (odd := cause(case.local_segments, case.local, sink)):
        return f"LOC-{odd}"
    if (case.receive, case.receive_sgl) != (_USUAL.receive, ()) and (
        odd := cause(case.receive_sgl, case.receive, sink=True)
    ):
        return f"RECV-{odd}"
    return None


def _data(case: Transfer) -> str | None:
    """Whether only the bytes that are carried are out of the ordinary."""
    carried = (case.local, case.local_sgl, case.receive, case.receive_sgl)
    usual = (_USUAL.local, _USUAL.local_sgl, _USUAL.receive, _USUAL.receive_sgl)
    return "DATA-EXACT" if carried != usual and not faults(case) else None


def _region(case: Transfer) -> str | None:
    if case.rkey is Key.OTHER_DOMAIN:
        return "MR-DOMAIN"
    if case.rkey_xor or case.rkey is not Key.OWN:
        return "MR-KEY"
    placed = case.remote_offset or case.remote_address is not None or case.remote.page_offset
    longer = Fault.REGION in faults(case) and case.length > case.remote.length
    return "MR-RANGE" if placed or longer else None


def _right(case: Transfer) -> str:
    by_region = full_rights(case.operation, case.placement) in case.qp_access
    subject = _SUBJECT.get(case.operation, case.operation.name)
    return f"{'MR' if by_region else 'QP'}-RIGHT-{subject}"


_RULES: tuple[Callable[[Transfer], str | None], ...] = (
    _event,
    lambda case: "REFUSAL-RECOVERY" if case.recover else None,
    _unusual_fault,
    _atomic,
    _zero_length,
    _buffer,
    _data,
    _region,
    _right,
)


def requirement(case: Transfer) -> str:
    """The id of the rule that a case asks: the first that has something to say of it."""
    return next(name for rule in _RULES if (name := rule(case)) is not None)


def expect(case: Transfer, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    name = requirement(case)
    if (unclaimed := _unclaimed(case, caps)) is not None:
        return Expectation(name, (), unclaimed=unclaimed)
    found = faults(case)
    outcomes = tuple(outcome for fault in found for outcome in refusals(case, fault, seed))
    if name == "TWO-FAULTS":  # which of them is found first is left to the device
        outcomes = tuple(replace(outcome, verdict=Verdict.NOTE) for outcome in outcomes)
    if not outcomes:
        return Expectation(name, (granted(case, seed),))
    return Expectation(name, outcomes, control=control(case))


def _unclaimed(case: Transfer, caps: Capabilities) -> str | None:
    """Why the device can not be asked, or None when it claims all that the case needs."""
    for capability in _wanted(case):
        if not caps.has(capability):
            return caps.why_not(capability)
    if Access.FLUSH_PERSISTENT in case.remote.access:
        # The suite's memory is not persistent, for which a device may refuse the flag.
        paged = Access.ON_DEMAND in case.remote.access
        return caps.denials.get("persistent_odp_region" if paged else "persistent_region")
    return None


def _wanted(case: Transfer) -> list[str]:
    """The capabilities that a case needs of the device."""
    wanted = [
        capability
        for flag, capability in _FLAG_CAPABILITY.items()
        if flag & (case.remote.access | case.qp_access)
    ]
    if case.transport is not Transport.RC:
        wanted.append(f"transport_{case.transport}")
    if case.operation in ATOMICS:
        wanted.append("atomic")
    if case.operation is Operation.ATOMIC_WRITE:
        wanted.append("atomic_write")
    if case.operation is Operation.FLUSH:
        wanted.append(f"flush_{case.placement}")
    if Access.ON_DEMAND in case.remote.access and case.operation is not Operation.SEND:
        wanted.append(f"odp_rc_{_odp_word(case.operation)}")
    if len(case.local_sgl) > 1 or len(case.receive_sgl) > 1:
        wanted.append("sge_lists")
    if case.inline:
        wanted.append("inline")
    if case.shared:
        wanted.append("shared_receive_queue")
    return wanted


def _odp_word(operation: Operation) -> str:
    if operation in ATOMICS:
        return "atomic"
    return "write" if operation is Operation.WRITE_IMM else str(operation)


def control(case: Transfer) -> Transfer:
    """The same operation without a fault: it must succeed before a refusal says anything.

    Every right, the region's own key, its first byte, buffers that are the owner's to write. What
    is no fault stays: length, transport, topology, the kind of receive queue.
    """
    rights = full_rights(case.operation, case.placement)
    transport = case.transport
    if Fault.TRANSPORT in faults(case):
        transport = Transport.RC
    writable = case.local.access | Access.LOCAL_WRITE
    return replace(
        case,
        transport=transport,
        local=replace(case.local, access=writable, length=max(case.local.length, case.length)),
        local_sgl=_mended(case.local_sgl, case.length),
        remote=replace(
            case.remote,
            access=case.remote.access | rights,
            length=max(case.remote.length, case.length),
        ),
        remote_offset=0,
        remote_address=None,
        rkey=Key.OWN,
        rkey_xor=0,
        receive=_room(case),
        receive_sgl=_mended(case.receive_sgl, case.length),
        posted=Posted.BEFORE,
        qp_access=rights,
        await_event=False,
        recover=False,
    )


def _mended(sgl: tuple[Segment, ...], length: int) -> tuple[Segment, ...]:
    """As many segments, side by side from the region's first byte, that hold `length` bytes."""
    good = []
    offset = 0
    for segment in sgl:
        good.append(Segment(segment.length, offset))
        offset += segment.length
    if offset != length:
        return ()
    return tuple(good)


def _room(case: Transfer) -> Region:
    """A receive buffer that takes the whole message."""
    receive = case.receive
    if case.operation is not Operation.SEND:
        return receive
    return replace(
        receive,
        access=receive.access | Access.LOCAL_WRITE,
        length=max(receive.length, case.length),
    )
