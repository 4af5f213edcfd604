"""What the documents say of transports, readiness and atomics, row by row, against the oracle."""

from dataclasses import replace

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
    Transfer,
)
from conformance.spec.vocabulary import Operation, Transport, Verdict

from .golden import (
    ALL,
    EMPTY,
    EVERYTHING,
    FG,
    LW,
    NONE,
    SEED,
    Row,
    agrees,
    answer,
    any_of,
    row,
    rows,
)
from .images import fetched, run, source, stream

SEND, WRITE, WRITE_IMM, READ = (
    Transfer(operation)
    for operation in (Operation.SEND, Operation.WRITE, Operation.WRITE_IMM, Operation.READ)
)
CAS, FAA = Transfer(Operation.CMP_SWAP, length=8), Transfer(Operation.FETCH_ADD, length=8)
UC, UD = Transport.UC, Transport.UD
FLUSHED = "WR_FLUSH_ERR"
DROPPED = answer(
    requester="SUCCESS",
    follow_up="SUCCESS",
    receives=["SUCCESS"],
    requester_qp="RTS",
    responder_qp="RTS",
    responder_events=[],
    region=[],
)
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
        replace(SEND, receive_sgl=(Segment(64, key=Key.ZERO),), transport=UD),
        answer(requester="SUCCESS", receives=["LOC_PROT_ERR", FLUSHED], receive=[]),
    ),
    row(
        "UD-RECEIVE",
        replace(SEND, receive_sgl=(Segment(63),), transport=UD),
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
            Verdict.PASS: [
                {"post": post, "requester": [told], "responder_qp": ["RTS"], "local": [[]]}
                for post, told in ((["EINVAL", "EOPNOTSUPP"], "none"), (["OK"], "LOC_QP_OP_ERR"))
            ]
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
                Verdict.PASS: [
                    {"post": [post], "requester": [told], "region": [[]], "local": [[]]}
                    for post, told in (("EINVAL", "none"), ("OK", "REM_INV_REQ_ERR"))
                ]
            },
        )
        for case in (CAS, FAA)
        for offset in (1, 4, 7)
    ),
    row(
        "ATOMIC-SIZE",
        replace(FAA, local_sgl=(Segment(4),)),
        {
            Verdict.PASS: [
                {"post": ["EINVAL"], "requester": ["none"], "local": [[]]},
                *(
                    {"post": ["OK"], "requester": [told], "local": [any_of(run(0, OLD[:4]))]}
                    for told in ("LOC_LEN_ERR", "LOC_PROT_ERR", "LOC_QP_OP_ERR")
                ),
            ]
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


@rows(TRANSPORT_ROWS, ATOMIC_ROWS, CONTENTION_ROWS)
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
