"""Faults of a driver that lets a transfer do more or less than it may, or tells it wrongly."""

from collections.abc import Callable
from typing import Any

from conformance.spec.model import ALL_RIGHTS, Key
from conformance.spec.vocabulary import Access, Event, Operation, Status
from rdma_conformance.plants.plant import Plant, Wire

LW, RW, RR = Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ
RA, FG = Access.REMOTE_ATOMIC, Access.FLUSH_GLOBAL


def _region(operation: Operation, access: int) -> Callable[[Wire], bool]:
    """`operation` on a region of exactly `access` through a queue pair that allows everything."""
    return lambda case: (
        _operation(case, operation, awaited=False)
        and case["remote"]["access"] == access
        and case["qp_access"] & ALL_RIGHTS == ALL_RIGHTS
    )


def _queue_pair(operation: Operation, access: int) -> Callable[[Wire], bool]:
    """`operation` through a responder's queue pair of exactly `access`."""
    return lambda case: _operation(case, operation, awaited=False) and case["qp_access"] == access


def _awaited(operation: Operation, by_region: bool) -> Callable[[Wire], bool]:
    """A refused `operation` whose event is awaited; the region or the queue pair refuses it."""
    return lambda case: (
        _operation(case, operation, awaited=True)
        and (case["qp_access"] & ALL_RIGHTS == ALL_RIGHTS) is by_region
    )


def _fault(operation: Operation, **fields: Any) -> Callable[[Wire], bool]:
    """`operation` at a region with every right, with `fields` of the case as given."""
    return lambda case: (
        _operation(case, operation, awaited=False)
        and all(case[name] == value for name, value in fields.items())
    )


def _operation(case: Wire, operation: Operation, awaited: bool) -> bool:
    return (
        case["kind"] == "transfer"
        and case["remote"]["iova"] is None
        and case["operation"] == operation
        and not case["recover"]
        and case["await_event"] is awaited
    )


