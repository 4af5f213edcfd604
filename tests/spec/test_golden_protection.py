"""What the documents say of buffers, receives, transports and atomics, against the oracle."""

from dataclasses import replace
from typing import Any

import pytest

from conformance.spec import oracle
from conformance.spec.model import (
    Capabilities,
    ConcurrentAtomics,
    Key,
    Operand,
    Posted,
    Region,
    Segment,
    Topology,
    Transfer,
)
from conformance.spec.vocabulary import Access, Operation, Transport, Verdict

from .golden import ALL, CLAIMED, FG, LW, NONE, RR, RW, SEED, Facts, Row, agrees, rows
from .images import fetched, run, source, stream

SEND, WRITE, WRITE_IMM, READ = (
    Transfer(operation)
    for operation in (Operation.SEND, Operation.WRITE, Operation.WRITE_IMM, Operation.READ)
)
CAS, FAA = (
    Transfer(operation, length=8) for operation in (Operation.CMP_SWAP, Operation.FETCH_ADD)
)
UC, UD = Transport.UC, Transport.UD
FLUSHED = "WR_FLUSH_ERR"
EVERYTHING = Capabilities(
    {
        **CLAIMED.claims,
        **dict.fromkeys(
            ("transport_uc", "transport_ud", "sge_lists", "inline", "shared_receive_queue"),
            "probed",
        ),
    }
)


def row(requirement: str, case: Transfer, *allowed: dict[Verdict, Facts]) -> Row:
    """A row on a device that claims everything; several `allowed` are alternatives."""
    merged: dict[Verdict, dict[str, list[Any]]] = {}
    for one in allowed:
        for verdict, facts in one.items():
            for fact, values in facts.items():
                merged.setdefault(verdict, {}).setdefault(fact, []).extend(values)
    return Row(requirement, case, merged, EVERYTHING)


def answer(**facts: Any) -> dict[Verdict, Facts]:
    """One answer: each fact with its one value."""
    return {Verdict.PASS: {name: [value] for name, value in facts.items()}}


def any_of(*runs: list[Any]) -> dict[str, list[Any]]:
    return {"any prefix of": list(runs)}


# The requester finds it before it sends: it alone fails, and nothing is moved.
UNSENT = answer(
    post="OK",
    requester="LOC_PROT_ERR",
    follow_up=FLUSHED,
    receives=[],
    requester_qp="ERR",
    responder_qp="RTS",
    responder_events=[],
    region=[],
    local=[],
    receive=[],
)
# The requester finds it with the answer in hand: what is behind may have arrived.
UNTAKEN = {
    Verdict.PASS: {
        "requester": ["LOC_PROT_ERR"],
        "receives": [[], ["SUCCESS"]],
        "requester_qp": ["ERR"],
        "responder_qp": ["RTS"],
        "local": [[]],
    }
}


def of_segment(case: Transfer, length: int = 64, **fields: Any) -> Transfer:
    return replace(case, local_sgl=(Segment(length, **fields),))


def into(case: Transfer, *segments: Segment, **fields: Any) -> Transfer:
    return replace(case, receive_sgl=segments, **fields)


