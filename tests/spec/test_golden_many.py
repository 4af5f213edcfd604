"""What the documents say of many regions, row by row, against the oracle."""

import pytest

from conformance.spec import oracle
from conformance.spec.crowd import Churn, Crowd, Forked, Limit, Listed, Overlap, Part, Remapped
from conformance.spec.crowding import effort
from conformance.spec.model import Capabilities, Transfer
from conformance.spec.vocabulary import Operation, Verdict

from .golden import ALL, CLAIMED, LW, NONE, RR, RW, Row, agrees, rows

PAGED = Capabilities({**CLAIMED.claims, "odp_rc_write": "there"})
WRITE, READ = Operation.WRITE, Operation.READ


def overlap(operation, first, second, first_key, second_key):
    """Each key's own answer; a key that has ended is refused whatever it was, the other stays."""
    return Row(
        "REG-OVERLAP",
        Overlap(operation, first, second),
        {
            Verdict.PASS: {
                "first": [first_key],
                "second": [second_key],
                "first_ended": ["refused"],
                "second_stays": [second_key],
            }
        },
    )


ROWS = [
    overlap(WRITE, Part(LW | RW), Part(RR), "granted", "refused"),
    overlap(READ, Part(LW | RW), Part(RR), "refused", "granted"),
    overlap(WRITE, Part(ALL), Part(NONE), "granted", "refused"),
    # 64 bytes from 4096 on: in the second page of two, and not in the first alone.
    overlap(READ, Part(ALL, 0, 4096), Part(ALL, 4096, 4096), "refused", "granted"),
    overlap(READ, Part(ALL, 0, 4160), Part(ALL, 4096, 64), "granted", "granted"),
    overlap(READ, Part(ALL, 0, 4159), Part(ALL, 4097, 64), "refused", "refused"),
    Row(
        "REG-KEYS-DISTINCT",
        Crowd(3, 2, 10),
        {Verdict.PASS: {"errors": [[]], "regions": [60], "lkeys": [60], "rkeys": [60]}},
    ),
    Row("REG-CHURN", Churn(9), {Verdict.PASS: {"newest": ["SUCCESS"], "left": [[]]}}),
    Row(
        "REG-MAX",
        Limit(),
        {
            Verdict.PASS: [
                {"result": result, "again": ["OK"], "bystander": ["SUCCESS"], "left": [[]]}
                for result in (["ENOMEM", "ENOSPC", "EAGAIN", "EDQUOT"], ["OK"])
            ]
        },
        Capabilities({**CLAIMED.claims, "ipc_lock": "there"}),
    ),
    Row("REG-LISTED", Listed(77), {Verdict.PASS: {"listed": [[77]], "after": [[]]}}),
    Row("REG-FORK", Forked(10, 20), {Verdict.PASS: {"child": ["its own copy"]}}),
    Row("REG-REMAP", Remapped(64), {Verdict.PASS: {"old": ["old"], "new": ["new"]}}),
    Row("REG-REMAP", Remapped(64, True), {Verdict.PASS: {"old": ["new"]}}, PAGED),
]


@rows(ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)


def test_a_device_is_not_filled_under_a_limit_of_the_process():
    assert oracle.expect(Limit(), CLAIMED).unclaimed
    assert oracle.expect(Limit(), Capabilities({"unlimited_memlock": "no limit"})).outcomes


def test_on_demand_is_asked_where_it_is_claimed():
    assert oracle.expect(Remapped(64, on_demand=True), CLAIMED).unclaimed


@pytest.mark.parametrize("case", [Churn(1), Crowd(1, 1, 1), Limit()])
def test_much_work_gets_more_time(case):
    assert effort(case) > effort(Transfer(WRITE)) == 1
