"""Are the first and the last byte of a region exact for its owner's own work requests?"""

from dataclasses import replace

import pytest

from conformance.local.lists import FAR, NEAR_THE_TOP, edges, one_of_three, placed
from conformance.remote.operations import READ, SEND, WITH_BUFFER, WRITE, in_both_topologies
from conformance.spec.model import PAGE, Key, Segment
from rdma_conformance.suite import asks


@asks(
    "LOC-RANGE",
    cases=in_both_topologies(
        replace(operation, local=region, local_sgl=(Segment(operation.length, offset),))
        for operation in WITH_BUFFER
        for region in placed()
        for offset in edges(operation.length, region)
    ),
)
def test_the_ends_of_a_region(case, verify):
    verify(case)


@asks(
    "LOC-RANGE",
    cases=[
        replace(operation, local_sgl=segments)
        for operation in (SEND, WRITE, READ)
        for offset in (-8, PAGE - 8, FAR)
        for segments in one_of_three(Segment(0, offset))
    ],
)
def test_one_of_three_entries(case, verify):
    verify(case)


@asks(
    "LOC-RANGE",
    cases=[
        # The local region ends before the message does: what fits may have gone out by then.
        replace(
            operation,
            length=length,
            remote=replace(operation.remote, length=16384),
            receive=replace(operation.receive, length=16384),
        )
        for operation in (SEND, WRITE, READ)
        for length in (PAGE + 1, 2 * PAGE, 3 * PAGE + 1)
    ],
)
def test_messages_of_several_packets(case, verify):
    verify(case)


@asks(
    "LOC-RANGE",
    cases=[
        replace(operation, local_sgl=segments)
        for operation in (SEND, WRITE, READ)
        for segments in (
            (Segment(32, PAGE - 32), Segment(32, PAGE, Key.NEIGHBOUR)),  # one in each region
            (Segment(8, PAGE, Key.NEIGHBOUR), Segment(56, PAGE - 28)),
            (Segment(8, PAGE - 8), Segment(56, PAGE - 28, Key.NEIGHBOUR)),
            (Segment(64, PAGE - 64, Key.NEIGHBOUR),),
        )
    ],
)
def test_two_regions_side_by_side(case, verify):
    verify(case)


# A sum that wraps has passed the bounds of drivers before (rxe of old kernels): the device would
# then read or write whatever lies there.
@pytest.mark.hazard
@asks(
    "LOC-RANGE",
    cases=[
        replace(operation, local_sgl=(Segment(operation.length, address=address),))
        for operation in WITH_BUFFER
        for address in (0, NEAR_THE_TOP if operation.length > 32 else NEAR_THE_TOP + 28)
    ],
)
def test_over_the_end_of_the_address_space(case, verify):
    verify(case)
