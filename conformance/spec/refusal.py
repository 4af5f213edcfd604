"""How each fault of a transfer is refused: what either side is told, and what may have happened.

Statuses and states follow IBTA vol. 1 chapter 9 (responder error classes) as far as the
catalogue's sources show it; each requirement's entry there carries the citations.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.spec.answer import (
    ANY_EVENT,
    ERR,
    FLUSHED,
    RTS,
    SQE,
    SUCCESS,
    completed,
    consumed,
    dropped,
    events_of,
    not_posted,
    passed,
    refused,
)
from conformance.spec.effect import effect, sent, spread, target, within
from conformance.spec.fault import Fault, faults
from conformance.spec.memory import any_prefix
from conformance.spec.model import Outcome, Segment, Transfer
from conformance.spec.operations import FETCHING
from conformance.spec.vocabulary import Event, Operation, Status, Transport, Verdict

SMALLEST_MTU = 256  # a message of no more bytes is one packet on every path


def refusals(case: Transfer, fault: Fault, seed: int) -> list[Outcome]:
    """The outcomes that are allowed when `case` has `fault`."""
    return _REFUSALS[fault](case, seed)


def _by_region(case: Transfer, seed: int) -> list[Outcome]:
    """Class C error found by the key check: NAK remote access error (IBTA C9-222.1.1)."""
    if case.transport is Transport.UC:
        return [dropped(case, "dropped: the region refuses it")]
    facts = {"responder_events": events_of(case, Event.QP_ACCESS_ERR)}
    if case.operation is Operation.WRITE_IMM:
        # It relates to a receive work request, so a completion reports it, and no event does.
        facts = {"receives": consumed(case, Status.LOC_ACCESS_ERR), "responder_events": ([],)}
    outcomes = [refused(case, "refused by the region", Status.REM_ACCESS_ERR, **facts)]
    if case.operation is Operation.WRITE_IMM and case.length > SMALLEST_MTU:
        # Found at the first of several packets, no receive is in use yet.
        event = {"responder_events": events_of(case, Event.QP_ACCESS_ERR)}
        outcomes.append(
            refused(case, "refused by the region at once", Status.REM_ACCESS_ERR, **event)
        )
    return outcomes


def _by_queue_pair(case: Transfer, seed: int) -> list[Outcome]:
    """Class C error of an operation not enabled on the queue pair: NAK invalid request."""
    if case.transport is Transport.UC:
        return [dropped(case, "dropped: the queue pair does not allow it")]
    status = Status.REM_INV_REQ_ERR
    told = {"responder_events": events_of(case, Event.QP_REQ_ERR)}
    event = refused(case, "refused by the queue pair", status, **told)
    if case.operation is not Operation.WRITE_IMM:
        return [event]
    completion = refused(
        case,
        "refused by the queue pair, reported by the receive",
        status,
        receives=consumed(case, status),
        responder_events=([], [Event.QP_REQ_ERR.value]),
    )
    return [completion, event]


def _by_local_buffer(case: Transfer, seed: int) -> list[Outcome]:
    """The requester's own error. The responder saw nothing wrong, or nothing at all.

    What comes before the fault may have gone out in packets of its own. When a fetched answer has
    nowhere to go, the request has been executed, and what is behind may have been received; but
    never a request that the responder has to refuse as well.
    """
    fetching = case.operation in FETCHING and faults(case) == [Fault.LOCAL]
    touched = within(case.local_segments, case.local, sink=case.operation in FETCHING)
    facts: dict[str, tuple[Any, ...]] = {
        "receives": ([], [SUCCESS]) if fetching else ([],),
        "requester_qp": (ERR,) if case.transport is Transport.RC else (SQE, ERR),
        "responder_qp": (RTS,),
        "responder_events": ([],),
    }
    if fetching:
        done = effect(case, seed)
        facts["region"] = ([], done.region) if done.region else ([],)
        facts["local"] = (any_prefix(spread(target(case, seed), touched)),)
    elif case.length > SMALLEST_MTU and case.operation not in FETCHING:
        data = sent(case, seed)[: sum(segment.length for segment in touched)]
        place = "receive" if case.operation is Operation.SEND else "region"
        segments = case.receive_segments if place == "receive" else _remote_segment(case)
        facts[place] = (any_prefix(spread(data, segments)),)
    return [refused(case, "refused by the local buffer", Status.LOC_PROT_ERR, **facts)]


def _by_receive_buffer(case: Transfer, seed: int) -> list[Outcome]:
    """Class A error: NAK remote operational error; bytes before the bad segment may be there."""
    touched = within(case.receive_segments, case.receive, sink=True)
    told = {
        "receives": consumed(case, Status.LOC_PROT_ERR),
        "responder_events": ANY_EVENT,
        "receive": (any_prefix(spread(sent(case, seed), touched)),),
    }
    if case.transport is Transport.RC:
        return [refused(case, "refused by the receive buffer", Status.REM_OP_ERR, **told)]
    return [_unanswered(case, "refused by the receive buffer", told)]


def _too_long(case: Transfer, seed: int) -> list[Outcome]:
    """Class C error: NAK invalid request; an unreliable responder may drop the message instead."""
    touched = within(case.receive_segments, case.receive, sink=True)
    room = any_prefix(spread(sent(case, seed), touched))
    if case.transport is not Transport.RC:
        told = {
            "receives": consumed(case, Status.LOC_LEN_ERR),
            "responder_events": ANY_EVENT,
            "receive": (room,),
        }
        silence = dropped(case, "dropped: longer than the receive", (room,))
        if case.transport is Transport.UD:
            return [silence, _told_of_datagram(case, told)]
        return [silence, _unanswered(case, "longer than the receive", told)]
    return [
        refused(
            case,
            "longer than the receive",
            Status.REM_INV_REQ_ERR,
            receives=consumed(case, Status.LOC_LEN_ERR),
            responder_events=ANY_EVENT,
            receive=(room,),
        )
    ]


def _told_of_datagram(case: Transfer, told: dict[str, tuple[Any, ...]]) -> Outcome:
    """Some devices spend the receive on a datagram that is too long, and say so: recorded."""
    ends = [
        [status.name, behind]
        for status in (Status.LOC_LEN_ERR, Status.GENERAL_ERR)
        for behind in (SUCCESS, FLUSHED)
    ]
    said = {**told, "receives": tuple(ends), "responder_qp": (RTS, ERR)}
    outcome = _unanswered(case, "told: longer than the receive", said)
    return replace(outcome, verdict=Verdict.NOTE)


def _unanswered(case: Transfer, name: str, told: dict[str, tuple[Any, ...]]) -> Outcome:
    """The responder's queue pair fails, of which an unreliable requester never hears."""
    ends = {
        "requester": (SUCCESS,),
        "completion": (completed(case),),
        "follow_up": (SUCCESS,),
        "requester_qp": (RTS,),
        "responder_qp": (ERR,),
    }
    return refused(case, name, Status.SUCCESS, **{**ends, **told})


