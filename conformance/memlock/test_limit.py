"""Does a process without CAP_IPC_LOCK pin as many pages as its limit says, and not one more?"""

from conformance.memlock.programs import deregister, register
from conformance.spec.memlock import About, Memlock
from conformance.spec.vocabulary import PAGE
from rdma_conformance.suite import asks

SIZES = (1, 2, 8, 64)


@asks(
    "MEM-LIMIT",
    cases=[
        Memlock(
            About.LIMIT,
            f"one_region-pages:{pages}",
            pages * PAGE,
            (register(pages), deregister(0), register(pages + 1), register(pages), register()),
        )
        for pages in SIZES
    ]
    + [
        Memlock(
            About.LIMIT,
            f"many_regions-pages:{pages}",
            pages * PAGE,
            (*(register() for _ in range(pages + 1)), deregister(0), register(), register()),
        )
        for pages in SIZES
    ],
)
def test_as_many_pages_as_the_limit(case, verify):
    verify(case)


@asks(
    "MEM-LIMIT",
    cases=[
        Memlock(About.LIMIT, f"part_of_a_page-bytes:{limit}", limit, (register(2), register()))
        for limit in (2 * PAGE - 1, PAGE + 1)
    ],
)
def test_a_part_of_a_page_in_the_limit_is_none(case, verify):
    verify(case)


@asks(
    "MEM-TOO-LOW",
    cases=[
        Memlock(About.TOO_LOW, f"limit:{limit}", limit, (register(), register(3), register()))
        for limit in (0, 1, PAGE - 1)
    ],
)
def test_a_limit_below_a_page(case, verify):
    verify(case)


@asks(
    "MEM-UNLIMITED",
    cases=[
        Memlock(About.UNLIMITED, "capable", PAGE, (register(64), register(64)), capable=True),
        Memlock(About.UNLIMITED, "capable-limit:0", 0, (register(), register(2)), capable=True),
        Memlock(About.UNLIMITED, "no_limit", None, (register(64), register(64))),
    ],
)
def test_who_is_not_limited(case, verify):
    verify(case)