LOCAL_ROWS = [
    *(
        row("LOC-KEY", of_segment(case, key=key), UNSENT)
        for case in (SEND, WRITE, WRITE_IMM)
        for key in (Key.ZERO, Key.DEREGISTERED, Key.FOREIGN)
    ),
    *(row("LOC-KEY", of_segment(SEND, key_xor=bits), UNSENT) for bits in (1, 0xFF, 1 << 31)),
    row("LOC-KEY", of_segment(READ, key=Key.ZERO), UNTAKEN),
    row("LOC-KEY", of_segment(FAA, 8, key_xor=1), UNTAKEN),
    row(
        "LOC-KEY",
        replace(of_segment(WRITE, key=Key.ZERO), topology=Topology.LOOPBACK),
        UNSENT,
    ),
    row("LOC-DOMAIN", of_segment(WRITE, key=Key.OTHER_DOMAIN), UNSENT),
    row("LOC-DOMAIN", of_segment(READ, key=Key.OTHER_DOMAIN), UNTAKEN),
    *(row("LOC-RANGE", of_segment(SEND, offset=at), UNSENT) for at in (-1, 4033, 4096, 1 << 30)),
    row("LOC-RANGE", of_segment(SEND, offset=4032), answer(receive=source(64, 0, 4032))),
    row("LOC-RANGE", of_segment(WRITE, address=2**64 - 32), UNSENT),
    # The first byte that is fetched still has a place.
    row(
        "LOC-RANGE",
        of_segment(READ, offset=4095),
        answer(requester="LOC_PROT_ERR", local=any_of(fetched(1, 4095)[0])),
    ),
    row("LOC-RIGHT", replace(READ, local=Region(RR)), UNTAKEN),
    row("LOC-RIGHT", replace(CAS, local=Region(RR)), UNTAKEN),
    row("LOC-RIGHT", replace(SEND, local=Region(RR)), answer(receive=source(64))),
    row("LOC-RIGHT", replace(READ, local=Region(LW | RW)), answer(local=fetched(64))),
    # Unreliable: the send queue alone fails.
    row(
        "LOC-KEY",
        replace(of_segment(SEND, key=Key.ZERO), transport=UC),
        {
            Verdict.PASS: {
                "requester": ["LOC_PROT_ERR"],
                "requester_qp": ["SQE", "ERR"],
                "responder_qp": ["RTS"],
            }
        },
    ),
    # One of two entries: in one packet nothing has gone out, in several the first may have.
    row("LOC-KEY", replace(SEND, local_sgl=(Segment(32), Segment(32, key=Key.ZERO))), UNSENT),
    row(
        "LOC-KEY",
        replace(WRITE, length=600, local_sgl=(Segment(300), Segment(300, 300, key=Key.ZERO))),
        answer(requester="LOC_PROT_ERR", region=any_of(source(300)[0]), receive=[]),
    ),
    row(
        "LOC-ZERO-LENGTH",
        replace(SEND, local_sgl=(Segment(32), Segment(0, key=Key.ZERO), Segment(32, 32))),
        answer(requester="SUCCESS", receive=source(64)),
    ),
    row("LOC-ZERO-LENGTH", replace(of_segment(READ, 0, key_xor=1), length=0), answer(local=[])),
    row(
        "LOC-INLINE",
        replace(of_segment(WRITE, key=Key.ZERO), inline=True),
        answer(requester="SUCCESS", region=source(64)),
    ),
    row(
        "LOC-RANGE",
        replace(SEND, local_sgl=(Segment(32, 4064), Segment(32, 4096, Key.NEIGHBOUR))),
        answer(requester="SUCCESS", receive=source(64, 0, 4064)),
    ),
    row(
        "LOC-RANGE",
        replace(SEND, local_sgl=(Segment(8, 4096, Key.NEIGHBOUR), Segment(56, 4068))),
        UNSENT,
    ),
]


def taken_badly(**facts: Any) -> dict[Verdict, Facts]:
    """A receive that may not be written: Class A at a reliable responder."""
    return answer(
        **{
            "requester": "REM_OP_ERR",
            "follow_up": FLUSHED,
            "receives": ["LOC_PROT_ERR", FLUSHED],
            "received": None,
            "requester_qp": "ERR",
            "responder_qp": "ERR",
            "receive": [],
            **facts,
        }
    )


