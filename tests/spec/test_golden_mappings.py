"""What the documents say of the memory behind a registration, row by row, against the oracle."""

from conformance.spec.buffer import OVER_LIMIT, Backing, Buffer, BufferRegistration, Verb
from conformance.spec.model import Capabilities
from conformance.spec.vocabulary import Verdict

from .golden import ALL, CLAIMED, LW, MWB, NONE, RR, Row, agrees, rows

THERE = Capabilities(
    {
        **CLAIMED.claims,
        **dict.fromkeys(
            ("huge_pages_2m", "device_mapping", "kernel_data_mapping", "mr_size_limit"), "there"
        ),
    }
)
EDGES = {"before": ["refused"], "beyond": ["refused"], "dereg": ["OK"], "left": [[]]}
READABLE = {"result": ["OK"], "source": ["exact"], "reported": ["as asked"], **EDGES}
WRITABLE = {**READABLE, "sink": ["exact"]}
FAULT = {"result": ["EFAULT"], "left": [[]], "bystander": ["SUCCESS"]}
NO_CAUSE = {**FAULT, "result": ["ENOMEM"]}  # of a driver that has one errno for all
REFUSED = {Verdict.PASS: FAULT, Verdict.NOTE: NO_CAUSE}
EITHER = {**FAULT, "result": ["EFAULT", "ENOMEM"]}
INVALID = {**FAULT, "result": ["EINVAL"]}
EMPTY = {"result": ["OK"], "beyond": ["refused"], "dereg": ["OK"], "left": [[]]}
LONG = {**FAULT, "result": ["EINVAL", "ENOMEM", "EFAULT", "EOPNOTSUPP"]}


def _reg(backing, access=LW, length=4096, offset=0, hole=None, **more):
    return BufferRegistration(Buffer(backing, length, offset, hole), access, **more)


ANON = Backing.ANONYMOUS
MAPPING_ROWS = [
    *(
        Row("REG-BUFFER", _reg(kind), {Verdict.PASS: {**WRITABLE, "pinned_kb": [4]}}, THERE)
        for kind in (ANON, Backing.MEMFD, Backing.PRIVATE_FILE, Backing.SHARED_MEMORY)
    ),
    Row("REG-BUFFER", _reg(ANON, NONE), {Verdict.PASS: READABLE}),
    Row("REG-BUFFER", _reg(ANON, LW, 2, 4095), {Verdict.PASS: {"pinned_kb": [8]}}),
    Row("REG-BUFFER", _reg(ANON, LW, 4096, 1), {Verdict.PASS: {"pinned_kb": [8]}}),
    Row("REG-BUFFER", _reg(ANON, LW, 12288, 0), {Verdict.PASS: {"pinned_kb": [12]}}),
    Row("REG-BUFFER", _reg(ANON, LW, 12290, 4095), {Verdict.PASS: {"pinned_kb": [20]}}),
    # A huge page counts as 512 base pages, and a part of one as the base pages that it touches.
    Row(
        "REG-BUFFER",
        _reg(Backing.HUGE_2M, LW, 1 << 21),
        {Verdict.PASS: {"pinned_kb": [2048]}},
        THERE,
    ),
    Row(
        "REG-BUFFER",
        _reg(Backing.HUGE_2M, LW, 200, (1 << 21) - 100),
        {Verdict.PASS: {"pinned_kb": [8]}},
        THERE,
    ),
    Row("REG-BUFFER", _reg(Backing.SHARED_FILE), {Verdict.PASS: WRITABLE, Verdict.NOTE: EITHER}),
    Row("REG-BUFFER", _reg(Backing.SHARED_FILE, RR), {Verdict.PASS: READABLE}),
    *(
        Row("REG-UNMAPPED", _reg(kind, access), REFUSED, THERE)
        for kind in (
            Backing.NULL,
            Backing.UNMAPPED,
            Backing.KERNEL,
            Backing.DEVICE,
            Backing.KERNEL_DATA,
        )
        for access in (NONE, LW, ALL)
    ),
    *(Row("REG-UNMAPPED", _reg(ANON, LW, 16384, 0, at), REFUSED) for at in (0, 3)),
    Row("REG-UNMAPPED", _reg(Backing.NO_ACCESS), REFUSED),
    Row(
        "REG-UNMAPPED",
        _reg(Backing.NO_ACCESS, RR),
        {Verdict.PASS: FAULT, Verdict.NOTE: [{"result": ["OK"], "left": [[]]}, NO_CAUSE]},
    ),
    *(Row("REG-READ-ONLY", _reg(Backing.READ_ONLY, access), REFUSED) for access in (LW, ALL, MWB)),
    *(
        Row("REG-READ-ONLY", _reg(Backing.READ_ONLY, access), {Verdict.PASS: READABLE})
        for access in (NONE, RR)
    ),
    Row(
        "REG-READ-ONLY",
        _reg(Backing.READ_ONLY_SHARED_FILE, RR),
        {Verdict.PASS: READABLE, Verdict.NOTE: EITHER},
    ),
    Row("REG-READ-ONLY", _reg(Backing.READ_ONLY_PRIVATE_FILE, LW), REFUSED),
    *(
        Row("REG-OVERFLOW", _reg(ANON, LW, length), {Verdict.PASS: INVALID})
        for length in (2**64 - 4096, 2**64 - 1)
    ),
    *(Row("REG-OVERFLOW", _reg(Backing.TOP, LW, n), {Verdict.PASS: INVALID}) for n in (1, 4096)),
    Row("REG-OVERFLOW", _reg(ANON, LW, 2**63), {Verdict.PASS: LONG}),
    Row("REG-OVERFLOW", _reg(ANON, LW, OVER_LIMIT), {Verdict.PASS: LONG}, THERE),
    Row("REG-ZERO-LENGTH", _reg(Backing.NULL, LW, 0), {Verdict.PASS: INVALID}),
    Row("REG-ZERO-LENGTH", _reg(ANON, LW, 0), {Verdict.PASS: [INVALID, EMPTY]}),
    Row("REG-FAILURE-LEAVES-NOTHING", _reg(Backing.NULL, times=1000), REFUSED),
    Row("REG-VERBS-AGREE", _reg(Backing.READ_ONLY, verb=Verb.REG_MR_IOVA), REFUSED),
    Row("REG-VERBS-AGREE", _reg(ANON, verb=Verb.REG_MR_IOVA2), {Verdict.PASS: WRITABLE}),
]


@rows(MAPPING_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)