TRANSFER = (
    Plant(
        "no-rights-is-a-sink",
        "REG-NO-RIGHTS",
        "a READ into a region without any right is reported as a success",
        lambda case: (
            _operation(case, Operation.READ, awaited=False) and case["local"]["access"] == 0
        ),
        reports={"requester": Status.SUCCESS.name},
    ),
    Plant(
        "send-writes-region",
        "MR-RIGHT-SEND",
        "a SEND also writes a byte of a region that it does not name",
        _region(Operation.SEND, LW),
        stray_byte=True,
    ),
    Plant(
        "read-right-lets-write",
        "MR-RIGHT-WRITE",
        "a region with REMOTE_READ alone may be written by the peer",
        _region(Operation.WRITE, RR),
        adds=LW | RW,
    ),
    Plant(
        "write-one-byte-more",
        "MR-RIGHT-WRITE",
        "a WRITE writes one byte too many",
        _region(Operation.WRITE, LW | RW),
        stray_byte=True,
    ),
    Plant(
        "write-imm-loses-immediate",
        "MR-RIGHT-WRITE-IMM",
        "a WRITE with immediate data arrives as one without, and takes no receive",
        _region(Operation.WRITE_IMM, LW | RW),
        instead={"operation": Operation.WRITE.value},
    ),
    Plant(
        "read-other-status",
        "MR-RIGHT-READ",
        "a refused READ is reported as REM_OP_ERR",
        _region(Operation.READ, LW),
        reports={"requester": Status.REM_OP_ERR.name},
    ),
    Plant(
        "write-right-lets-read",
        "MR-RIGHT-READ",
        "a region without REMOTE_READ may be read by the peer",
        _region(Operation.READ, LW | RW),
        adds=RR,
    ),
    Plant(
        "every-second-read-is-let",
        "MR-RIGHT-READ",
        "a region without REMOTE_READ refuses a READ at the first time and not at the second",
        _region(Operation.READ, LW | RA),
        adds=RR,
        alternates=True,
    ),
    Plant(
        "write-right-lets-swap",
        "MR-RIGHT-ATOMIC",
        "a region without REMOTE_ATOMIC takes a compare and swap",
        _region(Operation.CMP_SWAP, LW | RW),
        adds=RA,
    ),
    Plant(
        "atomic-write-refused",
        "MR-RIGHT-ATOMIC-WRITE",
        "REMOTE_WRITE is lost, so that ATOMIC_WRITE is refused",
        _region(Operation.ATOMIC_WRITE, LW | RW),
        drops=RW,
    ),
    Plant(
        "flush-refused",
        "MR-RIGHT-FLUSH",
        "FLUSH_GLOBAL is lost, so that FLUSH is refused",
        _region(Operation.FLUSH, FG),
        drops=FG,
    ),
    Plant(
        "flushes-nothing-by-any-key",
        "FLUSH-ZERO-LENGTH",
        "a FLUSH of no byte is refused",
        _fault(Operation.FLUSH, length=0, rkey_xor=0, remote_offset=0, rkey=Key.OWN.value),
        instead={"rkey_xor": 0xFF},
    ),
    Plant(
        "dies-of-send",
        "QP-RIGHT-SEND",
        "a SEND to a queue pair without any right kills the process",
        _queue_pair(Operation.SEND, 0),
        misbehave="die",
    ),
    Plant(
        "queue-pair-lets-write",
        "QP-RIGHT-WRITE",
        "a queue pair without REMOTE_WRITE takes a WRITE",
        _queue_pair(Operation.WRITE, LW | RR),
        adds_to_queue_pair=RW,
    ),
    Plant(
        "refusal-reported-as-success",
        "QP-RIGHT-WRITE-IMM",
        "the requester is told SUCCESS of a WRITE with immediate data that was refused",
        _queue_pair(Operation.WRITE_IMM, LW),
        reports={"requester": Status.SUCCESS.name},
    ),
    Plant(
        "queue-pair-lets-write-imm",
        "QP-RIGHT-WRITE-IMM",
        "a queue pair without REMOTE_WRITE takes a WRITE with immediate data",
        _queue_pair(Operation.WRITE_IMM, LW | RR),
        adds_to_queue_pair=RW,
    ),
    Plant(
        "hangs-on-read",
        "QP-RIGHT-READ",
        "a READ through a queue pair without REMOTE_READ never returns",
        _queue_pair(Operation.READ, LW | RW),
        misbehave="hang",
    ),
    Plant(
        "queue-pair-lets-add",
        "QP-RIGHT-ATOMIC",
        "a queue pair without REMOTE_ATOMIC takes a fetch and add",
        _queue_pair(Operation.FETCH_ADD, LW | RR),
        adds_to_queue_pair=RA,
    ),
    Plant(
        "atomic-write-one-byte-more",
        "QP-RIGHT-ATOMIC-WRITE",
        "an ATOMIC_WRITE writes nine bytes",
        _queue_pair(Operation.ATOMIC_WRITE, LW | RW | RR),
        stray_byte=True,
    ),
    Plant(
        "queue-pair-lets-flush",
        "QP-RIGHT-FLUSH",
        "a queue pair without FLUSH_GLOBAL takes a FLUSH",
        _queue_pair(Operation.FLUSH, LW),
        adds_to_queue_pair=FG,
    ),
    Plant(
        "ignores-key-byte",
        "MR-KEY",
        "the consumer's byte of the rkey is not compared",
        _fault(Operation.WRITE, rkey_xor=0x55),
        instead={"rkey_xor": 0},
    ),
    Plant(
        "one-byte-before-is-the-first",
        "MR-RANGE",
        "a READ from one byte before the region returns its first bytes",
        _fault(Operation.READ, remote_offset=-1),
        instead={"remote_offset": 0},
    ),
    Plant(
        "range-ends-one-byte-early",
        "MR-RANGE",
        "a WRITE that ends at the region's last byte is reported as refused",
        _fault(Operation.WRITE, remote_offset=4096 - 64),
        reports={"requester": Status.REM_ACCESS_ERR.name},
    ),
    Plant(
        "ignores-protection-domain",
        "MR-DOMAIN",
        "a region of another protection domain may be read",
        lambda case: (
            _operation(case, Operation.READ, awaited=False) and case["rkey"] == Key.OTHER_DOMAIN
        ),
        instead={"rkey": "own"},
    ),
    Plant(
        "zero-length-checks-key",
        "MR-ZERO-LENGTH",
        "the rkey of a WRITE of no byte is looked at",
        _fault(Operation.WRITE, length=0, rkey_xor=0xFF),
        instead={"length": 8},
    ),
    Plant(
        "drops-access-event",
        "EVENT-ACCESS-ERR",
        "the responder is never told of a refused WRITE",
        _awaited(Operation.WRITE, by_region=True),
        reports={"responder_events": []},
    ),
    Plant(
        "grants-and-tells-nobody",
        "EVENT-ACCESS-ERR",
        "a READ that the region refuses is performed, and no event tells of it",
        lambda case: (
            _awaited(Operation.READ, by_region=True)(case) and not case["remote"]["access"] & RR
        ),
        adds=RR,
    ),
    Plant(
        "grants-through-queue-pair-and-tells-nobody",
        "EVENT-REQ-ERR",
        "a WRITE that the queue pair refuses is performed, and no event tells of it",
        _awaited(Operation.WRITE, by_region=False),
        adds_to_queue_pair=RW,
    ),
    Plant(
        "wrong-request-event",
        "EVENT-REQ-ERR",
        "an invalid request is told as an access error",
        _awaited(Operation.READ, by_region=False),
        reports={"responder_events": [Event.QP_ACCESS_ERR.value]},
    ),
)
