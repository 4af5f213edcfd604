"""What either side is told of a transfer: the facts of success, of a refusal, and of silence.

The statuses and states of a refusal are `spec.refusal`'s to choose.
"""

from typing import Any

from conformance.spec.effect import NONE, Effect, effect
from conformance.spec.fault import consumes
from conformance.spec.model import Outcome, Transfer
from conformance.spec.operations import FETCHING
from conformance.spec.vocabulary import Event, Operation, QPState, Status, Transport

GRH = 40  # bytes of the global route header in front of what a UD receive gets
IMM = 0x01020304  # the immediate data that the suites send

SUCCESS = Status.SUCCESS.name
ERRORS = tuple(status.name for status in Status if status is not Status.SUCCESS)
FLUSHED = Status.WR_FLUSH_ERR.name
ERR, RTS, SQE = QPState.ERR.value, QPState.RTS.value, QPState.SQE.value


def granted(case: Transfer, seed: int) -> Outcome:
    """Both sides succeed, and exactly the named bytes are moved."""
    done = effect(case, seed)
    both = [SUCCESS, SUCCESS] if consumes(case) else [SUCCESS]
    return passed(case, "granted", both, received(case), done)


def received(case: Transfer) -> dict[str, Any] | None:
    """What the responder's completion must say of an operation that consumes a receive."""
    if not consumes(case):
        return None
    with_imm = case.operation is Operation.WRITE_IMM
    return {
        "byte_len": case.length + header_bytes(case),
        "imm": IMM if with_imm else None,
        "opcode": "RECV_RDMA_WITH_IMM" if with_imm else "RECV",
    }


def header_bytes(case: Transfer) -> int:
    return GRH if case.transport is Transport.UD else 0


def passed(
    case: Transfer,
    name: str,
    receives: list[str],
    first: dict[str, Any] | None,
    done: Effect,
    **facts: tuple[Any, ...],
) -> Outcome:
    """The requester succeeds; `receives` and `first` are what the responder's receives say."""
    return Outcome(
        name,
        {
            "post": ("OK",),
            "requester": (SUCCESS,),
            "completion": (completed(case),),
            "follow_up": (SUCCESS,),
            "receives": (receives,),
            "received": (first,),
            "requester_qp": (RTS,),
            "responder_qp": (RTS,),
            "requester_events": ([],),
            "responder_events": ([],),
            "region": (done.region,),
            "local": (done.local,),
            "receive": (done.receive,),
            **facts,
        },
    )


_OPCODE = {
    Operation.SEND: "SEND",
    Operation.WRITE: "RDMA_WRITE",
    Operation.WRITE_IMM: "RDMA_WRITE",
    Operation.READ: "RDMA_READ",
    Operation.CMP_SWAP: "COMP_SWAP",
    Operation.FETCH_ADD: "FETCH_ADD",
    Operation.ATOMIC_WRITE: "ATOMIC_WRITE",
    Operation.FLUSH: "FLUSH",
}


def completed(case: Transfer) -> dict[str, Any]:
    """The requester's completion; its byte count is defined of operations that fetch."""
    fetched = case.length if case.operation in FETCHING else None
    return {"opcode": _OPCODE[case.operation], "byte_len": fetched}


def refused(case: Transfer, name: str, status: Status, **facts: tuple[Any, ...]) -> Outcome:
    """A refusal: an error at the requester, both QPs in ERR, and not one byte changed."""
    if case.await_event:
        told = {"requester": (status.name,), "responder_events": facts["responder_events"]}
        if case.operation is Operation.WRITE_IMM:  # else neither receive nor event need tell it
            told["receives"] = facts.get("receives", ([FLUSHED, FLUSHED],))
        return Outcome(name, told)
    if case.recover:  # how it is told is asked elsewhere
        return Outcome(name, {"requester": ERRORS, "recovery": ("as before",)})
    return Outcome(
        name,
        {
            "post": ("OK",),
            "requester": (status.name,),
            "completion": (None,),
            "follow_up": (FLUSHED,),
            "receives": ([] if case.shared else [FLUSHED, FLUSHED],),
            "received": (None,),
            "requester_qp": (ERR,),
            "responder_qp": (ERR,),
            "region": ([],),
            "local": ([],),
            "receive": ([],),
            **facts,
        },
    )


def not_posted(case: Transfer, errnos: tuple[str, ...]) -> Outcome:
    """The call that posts the request refuses it: nothing has happened."""
    return refused(
        case,
        "refused when it is posted",
        Status.SUCCESS,
        post=errnos,
        requester=("none",),
        follow_up=("none",),
        receives=([],),
        requester_qp=(RTS,),
        responder_qp=(RTS,),
        responder_events=([],),
    )


def dropped(case: Transfer, name: str, receive: Any = ()) -> Outcome:
    """An unreliable responder says nothing: the next message comes into the first receive."""
    empty = {"byte_len": header_bytes(case), "imm": None, "opcode": "RECV"}
    first = empty if consumes(case) else None
    return passed(case, name, [SUCCESS], first, NONE, receive=([], *receive))


def consumed(case: Transfer, status: Status) -> tuple[list[str]]:
    """The receive in use ends with `status`; those of a queue pair's own queue are flushed."""
    return ([status.name] if case.shared else [status.name, FLUSHED],)


# A completion tells of it. No document forbids an event besides, and drivers raise some.
ANY_EVENT = ([], *([event.value] for event in Event))


def events_of(case: Transfer, event: Event) -> tuple[list[str], ...]:
    """The event, or none yet: only the cases that wait for it may demand it."""
    return ([event.value],) if case.await_event else ([], [event.value])
