"""Which pages does a registration count, and how often?"""

from conformance.memlock.programs import register, touch
from conformance.spec.buffer import HUGE_2M, Backing
from conformance.spec.memlock import About, Memlock, Step
from conformance.spec.vocabulary import PAGE, Access
from rdma_conformance.suite import asks

# length, offset in a page, pages touched
TOUCHED = (
    (1, 0, 1),
    (1, PAGE - 1, 1),
    (2, PAGE - 1, 2),
    (PAGE, 0, 1),
    (PAGE, 1, 2),
    (PAGE - 1, 1, 1),
    (PAGE + 1, 0, 2),
    (PAGE + 2, PAGE - 1, 3),
    (7 * PAGE, PAGE // 2, 8),
)
HUGE = Step(length=HUGE_2M, backing=Backing.HUGE_2M)
PART = Step(length=3 * PAGE, offset=HUGE_2M - PAGE, backing=Backing.HUGE_2M)


@asks(
    "MEM-PAGES",
    cases=[
        Memlock(
            About.PAGES,
            f"{length}@{offset}-limit:{limit}",
            limit * PAGE,
            (touch(length, offset),),
        )
        for length, offset, pages in TOUCHED
        for limit in (pages, pages - 1)
        if limit
    ],
)
def test_every_page_touched_and_none_more(case, verify):
    verify(case)


@asks(
    "MEM-PAGES",
    cases=[
        Memlock(About.PAGES, f"huge-limit:{limit}", limit * PAGE, (HUGE,)) for limit in (512, 511)
    ]
    + [
        Memlock(About.PAGES, f"part_of_huge-limit:{limit}", limit * PAGE, (PART,))
        for limit in (3, 2)
    ],
)
def test_a_huge_page_counts_by_its_size(case, verify):
    verify(case)


@asks(
    "MEM-COUNTED-AGAIN",
    cases=[
        Memlock(
            About.AGAIN,
            f"same_range-times:{times}",
            times * PAGE,
            (register(), *(register(same=True) for _ in range(times))),
        )
        for times in (1, 2, 5)
    ],
)
def test_the_same_page_counts_each_time(case, verify):
    verify(case)


@asks(
    "MEM-ON-DEMAND",
    cases=[
        Memlock(
            About.ON_DEMAND,
            f"on_demand-limit:{limit}",
            limit * PAGE,
            (
                register(16, access=Access.LOCAL_WRITE | Access.ON_DEMAND),
                register(limit),
                register(),
            ),
        )
        for limit in (1, 4)
    ],
)
def test_an_on_demand_region_counts_nothing(case, verify):
    verify(case)
