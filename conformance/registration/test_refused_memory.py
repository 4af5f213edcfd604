"""Is what can't be pinned refused with the right errno, and is nothing left of the attempt?"""

from conformance.spec.buffer import OVER_LIMIT, Backing, Buffer, BufferRegistration
from conformance.spec.model import ALL_RIGHTS
from conformance.spec.pinning import READ_ONLY, UNPINNABLE
from conformance.spec.vocabulary import PAGE, Access
from rdma_conformance.suite import asks

RIGHTS = (Access(0), Access.LOCAL_WRITE, Access.REMOTE_READ, ALL_RIGHTS)
HOLES = (0, 1, 3)  # of four pages: at the start, in the middle, at the end
WRAPPING = ((1 << 64) - PAGE, (1 << 64) - 1)
TOO_LONG = (1 << 40, 1 << 47, 1 << 50, 1 << 63, OVER_LIMIT)
UNWRITABLE = sorted(READ_ONLY)


@asks(
    "REG-UNMAPPED",
    cases=[
        BufferRegistration(Buffer(backing), access)
        for backing in sorted(UNPINNABLE)
        for access in RIGHTS
    ],
)
def test_what_is_no_memory(case, verify):
    verify(case)


@asks(
    "REG-UNMAPPED",
    cases=[
        BufferRegistration(Buffer(backing, 4 * PAGE - 20, 10, hole), access)
        for backing in (Backing.ANONYMOUS, Backing.MEMFD, Backing.HUGE_2M)
        for hole in (HOLES if backing is not Backing.HUGE_2M else (0,))
        for access in RIGHTS
    ],
)
def test_a_hole(case, verify):
    verify(case)


@asks(
    "REG-READ-ONLY",
    cases=[
        BufferRegistration(Buffer(backing), access)
        for backing in UNWRITABLE
        for access in (*RIGHTS, Access.MW_BIND)
    ],
)
def test_memory_that_the_process_may_not_write(case, verify):
    verify(case)


@asks(
    "REG-OVERFLOW",
    cases=[
        *(
            BufferRegistration(Buffer(length=length, offset=offset), access)
            for length in (*WRAPPING, *TOO_LONG)
            for offset in (0, 1)
            for access in (Access(0), ALL_RIGHTS)
        ),
        *(
            BufferRegistration(Buffer(Backing.TOP, length), Access.LOCAL_WRITE)
            for length in (1, PAGE - 1, PAGE, 2 * PAGE)
        ),
    ],
)
def test_more_than_there_are_addresses(case, verify):
    verify(case)


@asks(
    "REG-ZERO-LENGTH",
    cases=[
        BufferRegistration(Buffer(backing, 0, offset), access)
        for backing, offset in (
            (Backing.ANONYMOUS, 0),
            (Backing.ANONYMOUS, 1),
            (Backing.ANONYMOUS, PAGE - 1),
            (Backing.NULL, 0),
        )
        for access in (Access(0), ALL_RIGHTS)
    ],
)
def test_no_byte_at_all(case, verify):
    verify(case)


@asks(
    "REG-FAILURE-LEAVES-NOTHING",
    cases=[
        BufferRegistration(buffer, access, times=1000)
        for buffer, access in (
            (Buffer(Backing.NULL), Access.LOCAL_WRITE),
            (Buffer(Backing.UNMAPPED), Access.LOCAL_WRITE),
            (Buffer(Backing.NO_ACCESS), Access.LOCAL_WRITE),
            (Buffer(Backing.KERNEL), Access.LOCAL_WRITE),
            (Buffer(Backing.DEVICE), Access.LOCAL_WRITE),
            (Buffer(Backing.READ_ONLY), ALL_RIGHTS),
            (Buffer(Backing.TOP), Access.LOCAL_WRITE),
            (Buffer(length=4 * PAGE, hole=0), Access.LOCAL_WRITE),
            (Buffer(length=4 * PAGE, hole=3), Access.LOCAL_WRITE),
            (Buffer(length=(1 << 64) - PAGE), Access.LOCAL_WRITE),
            (Buffer(length=1 << 63), Access.LOCAL_WRITE),
        )
    ],
)
def test_a_thousand_failures(case, verify):
    verify(case)
