"""Does a SEND reach exactly the memory that its receiver posted and may write?"""

from dataclasses import replace

from conformance.local.lists import FAR, edges, one_of_three, placed, wrong_keys
from conformance.remote.operations import SEND, in_both_topologies
from conformance.spec.model import PAGE, Key, Region, Segment
from conformance.spec.vocabulary import Access, Transport
from rdma_conformance.suite import asks

# The responder's queue: its own and a shared one of RC, and its own of the unreliable transport.
QUEUES = (SEND, replace(SEND, shared=True), replace(SEND, transport=Transport.UC))


@asks(
    "RECV-KEY",
    cases=in_both_topologies(
        replace(send, receive_sgl=(segment,))
        for send in QUEUES
        for segment in wrong_keys(send.length)
    ),
)
def test_another_key(case, verify):
    verify(case)


@asks(
    "RECV-DOMAIN",
    cases=in_both_topologies(
        replace(send, receive_sgl=(Segment(send.length, key=Key.OTHER_DOMAIN),)) for send in QUEUES
    ),
)
def test_a_region_of_another_protection_domain(case, verify):
    verify(case)


@asks(
    "RECV-RANGE",
    cases=[
        replace(send, receive=region, receive_sgl=(Segment(send.length, offset),))
        for send in QUEUES
        for region in placed()
        for offset in edges(send.length, region)
    ],
)
def test_the_ends_of_a_region(case, verify):
    verify(case)


@asks(
    "RECV-KEY",
    "RECV-DOMAIN",
    "RECV-RIGHT",
    "RECV-RANGE",
    cases=[
        replace(send, receive_sgl=segments)
        for send in QUEUES
        for fault in (
            Segment(0, key=Key.ZERO),
            Segment(0, key=Key.DEREGISTERED),
            Segment(0, key=Key.OTHER_DOMAIN),
            Segment(0, key=Key.NO_RIGHTS),
            Segment(0, -8),
            Segment(0, PAGE - 8),
            Segment(0, FAR),
        )
        for segments in one_of_three(fault)
    ],
)
def test_one_of_three_entries(case, verify):
    verify(case)


@asks(
    "RECV-RANGE",
    cases=[
        replace(send, receive_sgl=segments)
        for send in QUEUES
        for segments in (
            (Segment(32, PAGE - 32), Segment(32, PAGE, Key.NEIGHBOUR)),  # one in each region
            (Segment(8, PAGE, Key.NEIGHBOUR), Segment(56, PAGE - 28)),
            (Segment(64, PAGE - 64, Key.NEIGHBOUR),),
        )
    ],
)
def test_two_regions_side_by_side(case, verify):
    verify(case)


@asks(
    "RECV-RANGE",
    cases=[
        # The receive claims more than the region behind it has, and the message comes to that.
        replace(
            send,
            length=length,
            local=Region(Access.LOCAL_WRITE, 4 * PAGE),
            receive=Region(Access.LOCAL_WRITE, length - 1),
            receive_sgl=(Segment(length),),
        )
        for send in QUEUES
        for length in (2, 64, 1025, 4097, 2 * PAGE)
    ],
)
def test_longer_than_the_region_behind_the_receive(case, verify):
    verify(case)


@asks(
    "RECV-LENGTH",
    cases=[
        replace(
            send, length=length, local=Region(Access.LOCAL_WRITE, 4 * PAGE), receive_sgl=segments
        )
        for send in QUEUES
        for length, segments in (
            (1, (Segment(0),)),
            (64, (Segment(63),)),
            (64, (Segment(1),)),
            (64, (Segment(32), Segment(31, 100))),
            (1025, (Segment(1024),)),
            (4097, (Segment(PAGE),)),
            (3 * PAGE, (Segment(256),)),
        )
    ],
)
def test_longer_than_the_receive(case, verify):
    verify(case)
