"""What the documents say of buffers and receives, row by row, against the oracle."""

from dataclasses import replace
from typing import Any

from conformance.spec.model import (
    Key,
    Region,
    Segment,
    Topology,
    Transfer,
)
from conformance.spec.vocabulary import Access, Operation, Transport, Verdict

from .golden import EMPTY, LW, NONE, RR, RW, Facts, Row, agrees, answer, any_of, row, rows
from .images import fetched, source

SEND, WRITE, WRITE_IMM, READ = (
    Transfer(operation)
    for operation in (Operation.SEND, Operation.WRITE, Operation.WRITE_IMM, Operation.READ)
)
CAS, FAA = (
    Transfer(operation, length=8) for operation in (Operation.CMP_SWAP, Operation.FETCH_ADD)
)
UC, UD = Transport.UC, Transport.UD
FLUSHED = "WR_FLUSH_ERR"
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
TWICE_ROWS = [
    # What the responder has to refuse as well is never executed, whoever is at fault besides.
    row(
        "TWO-FAULTS",
        replace(of_segment(FAA, 8, key=Key.ZERO), rkey_xor=0xFF),
        {
            Verdict.NOTE: [
                {"requester": [status], "region": [[]], "local": [[]]}
                for status in ("LOC_PROT_ERR", "REM_ACCESS_ERR")
            ]
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


@rows(LOCAL_ROWS, TWICE_ROWS, RECEIVE_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)
