"""Does everything that ends give back exactly what it took?"""

from conformance.memlock.programs import CLOSE, deregister, limit, register, touch
from conformance.spec.buffer import Backing
from conformance.spec.memlock import About, Contention, Ending, LiveUnderLimit, Memlock, Step, Way
from conformance.spec.vocabulary import PAGE
from rdma_conformance.suite import asks

UNMAPPED = Step(length=4 * PAGE, backing=Backing.UNMAPPED)


@asks(
    "MEM-RETURNED",
    cases=[
        Memlock(
            About.RETURNED,
            "deregistered_in_another_order",
            32 * PAGE,
            (
                register(),
                touch(3 * PAGE, 17),
                touch(2, PAGE - 1),
                register(7),
                deregister(1),
                deregister(3),
                deregister(0),
                deregister(2),
                register(32),
            ),
        ),
        Memlock(
            About.RETURNED,
            "failures",
            4 * PAGE,
            (*(UNMAPPED for _ in range(50)), *(register(5) for _ in range(50)), register(4)),
        ),
        Memlock(
            About.RETURNED,
            "closed_without_deregistration",
            8 * PAGE,
            (register(), register(3), register(4), CLOSE, register(8)),
        ),
    ],
)
def test_what_was_taken_comes_back(case, verify):
    verify(case)


@asks(
    "MEM-LOWERED",
    cases=[
        Memlock(
            About.LOWERED,
            f"from:{high}-to:{low}",
            high * PAGE,
            (
                register(high // 2),
                limit(low),
                register(),
                deregister(0),
                register(low),
                register(),
                limit(high),
                register(high - low),
                register(),
            ),
        )
        for high, low in ((8, 2), (64, 1))
    ],
)
def test_a_limit_that_is_lowered_and_raised(case, verify):
    verify(case)


@asks("MEM-LOWERED", cases=[LiveUnderLimit(PAGE)])
def test_a_live_region_under_a_lower_limit(case, verify):
    verify(case)


@asks("MEM-CONTENTION", cases=[Contention(2, 3), Contention(4, 16), Contention(8, 5)])
def test_threads_at_the_limit(case, verify):
    verify(case)


@asks(
    "MEM-PROCESS-ENDS",
    cases=[Ending(way, regions) for way in Way for regions in (1, 64)],
)
def test_a_process_that_ends_with_live_regions(case, verify):
    verify(case)
