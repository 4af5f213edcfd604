"""What the documents say of pinned memory, row by row, against the oracle."""

import pytest

from conformance.memlock.programs import CLOSE, deregister, limit, register, touch
from conformance.spec import oracle
from conformance.spec.buffer import HUGE_2M, Backing
from conformance.spec.memlock import (
    About,
    Contention,
    Ending,
    LiveUnderLimit,
    Memlock,
    Step,
    Way,
    books,
)
from conformance.spec.model import Capabilities
from conformance.spec.vocabulary import PAGE, Verdict

from .golden import CLAIMED, LW, ODP, Row, agrees, rows

ROOM = Capabilities({**CLAIMED.claims, "memlock_room": "there"})

PAGED = LW | ODP
HOLE = Step(length=PAGE, backing=Backing.UNMAPPED)
HUGE = Step(length=HUGE_2M, backing=Backing.HUGE_2M)

# limit in bytes, capable, steps; what each returns, and kB pinned after it.
BOOKS = [
    (2 * PAGE, False, (register(2), register()), ["OK", "ENOMEM"], [8, 8]),
    (2 * PAGE, False, (register(3), register(2)), ["ENOMEM", "OK"], [0, 8]),
    (2 * PAGE - 1, False, (register(2), register()), ["ENOMEM", "OK"], [0, 4]),
    (2 * PAGE, False, (touch(2, PAGE - 1),), ["OK"], [8]),
    (PAGE, False, (touch(2, PAGE - 1),), ["ENOMEM"], [0]),
    (PAGE, False, (touch(PAGE, 1),), ["ENOMEM"], [0]),
    (PAGE, False, (touch(PAGE - 1, 1),), ["OK"], [4]),
    (2 * PAGE, False, (register(), register(same=True)), ["OK", "OK"], [4, 8]),
    (PAGE, False, (register(), register(same=True)), ["OK", "ENOMEM"], [4, 4]),
    (2 * PAGE, False, (register(2), deregister(0), register(2)), ["OK"] * 3, [8, 0, 8]),
    (PAGE, False, (HOLE, register()), ["EFAULT", "OK"], [0, 4]),
    (0, False, (register(),), ["EPERM"], [0]),
    (1, False, (register(),), ["ENOMEM"], [0]),
    (PAGE - 1, False, (register(),), ["ENOMEM"], [0]),
    (0, True, (register(64),), ["OK"], [256]),
    (None, False, (register(64),), ["OK"], [256]),
    (PAGE, False, (register(9, access=PAGED), register()), ["OK", "OK"], [0, 4]),
    (HUGE_2M, False, (HUGE,), ["OK"], [2048]),
    (HUGE_2M - PAGE, False, (HUGE,), ["ENOMEM"], [0]),
    (
        4 * PAGE,
        False,
        (register(3), limit(1), register(), limit(4), register()),
        ["OK", "OK", "ENOMEM", "OK", "OK"],
        [12, 12, 12, 12, 16],
    ),
    (2 * PAGE, False, (register(2), CLOSE, register(2)), ["OK"] * 3, [8, 0, 8]),
]


@pytest.mark.parametrize(("allowed", "capable", "steps", "results", "pinned"), BOOKS)
def test_the_books(allowed, capable, steps, results, pinned):
    assert books(Memlock(About.LIMIT, "row", allowed, steps, capable)) == (results, pinned)


@rows(
    [
        *(
            Row(
                about.value,
                Memlock(about, "row", 2 * PAGE, (register(2), register())),
                {
                    Verdict.PASS: {"results": [["OK", "ENOMEM"]], "pinned_kb": [[8, 8]]},
                    Verdict.NOTE: {"results": [["OK", "EFAULT"]], "pinned_kb": [[8, 8]]},
                },
                ROOM,
            )
            for about in About
        ),
        Row(
            About.TOO_LOW.value,
            Memlock(About.TOO_LOW, "row", 0, (register(),)),
            {
                Verdict.PASS: {"results": [["EPERM"]], "pinned_kb": [[0]]},
                Verdict.NOTE: {"results": [["ENOMEM"], ["EFAULT"]], "pinned_kb": [[0]]},
            },
            ROOM,
        ),
        Row(
            About.RETURNED.value,
            Memlock(About.RETURNED, "row", 2 * PAGE, (register(2), deregister(0), register(2))),
            {Verdict.PASS: {"results": [["OK"] * 3], "pinned_kb": [[8, 0, 8]]}},
            ROOM,
        ),
        Row(
            "MEM-CONTENTION",
            Contention(4, 6),
            {
                Verdict.PASS: {"filled": [6], "then": ["ENOMEM"], "left_kb": [0]},
                Verdict.NOTE: {"filled": [6], "then": ["EFAULT"], "left_kb": [0]},
            },
            ROOM,
        ),
        Row(
            "MEM-PROCESS-ENDS",
            Ending(Way.KILL, 5),
            {Verdict.PASS: {"listed": [5], "after": [0], "next": ["OK"]}},
            ROOM,
        ),
        Row(
            "MEM-LOWERED",
            LiveUnderLimit(PAGE),
            {
                Verdict.PASS: {"new": ["ENOMEM"], "write": ["SUCCESS"], "restored": ["OK"]},
                Verdict.NOTE: {"new": ["EFAULT"], "write": ["SUCCESS"], "restored": ["OK"]},
            },
            ROOM,
        ),
        Row(
            "MEM-LOWERED",
            LiveUnderLimit(0),
            {Verdict.PASS: {"new": ["EPERM"]}, Verdict.NOTE: {"new": ["ENOMEM", "EFAULT"]}},
            ROOM,
        ),
    ]
)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)


def test_what_a_case_needs_of_the_host_is_asked_first():
    for case in (
        Memlock(About.UNLIMITED, "row", PAGE, (register(),), capable=True),
        Memlock(About.UNLIMITED, "row", None, (register(),)),
        Memlock(About.PAGES, "row", HUGE_2M, (HUGE,)),
    ):
        assert oracle.expect(case, ROOM).unclaimed
    assert oracle.expect(Ending(Way.KILL, 5), CLAIMED).unclaimed
