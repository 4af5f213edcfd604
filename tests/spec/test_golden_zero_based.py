"""What the documents say of regions with an iova, row by row, against the oracle."""

from conformance.spec import oracle
from conformance.spec.buffer import Buffer, BufferRegistration, Verb
from conformance.spec.model import Capabilities, Region, Transfer
from conformance.spec.vocabulary import Operation, Verdict

from .golden import ALL, CLAIMED, Row, agrees, rows

THERE = Capabilities({**CLAIMED.claims, "iova": "there"})
GRANTED = {
    "requester": ["SUCCESS"],
    "follow_up": ["SUCCESS"],
    "requester_qp": ["RTS"],
    "responder_qp": ["RTS"],
}
REFUSED = {
    "requester": ["REM_ACCESS_ERR"],
    "requester_qp": ["ERR"],
    "responder_qp": ["ERR"],
    "region": [[]],
    "local": [[]],
}
LOCAL = {
    "result": ["OK"],
    "source": ["exact"],
    "sink": ["exact"],
    "before": ["refused"],
    "beyond": ["refused"],
    "by_address": ["refused"],
    "left": [[]],
}
ANY_ERRNO = ["EINVAL", "EOPNOTSUPP", "ENOMEM", "EFAULT", "EOVERFLOW", "ERANGE"]
INVALID = {"result": ["EINVAL"], "left": [[]], "bystander": ["SUCCESS"]}


def remote(operation, iova, offset, length=64, by_address=False):
    region = Region(ALL, 8192, iova=iova, by_address=by_address)
    return Transfer(operation, length=length, remote=region, remote_offset=offset)


def local(iova, length=4096, offset=0):
    return BufferRegistration(Buffer(length=length, offset=offset), ALL, Verb.REG_MR_IOVA, 1, iova)


WRITE, READ, CAS, FAA = (
    Operation.WRITE,
    Operation.READ,
    Operation.CMP_SWAP,
    Operation.FETCH_ADD,
)
ZERO_BASED_ROWS = [
    *(
        Row("ZB-REMOTE", remote(WRITE, iova, offset), {Verdict.PASS: GRANTED}, THERE)
        for iova in (0, 2**32 - 4096, 2**63, 2**64 - 12288)
        for offset in (0, 8192 - 64)
    ),
    *(
        Row("ZB-REMOTE", remote(READ, iova, offset), {Verdict.PASS: REFUSED}, THERE)
        for iova in (0, 2**32 - 4096)
        for offset in (8192 - 63, 8192)
    ),
    Row("ZB-REMOTE", remote(READ, 4096, -1), {Verdict.PASS: REFUSED}, THERE),
    *(
        Row("ZB-REMOTE", remote(op, iova, 0, by_address=True), {Verdict.PASS: REFUSED}, THERE)
        for op in (WRITE, READ)
        for iova in (0, 2**63)
    ),
    *(
        Row("ZB-ATOMIC", remote(op, 0, offset, 8), {Verdict.PASS: GRANTED}, THERE)
        for op in (CAS, FAA)
        for offset in (0, 8, 8184)
    ),
    *(
        Row(
            "ZB-ATOMIC",
            remote(CAS, 0, offset, 8),
            {
                Verdict.PASS: [
                    {"post": [post], "requester": [told], "region": [[]]}
                    for post, told in (("EINVAL", "none"), ("OK", "REM_INV_REQ_ERR"))
                ]
            },
            THERE,
        )
        for offset in (1, 4, 7)
    ),
    Row("ZB-ATOMIC", remote(FAA, 0, 8192, 8), {Verdict.PASS: REFUSED}, THERE),
    *(
        Row("ZB-LOCAL", local(iova), {Verdict.PASS: LOCAL}, THERE)
        for iova in (0, 4096, 2**32, 2**63)
    ),
    Row("ZB-LOCAL", local(100, 50, 100), {Verdict.PASS: LOCAL}, THERE),
    *(
        Row(
            "ZB-PAGE-OFFSET",
            local(iova, 100, offset),
            {Verdict.PASS: [INVALID, LOCAL]},
            THERE,
        )
        for iova, offset in ((1, 0), (0, 1), (4096, 7))
    ),
    *(
        Row(
            "ZB-WRAP",
            local(iova, 8192),
            {
                Verdict.PASS: {**INVALID, "result": ANY_ERRNO},
                Verdict.NOTE: {"before": ["refused"], "beyond": ["refused"], "left": [[]]},
            },
            THERE,
        )
        for iova in (2**64 - 8192, 2**64 - 4096)
    ),
]


@rows(ZERO_BASED_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)


def test_without_a_way_to_an_iova_nothing_is_asked():
    for case in (local(0), remote(WRITE, 0, 0)):
        assert "iova" in oracle.expect(case, CLAIMED).unclaimed


def test_a_refusal_differs_from_its_control_in_one_thing():
    outside = oracle.expect(remote(READ, 0, 8192), THERE).control
    assert outside == remote(READ, 0, 0)
    assert oracle.expect(remote(READ, 0, 0, by_address=True), THERE).control == outside
