"""What the documents say of registrations, row by row, against the oracle."""

from conformance.spec.model import Registration
from conformance.spec.vocabulary import Verdict

from .golden import ALL, BARE, FG, FP, HT, LW, MWB, ODP, RA, RO, RR, RW, ZB, Row, agrees, rows

KEPT = {"reported": ["as asked"], "dereg": ["OK"], "pinned_left": [0]}
OK = {"result": ["OK"], "addressing": [["address"]], **KEPT}
REGISTERED = {Verdict.PASS: OK}
NOTHING = {"addressing": [[]], "pinned_left": [0], "left": [[]]}
INVALID = {Verdict.PASS: {"result": ["EINVAL"], **NOTHING}}
NOT_TAKEN = {
    "result": ["EOPNOTSUPP", "EINVAL", "EPROTONOSUPPORT"],
    **NOTHING,
}
UNCLAIMED = {Verdict.NOT_SUPPORTED: NOT_TAKEN}
EITHER = {Verdict.PASS: NOT_TAKEN}

REGISTRATION_ROWS = [
    Row("REG-NO-RIGHTS", Registration(0), REGISTERED),
    *(
        Row("REG-FLAGS-LEGAL", Registration(access), REGISTERED)
        for access in (LW, RR, LW | RW, LW | RA, ALL, MWB, LW | MWB, RR | MWB, ALL | MWB)
    ),
    Row("REG-FLAGS-LEGAL", Registration(LW, length=1, page_offset=4095), REGISTERED),
    # Without atomics or windows the right may be taken and dropped, or refused.
    Row("REG-FLAGS-LEGAL", Registration(LW | RA), {Verdict.PASS: OK, **UNCLAIMED}, BARE),
    Row("REG-FLAGS-LEGAL", Registration(MWB), {Verdict.PASS: OK, **UNCLAIMED}, BARE),
    *(
        Row("REG-REMOTE-NEEDS-LOCAL", Registration(access), INVALID)
        for access in (
            RW,
            RA,
            RW | RA,
            RR | RW,
            RW | MWB,
            RW | RO,
            RR | RA | MWB,
            RW | ODP,
        )
    ),
    # Two reasons at once: a flag that the device lacks may be what is reported.
    Row("REG-REMOTE-NEEDS-LOCAL", Registration(RW | ZB), EITHER),
    Row("REG-REMOTE-NEEDS-LOCAL", Registration(RW | FG), EITHER, BARE),
    Row("REG-UNDEFINED-BIT", Registration(LW | ODP | 1 << 13), EITHER, BARE),
    *(
        Row("REG-UNDEFINED-BIT", Registration(access), INVALID)
        for access in (1 << 10, 1 << 19, 1 << 30, 1 << 31, LW | 1 << 13, ALL | 1 << 15)
    ),
    *(
        Row("REG-OPTIONAL-BITS", Registration(LW | 1 << bit), REGISTERED, BARE)
        for bit in range(20, 30)
    ),
    Row("REG-OPTIONAL-BITS", Registration(RO), REGISTERED),
    Row("REG-CAPABILITY", Registration(LW | ODP), REGISTERED),
    Row("REG-CAPABILITY", Registration(LW | ODP), UNCLAIMED, BARE),
    Row("REG-CAPABILITY", Registration(LW | FG), REGISTERED),
    Row("REG-CAPABILITY", Registration(FG), UNCLAIMED, BARE),
    Row(
        "REG-CAPABILITY",
        Registration(LW | ZB),
        {
            Verdict.PASS: {"result": ["OK"], "addressing": [["offset"]], **KEPT},
            Verdict.NOTE: OK,
            Verdict.NOT_SUPPORTED: NOT_TAKEN,
        },
    ),
    Row(
        "REG-CAPABILITY",
        Registration(LW | HT),
        {Verdict.NOTE: OK, Verdict.NOT_SUPPORTED: NOT_TAKEN},
    ),
    Row(
        "REG-FLUSH-PERSISTENT",
        Registration(LW | FP),
        # A device that claims the flag may refuse this memory, but not the flag as such.
        {
            Verdict.PASS: OK,
            Verdict.NOTE: {
                "result": ["EINVAL"],
                "addressing": [[]],
                "pinned_left": [0],
                "left": [[]],
            },
        },
    ),
    Row("REG-FLUSH-PERSISTENT", Registration(LW | FP), UNCLAIMED, BARE),
]


@rows(REGISTRATION_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)
