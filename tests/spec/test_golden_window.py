"""What the documents say of memory windows, row by row, against the oracle."""

import hashlib

from conformance.spec import oracle
from conformance.spec.model import Capabilities
from conformance.spec.vocabulary import Operation, Verdict
from conformance.spec.window import (
    Allocation,
    Domain,
    Ending,
    Fault,
    Invalidation,
    LentMidway,
    Region,
    Through,
    Window,
    WindowType,
    WrongCall,
)

from .golden import ALL, LW, MWB, RA, RR, RW, SEED, ZB, Row, agrees, rows

ONE, TWO = WindowType.TYPE_1, WindowType.TYPE_2
CAPS = Capabilities(
    {
        name: f"{name} was probed"
        for name in (
            "atomic",
            "atomic_write",
            "memory_window",
            "memory_window_type_1",
            "memory_window_type_2",
        )
    }
)
# The requester's first 64 bytes, behind 64 bytes of guard: each of 0x80 or above.
SOURCE = bytes(
    byte | 0x80 for byte in hashlib.shake_128(f"local:{SEED}".encode()).digest(192)[64:128]
)
AT_POST = ["post EINVAL", "post EPERM", "post EOPNOTSUPP"]
INVALID = ["LOC_QP_OP_ERR", "MW_BIND_ERR", "LOC_PROT_ERR"]
CLOSED = {
    "requester": ["REM_ACCESS_ERR"],
    "requester_qp": ["ERR"],
    "responder_qp": ["ERR"],
    "touched": [[]],
    "left": [[]],
}
OPEN = {"requester": ["SUCCESS"], "requester_qp": ["RTS"], "responder_qp": ["RTS"], "left": [[]]}
BOUND = {"alloc": ["OK"], "bind": ["SUCCESS"], "binder_qp": ["RTS"]}
REFUSED = {Verdict.PASS: {**CLOSED, **BOUND}}
# Told by a completion, which ends the queue pair's work, or when it is posted, which does not.
NOT_BOUND = {
    Verdict.PASS: [
        {**CLOSED, "alloc": ["OK"], "bind": told, "binder_qp": [state]}
        for told, state in ((["MW_BIND_ERR"], "ERR"), (AT_POST, "RTS"))
    ]
}


def granted(at: int) -> dict:
    """A WRITE of the source's first 64 bytes to `at` bytes into the region."""
    return {Verdict.PASS: {**OPEN, **BOUND, "region": [[[at, 64, SOURCE.hex()]]], "local": [[]]}}