UNHEARD = {"requester": "SUCCESS", "follow_up": "SUCCESS", "requester_qp": "RTS"}
EMPTY = {"byte_len": 0, "imm": None, "opcode": "RECV"}
DROPPED = answer(
    requester="SUCCESS",
    follow_up="SUCCESS",
    receives=["SUCCESS"],
    requester_qp="RTS",
    responder_qp="RTS",
    responder_events=[],
    region=[],
)
TWICE_ROWS = [
    # What the responder has to refuse as well is never executed, whoever is at fault besides.
    row(
        "TWO-FAULTS",
        replace(of_segment(FAA, 8, key=Key.ZERO), rkey_xor=0xFF),
        {
            Verdict.NOTE: {
                "requester": ["LOC_PROT_ERR", "REM_ACCESS_ERR"],
                "region": [[]],
                "local": [[]],
            }
        },
    ),
]
RECEIVE_ROWS = [
    *(
        row("RECV-KEY", into(SEND, Segment(64, key=key)), taken_badly())
        for key in (Key.ZERO, Key.DEREGISTERED)
    ),
    row("RECV-KEY", into(SEND, Segment(64, key_xor=1)), taken_badly()),
    row(
        "RECV-KEY",
        into(SEND, Segment(64, key=Key.ZERO), shared=True),
        taken_badly(receives=["LOC_PROT_ERR"]),
    ),
    row("RECV-KEY", into(SEND, Segment(64, key=Key.ZERO), transport=UC), taken_badly(**UNHEARD)),
    row("RECV-DOMAIN", into(SEND, Segment(64, key=Key.OTHER_DOMAIN)), taken_badly()),
    row("RECV-RIGHT", replace(SEND, receive=Region(NONE)), taken_badly()),
    row("RECV-RIGHT", replace(SEND, receive=Region(RR | Access.MW_BIND)), taken_badly()),
    row("RECV-RIGHT", replace(SEND, receive=Region(LW | RR)), answer(receive=source(64))),
    row("RECV-RANGE", into(SEND, Segment(64, -1)), taken_badly()),
    row(
        "RECV-RANGE",
        into(SEND, Segment(64, 4040)),
        taken_badly(receive=any_of(source(56, 4040)[0])),
    ),
    row("RECV-RANGE", into(SEND, Segment(64, 4032)), answer(receive=source(64, 4032))),
    # Bytes before the bad entry may be there, none of it and none behind.
    row(
        "RECV-KEY",
        into(SEND, Segment(16), Segment(24, 100, key=Key.ZERO), Segment(24, 200)),
        taken_badly(receive=any_of(source(16)[0])),
    ),
    row(
        "RECV-LENGTH",
        into(SEND, Segment(63)),
        taken_badly(
            requester="REM_INV_REQ_ERR",
            receives=["LOC_LEN_ERR", FLUSHED],
            receive=any_of(source(63)[0]),
        ),
    ),
    row(
        "RECV-LENGTH",
        into(SEND, Segment(63), transport=UC),
        answer(
            **{**UNHEARD, "responder_qp": "ERR"}, receives=["LOC_LEN_ERR", FLUSHED], received=None
        ),
        answer(**{**UNHEARD, "responder_qp": "RTS"}, receives=["SUCCESS"], received=EMPTY),
    ),
    row(
        "RECV-ZERO-LENGTH",
        into(SEND, Segment(32), Segment(0, key=Key.ZERO), Segment(32, 32)),
        answer(requester="SUCCESS", receive=source(64)),
    ),
]

TRANSPORT_ROWS = [
    *(
        row("UC-REFUSAL", replace(WRITE, transport=UC, **fault), DROPPED)
        for fault in (
            {"remote": Region(LW)},
            {"qp_access": NONE},
            {"rkey_xor": 1},
            {"rkey": Key.OTHER_DOMAIN},
            {"remote_offset": 4033},
        )
    ),
    row(
        "UC-REFUSAL",
        replace(WRITE_IMM, transport=UC, rkey_xor=1),
        answer(requester="SUCCESS", receives=["SUCCESS"], received=EMPTY, region=[]),
    ),
    row(
        "UD-RECEIVE",
        replace(SEND, transport=UD),
        answer(received={"byte_len": 104, "imm": None, "opcode": "RECV"}, receive=source(64)),
    ),
    row(
        "UD-RECEIVE",
        into(SEND, Segment(64, key=Key.ZERO), transport=UD),
        answer(requester="SUCCESS", receives=["LOC_PROT_ERR", FLUSHED], receive=[]),
    ),
    row(
        "UD-RECEIVE",
        into(SEND, Segment(63), transport=UD),
        answer(requester="SUCCESS", receives=["SUCCESS"], received={**EMPTY, "byte_len": 40}),
        {
            Verdict.NOTE: {
                "requester": ["SUCCESS"],
                "receives": [
                    [status, behind]
                    for status in ("LOC_LEN_ERR", "GENERAL_ERR")
                    for behind in ("SUCCESS", FLUSHED)
                ],
                "responder_qp": ["RTS", "ERR"],
                "receive": [any_of(source(63)[0])],
            }
        },
    ),
    row(
        "TRANSPORT-OPERATION",
        replace(READ, transport=UC),
        {
            Verdict.PASS: {
                "post": ["EINVAL", "EOPNOTSUPP", "OK"],
                "requester": ["none", "LOC_QP_OP_ERR"],
                "responder_qp": ["RTS"] * 2,
                "local": [[]] * 2,
            }
        },
    ),
    row(
        "RECEIVER-NOT-READY",
        replace(SEND, posted=Posted.NEVER),
        answer(requester="RNR_RETRY_EXC_ERR", requester_qp="ERR", responder_qp="RTS", receives=[]),
    ),
    row(
        "RECEIVER-NOT-READY",
        replace(SEND, posted=Posted.LATE),
        answer(requester="SUCCESS", receives=["SUCCESS", "SUCCESS"], receive=source(64)),
    ),
    row("REFUSAL-RECOVERY", replace(READ, rkey_xor=1, recover=True), answer(recovery="as before")),
    row(
        "MR-RANGE",
        replace(WRITE, length=4097, local=Region(LW, 8192)),
        answer(requester="REM_ACCESS_ERR", region=[]),
    ),
    row(
        "FLUSH-ZERO-LENGTH",
        Transfer(
            Operation.FLUSH, length=0, remote=Region(ALL | FG), qp_access=ALL | FG, rkey_xor=1
        ),
        answer(requester="SUCCESS"),
    ),
]

