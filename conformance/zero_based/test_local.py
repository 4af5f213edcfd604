"""Are scatter and gather entries of such a region in terms of its iova, to the byte?"""

import pytest

from conformance.spec.buffer import Buffer, BufferRegistration, Verb
from conformance.spec.model import ALL_RIGHTS
from conformance.spec.vocabulary import PAGE, Access
from conformance.zero_based.iovas import IOVAS, LENGTH
from rdma_conformance.suite import asks


def registered(iova: int, length: int, offset: int = 0, access: int = ALL_RIGHTS):
    """A registration whose iova has the buffer's offset in a page."""
    return BufferRegistration(
        Buffer(length=length, offset=offset), access, Verb.REG_MR_IOVA, iova=iova + offset
    )


@asks(
    "ZB-LOCAL",
    cases=[
        registered(iova, length, offset, access)
        for iova in IOVAS
        for length, offset in ((LENGTH, 0), (1, PAGE - 1), (PAGE, 17))
        for access in (Access(0), ALL_RIGHTS)
    ],
)
def test_source_sink_and_edges(case, verify):
    verify(case)


@asks(
    "ZB-PAGE-OFFSET",
    cases=[
        BufferRegistration(
            Buffer(length=PAGE, offset=offset), ALL_RIGHTS, Verb.REG_MR_IOVA, iova=iova
        )
        for offset, iova in ((0, 1), (0, PAGE - 1), (1, 0), (100, PAGE + 64), (PAGE - 1, 1 << 32))
    ],
)
def test_another_offset_in_the_page(case, verify):
    verify(case)


@asks("ZB-WRAP", cases=[registered((1 << 64) - LENGTH, LENGTH)])
def test_iova_and_length_up_to_the_end_of_all_addresses(case, verify):
    verify(case)


# Drivers compute page sizes from such a sum, and mlx5 for one warns when there is none.
@pytest.mark.hazard
@asks(
    "ZB-WRAP",
    cases=[
        registered((1 << 64) - pages * PAGE, LENGTH, offset) for pages, offset in ((1, 0), (2, 1))
    ],
)
def test_iova_and_length_past_the_end_of_all_addresses(case, verify):
    verify(case)