def _unready(case: Transfer, seed: int) -> list[Outcome]:
    """No receive: the requester gives up after its retries, and the responder saw nothing wrong."""
    pieces = spread(sent(case, seed), _remote_segment(case))
    written = any_prefix(pieces if case.operation is Operation.WRITE_IMM else ())
    return [
        refused(
            case,
            "given up",
            Status.RNR_RETRY_EXC_ERR,
            receives=([],),
            responder_qp=(RTS,),
            responder_events=([],),
            region=(written,),
        )
    ]


def _misaligned(case: Transfer, seed: int) -> list[Outcome]:
    told = {"responder_events": events_of(case, Event.QP_REQ_ERR)}
    return [
        not_posted(case, ("EINVAL",)),
        refused(case, "refused as an invalid request", Status.REM_INV_REQ_ERR, **told),
    ]


def _odd_size(case: Transfer, seed: int) -> list[Outcome]:
    """No document names the status; none of the bytes beyond the local buffer may be written."""
    done = effect(case, seed)
    outcomes = [not_posted(case, ("EINVAL",))]
    local = within(case.local_segments, case.local, sink=True)
    filled = any_prefix(spread(target(case, seed), local))
    for status in (Status.LOC_LEN_ERR, Status.LOC_PROT_ERR, Status.LOC_QP_OP_ERR):
        outcomes.append(
            refused(
                case,
                f"refused as {status.name}",
                status,
                receives=([], [SUCCESS]),
                responder_qp=(RTS,),
                responder_events=([],),
                region=([], done.region),
                local=(filled,),
            )
        )
    size = sum(segment.length for segment in case.local_segments)
    if size > 8:
        name = "the first 8 bytes are used"
        counted = tuple({**completed(case), "byte_len": length} for length in (8, size))
        outcomes.append(passed(case, name, [SUCCESS], None, done, completion=counted))
    return outcomes


def _foreign_operation(case: Transfer, seed: int) -> list[Outcome]:
    """Refused when posted, or by the requester: LOC_QP_OP_ERR is the status of such a request."""
    return [
        not_posted(case, ("EINVAL", "EOPNOTSUPP")),
        refused(
            case,
            "refused by the requester",
            Status.LOC_QP_OP_ERR,
            receives=([],),
            requester_qp=(SQE, ERR),
            responder_qp=(RTS,),
            responder_events=([],),
        ),
    ]


def _remote_segment(case: Transfer) -> tuple[Segment, ...]:
    return (Segment(case.length, case.remote_offset),)


_REFUSALS: dict[Fault, Callable[[Transfer, int], list[Outcome]]] = {
    Fault.TRANSPORT: _foreign_operation,
    Fault.ALIGNMENT: _misaligned,
    Fault.SIZE: _odd_size,
    Fault.LOCAL: _by_local_buffer,
    Fault.QUEUE_PAIR: _by_queue_pair,
    Fault.REGION: _by_region,
    Fault.UNREADY: _unready,
    Fault.TOO_LONG: _too_long,
    Fault.RECEIVE: _by_receive_buffer,
}
