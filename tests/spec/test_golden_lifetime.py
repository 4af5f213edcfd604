"""What the documents say of the end of registrations, row by row, against the oracle."""

import hashlib

from conformance.spec.lifetime import (
    Busy,
    ChildProcess,
    Handle,
    Handled,
    InUse,
    Killed,
    Midway,
    Retired,
    Rounds,
    Side,
    Wrong,
    WrongOrder,
)
from conformance.spec.model import Capabilities
from conformance.spec.vocabulary import Operation, Verdict

from .golden import SEED, Row, agrees, rows

WRITE, READ, SEND, ADD = (
    Operation.WRITE,
    Operation.READ,
    Operation.SEND,
    Operation.FETCH_ADD,
)
CAPS = Capabilities(
    {
        name: f"{name} was probed"
        for name in ("atomic", "atomic_write", "memory_window_type_1", "memory_window_type_2")
    }
)


def _stream(label: str) -> bytes:
    return hashlib.shake_128(f"{label}:{SEED}".encode()).digest(64 + 4096 + 64)


# Sources hold bytes of 0x80 and above, regions bytes below; 64 bytes of guard lie before each.
SENT = bytes(byte | 0x80 for byte in _stream("local")[64:128]).hex()
HELD = bytes(byte & 0x7F for byte in _stream("region")[64 + 512 : 64 + 512 + 64]).hex()
ADDED = bytes(byte | 0x80 for byte in _stream("region")[64 + 512 : 64 + 512 + 8]).hex()
GONE = {"dereg": ["OK"], "requester_qp": ["ERR"], "left": [[]]}


def passes(**facts: list) -> dict:
    return {Verdict.PASS: facts}


LIFETIME_ROWS = [
    Row(
        "DEREG-KEY",
        Retired(Side.REMOTE, WRITE, ended=False),
        passes(requester=["SUCCESS"], region=[[[512, 64, SENT]]], dereg=["none"]),
        CAPS,
    ),
    *(
        Row(
            "DEREG-KEY",
            Retired(Side.REMOTE, operation),
            passes(**GONE, requester=["REM_ACCESS_ERR"], responder_qp=["ERR"], touched=[[]]),
            CAPS,
        )
        for operation in (WRITE, READ, ADD)
    ),
    *(
        Row(
            "DEREG-KEY",
            Retired(Side.LOCAL, operation),
            passes(**GONE, requester=["LOC_PROT_ERR"], responder_qp=["RTS"], touched=touched),
            CAPS,
        )
        for operation, touched in ((SEND, [[]]), (READ, [[]]), (ADD, [[], ["region"]]))
    ),
    Row(
        "DEREG-RECEIVE",
        Retired(Side.RECEIVE, SEND),
        passes(
            **GONE,
            requester=["REM_OP_ERR"],
            responder_qp=["ERR"],
            receive=["LOC_PROT_ERR"],
            received=[[]],
        ),
        CAPS,
    ),
    Row(
        "DEREG-KEY-REUSE",
        Retired(Side.REMOTE, READ, again=300),
        {
            **passes(
                **GONE, requester=["REM_ACCESS_ERR"], touched=[[]], registered=["the same index"]
            ),
            # Nothing came of the question, or the key itself is a living one now.
            Verdict.NOTE: [
                {"registered": ["another index"], "requester": ["REM_ACCESS_ERR"], "touched": [[]]},
                {"registered": ["the same key"], "dereg": ["OK"]},
            ],
        },
        CAPS,
    ),
    Row(
        "DEREG-WINDOW-BOUND",
        InUse(Busy.WINDOW_2),
        {
            Verdict.PASS: {"ended": ["EINVAL", "EBUSY"], "alive": ["SUCCESS"], "after": ["OK"]},
            Verdict.NOTE: {"ended": ["OK"], "alive": ["REM_ACCESS_ERR"]},
        },
        CAPS,
    ),
    Row(
        "DEALLOC-IN-USE",
        InUse(Busy.DOMAIN_QUEUE_PAIR),
        {
            Verdict.PASS: {"ended": ["EBUSY"], "alive": ["OK"], "after": ["OK"], "left": [[]]},
            Verdict.NOTE: {"ended": ["OK"]},
        },
        CAPS,
    ),
    Row("DEREG-TWICE", Handled(Handle.LIVE), passes(result=["OK"], other=["SUCCESS"])),
    *(
        Row("DEREG-TWICE", Handled(which), passes(result=["ENOENT", "EINVAL"], other=["SUCCESS"]))
        for which in (Handle.TWICE, Handle.UNKNOWN, Handle.DOMAIN)
    ),
    *(
        Row(
            "DEREG-WRONG-ORDER",
            WrongOrder(wrong, WRITE),
            passes(
                requester=["SUCCESS"],
                seen=seen,
                read_back=[SENT],
                dereg=["OK"],
                pinned_left=[0],
            ),
            CAPS,
        )
        for wrong, seen in (
            (Wrong.NOTHING, [[[512, 64, SENT]]]),
            (Wrong.READ_ONLY, [[[512, 64, SENT]]]),
            (Wrong.UNMAPPED, [[]]),
            (Wrong.MAPPED_OVER, [[]]),
            (Wrong.DISCARDED, [[]]),
        )
    ),
    Row(
        "DEREG-WRONG-ORDER",
        WrongOrder(Wrong.MAPPED_OVER, READ),
        passes(local=[[[0, 64, HELD]]], seen=[[]], read_back=[HELD]),
        CAPS,
    ),
    Row(
        "DEREG-WRONG-ORDER",
        WrongOrder(Wrong.UNMAPPED, ADD),
        passes(local=[[[0, 8, HELD[:16]]]], seen=[[]], read_back=[ADDED]),
        CAPS,
    ),
    Row(
        "DEREG-MIDWAY",
        Midway(READ, Side.REMOTE, 0),
        passes(requester=["SUCCESS", "REM_ACCESS_ERR"], dereg=["OK"], later=["nothing"]),
    ),
    Row(
        "DEREG-MIDWAY",
        Midway(WRITE, Side.LOCAL, 500),
        passes(requester=["SUCCESS", "LOC_PROT_ERR"], dereg=["OK"], later=["nothing"]),
    ),
    Row(
        "DEREG-MIDWAY",
        Midway(WRITE, Side.LOCAL, -1),
        passes(requester=["SUCCESS"], dereg=["none"], arrived=["all"]),
    ),
    Row("DEREG-ROUNDS", Rounds(10_000), passes(failed=[0], pinned_left=[0], cost=["flat"])),
    Row(
        "DEREG-FORK",
        ChildProcess(killed=True),
        passes(child=["killed"], requester=["SUCCESS"], region=[[[512, 64, SENT]]]),
    ),
    Row(
        "DEREG-KILLED",
        Killed(WRITE, 7),
        passes(
            ended=["killed"],
            requester=["RETRY_EXC_ERR", "REM_OP_ERR", "REM_ACCESS_ERR", "WR_FLUSH_ERR"],
            requester_qp=["ERR"],
            resources=["as before"],
            usable=["SUCCESS"],
        ),
    ),
]


@rows(LIFETIME_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)