WINDOW_ROWS = [
    *(Row("MW-RIGHT", Window(type), granted(512), CAPS) for type in WindowType),
    *(
        Row("MW-RIGHT", Window(type, operation, rights=rights), REFUSED, CAPS)
        for type in WindowType
        for operation, rights in (
            (Operation.WRITE, RR | RA),
            (Operation.READ, RW | RA),
            (Operation.FETCH_ADD, RW | RR),
            (Operation.ATOMIC_WRITE, RR | RA),
        )
    ),
    # The region's own remote rights are not asked for.
    Row("MW-BIND-RIGHT", Window(TWO, region=Region(LW | MWB)), granted(512), CAPS),
    *(
        Row("MW-BIND-RIGHT", Window(type, region=Region(access), rights=rights), NOT_BOUND, CAPS)
        for type in WindowType
        for access, rights in ((ALL, RR), (MWB, RW), (MWB | RR, RA))
    ),
    Row("MW-BIND-RANGE", Window(TWO, start=0, extent=4096), granted(0), CAPS),
    *(
        Row("MW-BIND-RANGE", Window(TWO, start=start, extent=extent), NOT_BOUND, CAPS)
        for start, extent in ((0, 4097), (-1, 64), (4096, 1), (64, (1 << 64) - 64), (0, 0))
    ),
    Row("MW-DOMAIN", Window(TWO, domain=Domain.OTHER), NOT_BOUND, CAPS),
    Row("MW-DOMAIN", Window(ONE, region=Region(ALL | MWB, domain=Domain.OTHER)), NOT_BOUND, CAPS),
    *(
        Row("MW-RANGE", Window(type, at=at), REFUSED, CAPS)
        for type in WindowType
        for at in (-1, 961)
    ),
    Row("MW-RANGE", Window(TWO, at=960), granted(512 + 960), CAPS),
    Row("MW-QUEUE-PAIR", Window(ONE, through=Through.OTHER), granted(512), CAPS),
    Row("MW-QUEUE-PAIR", Window(TWO, through=Through.OTHER), REFUSED, CAPS),
    *(
        Row("MW-QUEUE-PAIR", Window(type, through=Through.FOREIGN), REFUSED, CAPS)
        for type in WindowType
    ),
    Row("MW-KEY", Window(TWO, key_xor=0), granted(512), CAPS),
    Row("MW-KEY", Window(TWO, key_xor=255), granted(512), CAPS),
    Row("MW-KEY", Window(TWO, rkey_xor=1), REFUSED, CAPS),
    Row("MW-KEY", Window(ONE, old_key=True), REFUSED, CAPS),
    Row("MW-REBIND", Window(ONE, ending=Ending.MOVED), granted(2048), CAPS),
    Row("MW-REBIND", Window(TWO, ending=Ending.BOUND_AGAIN), granted(2048), CAPS),
    Row("MW-REBIND", Window(ONE, ending=Ending.MOVED, old_key=True), REFUSED, CAPS),
    Row(
        "MW-REBIND",
        Window(TWO, ending=Ending.MOVED),
        {
            Verdict.PASS: [
                {**CLOSED, **BOUND, "ending": ending} for ending in (["MW_BIND_ERR"], AT_POST)
            ]
        },
        CAPS,
    ),
    *(
        Row(
            "MW-END", Window(type, ending=ending), {Verdict.PASS: {**CLOSED, **BOUND, **told}}, CAPS
        )
        for type, ending, told in (
            (ONE, Ending.UNBOUND, {"ending": ["SUCCESS"]}),
            (ONE, Ending.DEALLOCATED, {"ending": ["OK"]}),
            (TWO, Ending.INVALIDATED, {"ending": ["SUCCESS"]}),
            (
                TWO,
                Ending.INVALIDATED_BY_PEER,
                {"ending": ["SUCCESS"], "invalidated": ["the window's key"]},
            ),
            (TWO, Ending.DEALLOCATED, {"ending": ["OK"]}),
        )
    ),
    Row(
        "MW-QP-DESTROYED",
        Window(TWO, ending=Ending.QUEUE_PAIR_DESTROYED),
        {Verdict.PASS: {**CLOSED, **BOUND, "ending": ["OK"]}},
        CAPS,
    ),
    Row(
        "MW-ALLOC",
        Window(ONE, ending=Ending.NEVER_BOUND),
        {Verdict.PASS: {**CLOSED, "alloc": ["OK"], "bind": ["none"]}},
        CAPS,
    ),
    Row(
        "MW-TRAFFIC",
        LentMidway(TWO, Ending.INVALIDATED),
        {
            Verdict.PASS: {
                "ending": ["SUCCESS"],
                "requester": ["SUCCESS", "REM_ACCESS_ERR"],
                "later": ["nothing"],
                "left": [[]],
            }
        },
        CAPS,
    ),
    Row("MW-ALLOC", Allocation(2), {Verdict.PASS: {"result": ["OK"], "left": [[]]}}, CAPS),
    Row("MW-ALLOC", Allocation(3), {Verdict.PASS: {"result": ["EINVAL"], "left": [[]]}}, CAPS),
    Row(
        "MW-BIND-CALL",
        WrongCall(TWO),
        {Verdict.PASS: {"bind": ["post EINVAL"], "binder_qp": ["RTS"]}},
        CAPS,
    ),
    Row(
        "MW-BIND-CALL",
        WrongCall(ONE),
        {
            Verdict.PASS: [
                {"bind": ["MW_BIND_ERR"], "binder_qp": ["ERR"]},
                {"bind": AT_POST, "binder_qp": ["RTS"]},
            ],
            Verdict.NOTE: {"bind": ["SUCCESS"]},
        },
        CAPS,
    ),
    Row(
        "MW-ACCESS-BITS",
        Window(TWO, rights=RW | MWB),
        {**NOT_BOUND, Verdict.NOTE: {"bind": ["SUCCESS"], "left": [[]]}},
        CAPS,
    ),
    Row("MW-ZERO-BASED", Window(TWO, rights=RW | ZB), granted(512), CAPS),
    Row("MW-ZERO-BASED", Window(TWO, rights=RW | ZB, at=-1), REFUSED, CAPS),
    Row("MW-ZERO-BASED", Window(TWO, rights=RW | ZB, by_address=True), REFUSED, CAPS),
    Row("MW-ZERO-BASED", Window(ONE, rights=RW | ZB), NOT_BOUND, CAPS),
    Row(
        "MW-INVALIDATE",
        Invalidation(False, Fault.QUEUE_PAIR),
        {
            Verdict.PASS: [
                {"requester": INVALID, "owner_qp": ["ERR"], "use": ["SUCCESS"]},
                {"requester": AT_POST, "owner_qp": ["RTS"], "use": ["SUCCESS"]},
            ]
        },
        CAPS,
    ),
    Row(
        "MW-INVALIDATE",
        Invalidation(True, Fault.OTHER_BYTE),
        {
            Verdict.PASS: {
                "requester": ["SUCCESS", "REM_ACCESS_ERR", "REM_OP_ERR", "REM_INV_REQ_ERR"],
                "receive": ["REM_INV_REQ_ERR", "LOC_ACCESS_ERR", "MW_BIND_ERR"],
                "owner_qp": ["ERR"],
            }
        },
        CAPS,
    ),
    Row(
        "MW-INVALIDATE-UNBOUND",
        Invalidation(False, Fault.NEVER_BOUND),
        {
            Verdict.PASS: [
                {"requester": INVALID, "owner_qp": ["ERR"]},
                {"requester": AT_POST, "owner_qp": ["RTS"]},
                {"requester": ["SUCCESS"], "owner_qp": ["RTS"]},
            ]
        },
        CAPS,
    ),
]


@rows(WINDOW_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)


def test_a_type_that_is_not_claimed_is_not_asked():
    caps = Capabilities({"memory_window": "bit 17"}, {"memory_window_type_2": "bits are clear"})
    assert oracle.expect(Window(TWO), caps, SEED).unclaimed == "bits are clear"
