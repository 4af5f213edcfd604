"""Does memory of every kind register, and carry its data to the first and the last byte?"""

from conformance.spec.buffer import HUGE_1G, HUGE_2M, Backing, Buffer, BufferRegistration
from conformance.spec.model import ALL_RIGHTS
from conformance.spec.vocabulary import PAGE, Access
from rdma_conformance.suite import asks

RIGHTS = (Access(0), Access.LOCAL_WRITE, ALL_RIGHTS)
MEMORY = (
    Backing.ANONYMOUS,
    Backing.MEMFD,
    Backing.SHARED_MEMORY,
    Backing.PRIVATE_FILE,
    Backing.SHARED_FILE,
    Backing.TRANSPARENT_HUGE,
)
# length and offset: every byte of a page's edges, one page, across two, across many.
PLACES = (
    (1, 0),
    (1, 1),
    (1, PAGE - 1),
    (2, PAGE - 1),
    (7, 13),
    (PAGE - 1, 0),
    (PAGE - 1, 1),
    (PAGE, 1),
    (PAGE, PAGE - 1),
    (PAGE + 1, 0),
    (PAGE + 2, PAGE - 1),
    (3 * PAGE, 0),
    (3 * PAGE - 2, 1),
    (3 * PAGE + 2, PAGE - 1),
    (64 * PAGE + 5, 3),
)
# Within a huge page, up to its edge, across the edge, a whole one, and more than one.
HUGE_PLACES = (
    (PAGE, 0),
    (100, HUGE_2M - 100),
    (200, HUGE_2M - 100),
    (HUGE_2M, 0),
    (HUGE_2M, PAGE + 1),
)


@asks(
    "REG-BUFFER",
    cases=[BufferRegistration(Buffer(backing), access) for backing in MEMORY for access in RIGHTS],
)
def test_memory_of_every_kind(case, verify):
    verify(case)


@asks(
    "REG-BUFFER",
    cases=[
        BufferRegistration(Buffer(length=length, offset=offset), access)
        for length, offset in PLACES
        for access in RIGHTS
    ],
)
def test_from_any_byte_to_any_byte(case, verify):
    verify(case)


@asks(
    "REG-BUFFER",
    cases=[
        BufferRegistration(
            Buffer(length=length, offset=offset), Access.LOCAL_WRITE | Access.ON_DEMAND
        )
        for length, offset in ((64, 0), (64, 100), (200, PAGE - 96))
    ],
)
def test_on_demand(case, verify):
    verify(case)


@asks(
    "REG-BUFFER",
    cases=[
        BufferRegistration(Buffer(backing, length, offset), ALL_RIGHTS)
        for backing in (Backing.HUGE_2M, Backing.TRANSPARENT_HUGE)
        for length, offset in HUGE_PLACES
    ]
    + [BufferRegistration(Buffer(Backing.HUGE_1G, 200, HUGE_1G - 100), ALL_RIGHTS)],
)
def test_huge_pages(case, verify):
    verify(case)
