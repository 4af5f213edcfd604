"""What the documents say of on-demand paging, row by row, against the oracle."""

import hashlib

from conformance.spec.lifetime import Side
from conformance.spec.model import Capabilities
from conformance.spec.paging import Advice, Implicit, Mistake, Paged, Pages, Prefetched
from conformance.spec.vocabulary import Operation, Verdict

from .golden import SEED, Row, agrees, rows

WRITE, READ, SEND, ADD = (
    Operation.WRITE,
    Operation.READ,
    Operation.SEND,
    Operation.FETCH_ADD,
)
REMOTE, LOCAL, RECEIVE = Side.REMOTE, Side.LOCAL, Side.RECEIVE
CAPS = Capabilities(
    {
        name: f"{name} was probed"
        for name in (
            "advise_mr",
            "atomic",
            "odp",
            "odp_rc_atomic",
            "odp_rc_read",
            "odp_rc_receive",
            "odp_rc_send",
            "odp_rc_write",
        )
    },
    {"odp_implicit": "the bit is clear"},
)


def _stream(label: str, length: int = 64 + 4096 + 64) -> bytes:
    return hashlib.shake_128(f"{label}:{SEED}".encode()).digest(length)


# Sources hold bytes of 0x80 and above, all else below; 64 bytes of guard lie before each image.
SENT = bytes(byte | 0x80 for byte in _stream("local")[64:128]).hex()
PAGE = bytes(byte & 0x7F for byte in _stream("paged")[64 : 64 + 64]).hex()
REGION = bytes(byte & 0x7F for byte in _stream("region")[64 + 512 : 64 + 512 + 64]).hex()
OVER = bytes(byte & 0x7F for byte in _stream("over", 8192)[:64]).hex()
ZEROS = "00" * 64
END = {"result": ["OK"], "dereg": ["OK"], "pinned": [0], "left": [[]]}


def granted(paged: str, other: str, **facts: list) -> dict:
    done = {"requester": ["SUCCESS"], "requester_qp": ["RTS"], "responder_qp": ["RTS"]}
    return {Verdict.PASS: {**done, "paged": [paged], "other": [other], **END, **facts}}


def refused(status: str, paged: str) -> dict:
    return {Verdict.PASS: {"requester": [status], "requester_qp": ["ERR"], "paged": [paged], **END}}


PAGING_ROWS = [
    *(
        Row(rule, Paged(pages, side, operation), allowed, CAPS)
        for rule, pages, side, operation, allowed in (
            ("ODP-UNTOUCHED", Pages.UNTOUCHED, REMOTE, WRITE, granted(SENT, "")),
            ("ODP-UNTOUCHED", Pages.UNTOUCHED, REMOTE, READ, granted(ZEROS, ZEROS)),
            ("ODP-UNTOUCHED", Pages.UNTOUCHED, REMOTE, ADD, granted("80" * 8, "00" * 8)),
            ("ODP-UNTOUCHED", Pages.UNTOUCHED, LOCAL, WRITE, granted(ZEROS, ZEROS)),
            ("ODP-UNTOUCHED", Pages.UNTOUCHED, LOCAL, READ, granted(REGION, REGION)),
            ("ODP-UNTOUCHED", Pages.WRITTEN, LOCAL, SEND, granted(PAGE, PAGE)),
            ("ODP-UNTOUCHED", Pages.UNTOUCHED, RECEIVE, SEND, granted(SENT, "")),
            ("ODP-UNTOUCHED", Pages.WRITTEN, REMOTE, READ, granted(PAGE, PAGE)),
            ("ODP-SHARED", Pages.ZERO, REMOTE, WRITE, granted(SENT, "", zero_page=["zeros"])),
            ("ODP-SHARED", Pages.FORKED, REMOTE, WRITE, granted(SENT, "", child=[PAGE])),
            ("ODP-FOLLOWS", Pages.MAPPED_OVER, REMOTE, READ, granted(OVER, OVER)),
            ("ODP-FOLLOWS", Pages.DISCARDED, REMOTE, READ, granted(ZEROS, ZEROS)),
            ("ODP-READ-ONLY", Pages.READ_ONLY, REMOTE, READ, granted(PAGE, PAGE)),
            ("ODP-READ-ONLY", Pages.READ_ONLY, REMOTE, WRITE, refused("REM_ACCESS_ERR", PAGE)),
            ("ODP-READ-ONLY", Pages.READ_ONLY, LOCAL, WRITE, granted(PAGE, PAGE)),
            ("ODP-READ-ONLY", Pages.READ_ONLY, LOCAL, READ, refused("LOC_PROT_ERR", PAGE)),
            ("ODP-READ-ONLY", Pages.READ_ONLY, RECEIVE, SEND, refused("REM_OP_ERR", PAGE)),
            ("ODP-UNMAPPED", Pages.UNMAPPED, REMOTE, READ, refused("REM_ACCESS_ERR", "unmapped")),
            ("ODP-UNMAPPED", Pages.UNMAPPED, LOCAL, SEND, refused("LOC_PROT_ERR", "unmapped")),
        )
    ),
    *(
        Row(
            "ODP-PLACE",
            Paged(Pages.WRITTEN, side, READ, at),
            {Verdict.PASS: {"requester": ["SUCCESS"], "at": [at], "elsewhere": ["nothing"], **END}},
            CAPS,
        )
        for side in (REMOTE, LOCAL)
        for at in (1, 4096 - 32)
    ),
    *(
        Row(
            "ODP-PREFETCH",
            Prefetched(Advice.PREFETCH, flush, mistake),
            {Verdict.PASS: {"advised": answers, "requester": ["SUCCESS"], "dereg": ["OK"]}},
            CAPS,
        )
        for flush, mistake, answers in (
            (False, Mistake.NONE, ["OK"]),
            (True, Mistake.RANGE, ["EFAULT"]),
            (False, Mistake.RANGE, ["OK", "EFAULT"]),
            (True, Mistake.KEY, ["EFAULT", "ENOENT"]),
            (True, Mistake.ADVICE, ["EOPNOTSUPP", "EINVAL"]),
            (True, Mistake.FLAGS, ["EINVAL"]),
        )
    ),
    Row(
        "ODP-IMPLICIT",
        Implicit(WRITE),
        {Verdict.PASS: {"result": ["EOPNOTSUPP", "EINVAL", "EPROTONOSUPPORT"], "left": [[]]}},
        CAPS,
    ),
    Row(
        "ODP-IMPLICIT",
        Implicit(WRITE),
        granted(SENT, ""),
        Capabilities({"odp_implicit": "the bit is set"}),
    ),
]


@rows(PAGING_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)
