"""What the documents say of transfers, row by row, against the oracle."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from conformance.spec import oracle
from conformance.spec.model import Key, Placement, Region, Segment, Transfer
from conformance.spec.vocabulary import Access, Operation, Verdict

from .golden import ALL, BARE, FG, FP, LW, MWB, NONE, RA, RR, RW, SEED, Facts, Row, agrees, rows
from .images import fetched, high, run, source, stream

SOURCE, SOURCE_8 = source(64), source(8)
REGION, REGION_8 = fetched(64), fetched(8)
SWAPPED = [[0, 8, bytes(b | 0x80 for b in stream("operand", 8)).hex()]]
# Each byte of the region is below 0x80, so that adding 0x80 to each carries nothing.
ADDED = [run(0, high("region", 0, 8))]


def granted(receives=1, received=None, region=(), local=(), receive=()) -> dict[Verdict, Facts]:
    return {
        Verdict.PASS: {
            "post": ["OK"],
            "requester": ["SUCCESS"],
            "follow_up": ["SUCCESS"],
            "receives": [["SUCCESS"] * receives],
            "received": [received],
            "requester_qp": ["RTS"],
            "responder_qp": ["RTS"],
            "region": [list(region)],
            "local": [list(local)],
            "receive": [list(receive)],
        }
    }


def refused(requester: str, receives: Iterable[list[str]] | None = None) -> dict[Verdict, Facts]:
    return {
        Verdict.PASS: {
            "post": ["OK"],
            "requester": [requester],
            "follow_up": ["WR_FLUSH_ERR"],
            "receives": list(receives or [["WR_FLUSH_ERR", "WR_FLUSH_ERR"]]),
            "received": [None],
            "requester_qp": ["ERR"],
            "responder_qp": ["ERR"],
            "region": [[]],
            "local": [[]],
            "receive": [[]],
        }
    }


SEND, WRITE, WRITE_IMM, READ = (
    Operation.SEND,
    Operation.WRITE,
    Operation.WRITE_IMM,
    Operation.READ,
)
CAS, FAA, ATOMIC_WRITE, FLUSH = (
    Operation.CMP_SWAP,
    Operation.FETCH_ADD,
    Operation.ATOMIC_WRITE,
    Operation.FLUSH,
)

GRANTED = {
    SEND: granted(2, {"byte_len": 64, "imm": None, "opcode": "RECV"}, receive=SOURCE),
    WRITE: granted(region=SOURCE),
    WRITE_IMM: granted(
        2, {"byte_len": 64, "imm": 0x01020304, "opcode": "RECV_RDMA_WITH_IMM"}, region=SOURCE
    ),
    READ: granted(local=REGION),
    CAS: granted(region=SWAPPED, local=REGION_8),
    FAA: granted(region=ADDED, local=REGION_8),
    ATOMIC_WRITE: granted(region=SOURCE_8),
    FLUSH: granted(),
}
# IBTA C9-222.1.1: the receive that a WRITE with immediate would use carries the error.
KEY = refused("REM_ACCESS_ERR")
KEY_IMM = refused("REM_ACCESS_ERR", [["LOC_ACCESS_ERR", "WR_FLUSH_ERR"]])
FLAG = refused("REM_INV_REQ_ERR")
FLAG_IMM = {
    Verdict.PASS: [
        refused("REM_INV_REQ_ERR", [[first, "WR_FLUSH_ERR"]])[Verdict.PASS]
        for first in ("REM_INV_REQ_ERR", "WR_FLUSH_ERR")
    ]
}


def ask(operation: Operation, region=ALL | FG | FP, qp=ALL | FG | FP, **rest: Any) -> Transfer:
    eight = operation in (CAS, FAA, ATOMIC_WRITE)
    return Transfer(
        operation, length=8 if eight else 64, remote=Region(region), qp_access=qp, **rest
    )


def persistent(**rights: Access) -> Transfer:
    return ask(FLUSH, placement=Placement.PERSISTENT, **rights)


REGION_ROWS = [
    Row("MR-RIGHT-SEND", ask(SEND, NONE), GRANTED[SEND]),
    Row("MR-RIGHT-SEND", ask(SEND, LW), GRANTED[SEND]),
    Row("MR-RIGHT-SEND", ask(SEND, RR), GRANTED[SEND]),
    Row("MR-RIGHT-SEND", ask(SEND, ALL), GRANTED[SEND]),
    Row("MR-RIGHT-WRITE", ask(WRITE, LW | RW), GRANTED[WRITE]),
    Row("MR-RIGHT-WRITE", ask(WRITE, LW | RW | MWB), GRANTED[WRITE]),
    Row("MR-RIGHT-WRITE", ask(WRITE, NONE), KEY),
    Row("MR-RIGHT-WRITE", ask(WRITE, LW), KEY),
    Row("MR-RIGHT-WRITE", ask(WRITE, LW | RR | RA), KEY),
    Row("MR-RIGHT-WRITE", ask(WRITE, LW | MWB | FG), KEY),
    Row("MR-RIGHT-WRITE-IMM", ask(WRITE_IMM, LW | RW), GRANTED[WRITE_IMM]),
    Row("MR-RIGHT-WRITE-IMM", ask(WRITE_IMM, LW), KEY_IMM),
    Row("MR-RIGHT-WRITE-IMM", ask(WRITE_IMM, LW | RR | RA), KEY_IMM),
    Row("MR-RIGHT-READ", ask(READ, RR), GRANTED[READ]),
    Row("MR-RIGHT-READ", ask(READ, LW | RR), GRANTED[READ]),
    Row("MR-RIGHT-READ", ask(READ, NONE), KEY),
    Row("MR-RIGHT-READ", ask(READ, LW), KEY),
    Row("MR-RIGHT-READ", ask(READ, LW | RW), KEY),
    Row("MR-RIGHT-READ", ask(READ, LW | RW | RA), KEY),
    Row("MR-RIGHT-ATOMIC", ask(CAS, LW | RA), GRANTED[CAS]),
    Row("MR-RIGHT-ATOMIC", ask(FAA, LW | RA), GRANTED[FAA]),
    Row("MR-RIGHT-ATOMIC", ask(CAS, LW), KEY),
    Row("MR-RIGHT-ATOMIC", ask(CAS, LW | RW | RR), KEY),
    Row("MR-RIGHT-ATOMIC", ask(FAA, NONE), KEY),
    Row("MR-RIGHT-ATOMIC", ask(FAA, LW | RW | RR), KEY),
    Row("MR-RIGHT-ATOMIC-WRITE", ask(ATOMIC_WRITE, LW | RW), GRANTED[ATOMIC_WRITE]),
    Row("MR-RIGHT-ATOMIC-WRITE", ask(ATOMIC_WRITE, LW), KEY),
    Row("MR-RIGHT-ATOMIC-WRITE", ask(ATOMIC_WRITE, LW | RA | RR), KEY),
    Row("MR-RIGHT-FLUSH", ask(FLUSH, FG), GRANTED[FLUSH]),
    Row("MR-RIGHT-FLUSH", ask(FLUSH, LW | FG), GRANTED[FLUSH]),
    Row("MR-RIGHT-FLUSH", ask(FLUSH, ALL), KEY),
    Row("MR-RIGHT-FLUSH", ask(FLUSH, LW | FP), KEY),
    Row("MR-RIGHT-FLUSH", persistent(region=LW | FP), GRANTED[FLUSH]),
    Row("MR-RIGHT-FLUSH", persistent(region=ALL | FG), KEY),
]

QUEUE_PAIR_ROWS = [
    Row("QP-RIGHT-SEND", ask(SEND, qp=NONE), GRANTED[SEND]),
    Row("QP-RIGHT-SEND", ask(SEND, qp=LW), GRANTED[SEND]),
    Row("QP-RIGHT-WRITE", ask(WRITE, qp=RW), GRANTED[WRITE]),
    Row("QP-RIGHT-WRITE", ask(WRITE, qp=NONE), FLAG),
    Row("QP-RIGHT-WRITE", ask(WRITE, qp=LW | RR | RA), FLAG),
    Row("QP-RIGHT-WRITE-IMM", ask(WRITE_IMM, qp=LW | RW), GRANTED[WRITE_IMM]),
    Row("QP-RIGHT-WRITE-IMM", ask(WRITE_IMM, qp=LW | RR), FLAG_IMM),
    Row("QP-RIGHT-READ", ask(READ, qp=RR), GRANTED[READ]),
    Row("QP-RIGHT-READ", ask(READ, qp=NONE), FLAG),
    Row("QP-RIGHT-READ", ask(READ, qp=LW | RW | RA), FLAG),
    Row("QP-RIGHT-ATOMIC", ask(CAS, qp=RA), GRANTED[CAS]),
    Row("QP-RIGHT-ATOMIC", ask(FAA, qp=LW | RA), GRANTED[FAA]),
    Row("QP-RIGHT-ATOMIC", ask(CAS, qp=LW | RW | RR), FLAG),
    Row("QP-RIGHT-ATOMIC", ask(FAA, qp=NONE), FLAG),
    Row("QP-RIGHT-ATOMIC-WRITE", ask(ATOMIC_WRITE, qp=RW), GRANTED[ATOMIC_WRITE]),
    Row("QP-RIGHT-ATOMIC-WRITE", ask(ATOMIC_WRITE, qp=LW | RA | RR), FLAG),
    Row("QP-RIGHT-FLUSH", ask(FLUSH, qp=FG), GRANTED[FLUSH]),
    Row("QP-RIGHT-FLUSH", ask(FLUSH, qp=ALL | FP), FLAG),
    Row("QP-RIGHT-FLUSH", persistent(qp=FP), GRANTED[FLUSH]),
    Row("QP-RIGHT-FLUSH", persistent(qp=ALL | FG), FLAG),
]


def told(event: str) -> dict[Verdict, Facts]:
    return {Verdict.PASS: {"responder_events": [[event]]}}


EVENT_ROWS = [
    *(
        Row("EVENT-ACCESS-ERR", ask(operation, LW, await_event=True), told("QP_ACCESS_ERR"))
        for operation in (WRITE, READ, CAS, FAA, ATOMIC_WRITE, FLUSH)
    ),
    *(
        Row("EVENT-REQ-ERR", ask(operation, qp=LW, await_event=True), told("QP_REQ_ERR"))
        for operation in (WRITE, READ, CAS, FAA, ATOMIC_WRITE, FLUSH)
    ),
    Row("EVENT-REQ-ERR", ask(FLUSH, qp=ALL, await_event=True), told("QP_REQ_ERR")),
    # The receive reports it, so no event does.
    Row(
        "EVENT-ACCESS-ERR",
        ask(WRITE_IMM, LW, await_event=True),
        {
            Verdict.PASS: {
                "requester": ["REM_ACCESS_ERR"],
                "receives": [["LOC_ACCESS_ERR", "WR_FLUSH_ERR"]],
                "responder_events": [[]],
            }
        },
    ),
    Row(
        "EVENT-REQ-ERR",
        ask(WRITE_IMM, qp=LW, await_event=True),
        {
            # What the receive tells, an event may tell as well; what it does not, an event must.
            Verdict.PASS: [
                {
                    "requester": ["REM_INV_REQ_ERR"],
                    "receives": [["REM_INV_REQ_ERR", "WR_FLUSH_ERR"]],
                    "responder_events": [[], ["QP_REQ_ERR"]],
                },
                {
                    "requester": ["REM_INV_REQ_ERR"],
                    "receives": [["WR_FLUSH_ERR", "WR_FLUSH_ERR"]],
                    "responder_events": [["QP_REQ_ERR"]],
                },
            ]
        },
    ),
]

# Both the region and the queue pair refuse: either may be found first.
TWICE = {
    Verdict.NOTE: [
        {
            "requester": [status],
            "requester_qp": ["ERR"],
            "responder_qp": ["ERR"],
            "region": [[]],
            "local": [[]],
        }
        for status in ("REM_ACCESS_ERR", "REM_INV_REQ_ERR")
    ]
}
FAR = source(65, 200, 100)

OTHER_ROWS = [
    Row("TWO-FAULTS", ask(READ, LW, NONE), TWICE),
    Row("TWO-FAULTS", ask(WRITE, LW | RR, RR), TWICE),
    Row(
        "DATA-EXACT",
        replace(ask(WRITE, LW | RW), length=65, local_sgl=(Segment(65, 100),), remote_offset=200),
        granted(region=FAR),
    ),
    Row(
        "LOC-RANGE",  # into the last byte
        replace(ask(READ, RR), length=2, local_sgl=(Segment(2, 4094),), remote_offset=1),
        granted(local=fetched(2, 4094, 1)),
    ),
]

# Which region is reached, and which of its bytes: 64 bytes (8 of atomics) in a region of 4096.
REFUSED = refused("REM_ACCESS_ERR")
ELSEWHERE = Region(ALL, length=1000, page_offset=1000)
NOTHING = granted()
REACH_ROWS = [
    *(Row("MR-KEY", replace(ask(WRITE, ALL), rkey_xor=bits), REFUSED) for bits in (1, 0xFF, 256)),
    *(
        Row("MR-KEY", replace(ask(READ, ALL), rkey=key), REFUSED)
        for key in (Key.ZERO, Key.DEREGISTERED, Key.FOREIGN)
    ),
    *(
        Row("MR-RANGE", replace(ask(READ, ALL), remote_offset=offset), REFUSED)
        for offset in (-1, -64, 4033, 4096, 1 << 30)
    ),
    Row("MR-RANGE", replace(ask(Operation.FETCH_ADD, ALL), remote_offset=4096), REFUSED),
    Row("MR-RANGE", replace(ask(Operation.FETCH_ADD, ALL), remote_offset=-8), REFUSED),
    *(
        Row("MR-RANGE", replace(ask(WRITE, ALL), remote=ELSEWHERE, remote_offset=offset), REFUSED)
        for offset in (-1, 937, 1000)
    ),
    Row(
        "MR-RANGE",
        replace(ask(WRITE, ALL), remote=ELSEWHERE, remote_offset=936),
        granted(region=source(64, 936)),
    ),
    # Into a region that its owner may not write: found by the requester itself.
    Row(
        "REG-NO-RIGHTS",
        replace(ask(READ, ALL), local=Region(NONE)),
        {
            Verdict.PASS: {
                "requester": ["LOC_PROT_ERR"],
                "requester_qp": ["ERR"],
                "responder_qp": ["RTS"],
                "region": [[]],
                "local": [[]],
            }
        },
    ),
    Row("REG-NO-RIGHTS", replace(ask(WRITE, ALL), local=Region(NONE)), granted(region=SOURCE)),
    Row("MR-DOMAIN", replace(ask(READ, ALL), rkey=Key.OTHER_DOMAIN), REFUSED),
    *(
        Row("MR-ZERO-LENGTH", replace(ask(operation, ALL), length=0, **fault), NOTHING)
        for operation in (WRITE, READ)
        for fault in ({}, {"rkey_xor": 0xFF}, {"rkey": Key.ZERO}, {"remote_offset": 1 << 30})
    ),
]

# Facts are asked of nothing that the device does not claim.
UNCLAIMED_TRANSFERS = [
    (ask(CAS, LW | RR, qp=ALL), "atomic"),
    (ask(FAA, ALL, qp=ALL), "atomic"),
    (ask(ATOMIC_WRITE, LW, qp=ALL), "bit 40 is clear"),
    (ask(FLUSH, LW, qp=ALL), "bit 38 is clear"),
]


@rows(REGION_ROWS, QUEUE_PAIR_ROWS, EVENT_ROWS, OTHER_ROWS, REACH_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)


@pytest.mark.parametrize(("case", "reason"), UNCLAIMED_TRANSFERS)
def test_nothing_is_asked_of_what_the_device_does_not_claim(case: Transfer, reason: str):
    unclaimed = oracle.expect(case, BARE, SEED).unclaimed
    assert unclaimed is not None
    assert reason in unclaimed