SWAPPED = [[0, 8, bytes(b | 0x80 for b in stream("operand", 8)).hex()]]
OLD = bytes.fromhex(fetched(8)[0][2])
ATOMIC_ROWS = [
    *(
        row(
            "ATOMIC-RESULT",
            replace(CAS, operand=operand),
            answer(requester="SUCCESS", region=[], local=fetched(8)),
        )
        for operand in (Operand.MISS_FIRST, Operand.MISS_LAST)
    ),
    row(
        "ATOMIC-RESULT",
        replace(FAA, operand=Operand.WRAP),
        answer(requester="SUCCESS", region=[[0, 8, "00" * 8]], local=fetched(8)),
    ),
    row("MR-RIGHT-ATOMIC", CAS, answer(region=SWAPPED, local=fetched(8))),
    *(
        row(
            "ATOMIC-ALIGNMENT",
            replace(case, remote_offset=offset),
            {
                Verdict.PASS: {
                    "post": ["EINVAL", "OK"],
                    "requester": ["none", "REM_INV_REQ_ERR"],
                    "region": [[]],
                    "local": [[]],
                }
            },
        )
        for case in (CAS, FAA)
        for offset in (1, 4, 7)
    ),
    row(
        "ATOMIC-SIZE",
        of_segment(FAA, 4),
        {
            Verdict.PASS: {
                "post": ["EINVAL", "OK"],
                "requester": ["none", "LOC_LEN_ERR", "LOC_PROT_ERR", "LOC_QP_OP_ERR"],
                "local": [[], any_of(run(0, OLD[:4]))],
            }
        },
    ),
]


CONTENTION_ROWS = [
    # Two queue pairs post 8 requests each in a burst.
    Row(
        "ATOMIC-CONTENTION",
        ConcurrentAtomics(Operation.FETCH_ADD, bursts=2),
        answer(requester=["SUCCESS"], value=32, returned=list(range(32))),
    ),
    Row(
        "ATOMIC-CONTENTION",
        ConcurrentAtomics(Operation.CMP_SWAP, bursts=2),
        answer(requester=["SUCCESS"], value=16, returned=list(range(16))),
    ),
]


@rows(LOCAL_ROWS, TWICE_ROWS, RECEIVE_ROWS, TRANSPORT_ROWS, ATOMIC_ROWS, CONTENTION_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)


@pytest.mark.parametrize(
    ("case", "capability"),
    [
        (replace(WRITE, transport=UC), "transport_uc"),
        (replace(SEND, shared=True), "shared_receive_queue"),
        (replace(SEND, inline=True), "inline"),
        (replace(SEND, local_sgl=(Segment(32), Segment(32))), "sge_lists"),
    ],
)
def test_nothing_is_asked_of_what_the_device_does_not_claim(case: Transfer, capability: str):
    without = {name: how for name, how in EVERYTHING.claims.items() if name != capability}
    unclaimed = oracle.expect(case, Capabilities(without), SEED).unclaimed
    assert unclaimed is not None
    assert capability in unclaimed
