"""The suite's own books of what it has open."""

import pytest

from conformance.spec.vocabulary import Access
from rdma_conformance.endpoint.books import DOMAIN, QUEUE_PAIR, REGION, Books

LW = Access.LOCAL_WRITE


@pytest.mark.parametrize(
    ("address", "length", "access", "pinned_kb"),
    [
        (0x10000, 4096, LW, 4),
        (0x10000, 1, LW, 4),
        (0x10FFF, 2, LW, 8),
        (0x10001, 4096, LW, 8),
        (0x10000, 1 << 20, LW, 1024),
        (0x10000, 4096, LW | Access.ON_DEMAND, 0),
    ],
)
def test_a_region_pins_the_pages_that_it_touches(address, length, access, pinned_kb):
    books, region = Books(), object()
    books.region(region, (address, length, access))
    assert (books.counts[REGION], books.pinned_kb) == (1, pinned_kb)
    books.closed(region)
    assert (books.counts[REGION], books.pinned_kb) == (0, 0)
    assert books.turnover == 0


def test_what_else_pins_is_measured():
    pinned = [100]
    books, queue_pair = Books(lambda: pinned[0]), object()
    with books.opening(QUEUE_PAIR) as opened:
        pinned[0] += 8
        opened(queue_pair)
    assert (books.pinned_kb, books.pins_queues, books.turnover) == (8, True, 1)
    books.closed(queue_pair)
    assert (books.pinned_kb, books.turnover) == (0, 2)


def test_a_call_that_fails_makes_nothing():
    books = Books()
    with pytest.raises(OSError), books.opening(DOMAIN):
        raise OSError
    assert not books.counts


def test_what_a_driver_does_not_take_back_is_open_by_no_fault_of_the_suite():
    books, domain = Books(), object()
    books.opened(DOMAIN, domain)
    for _ in range(2):
        with pytest.raises(OSError), books.closing(domain):
            raise OSError
    assert (books.counts[DOMAIN], books.refused[DOMAIN]) == (1, 1)
    with books.closing(domain):
        pass
    assert (books.counts[DOMAIN], books.refused[DOMAIN]) == (0, 0)


def test_what_a_library_maps_is_seen_at_the_first_of_a_sort():
    mapped = [10]
    books = Books(mapped=lambda: mapped[0])
    first, second = object(), object()
    with books.opening(QUEUE_PAIR, "rc") as opened:
        mapped[0] += 2
        opened(first)
    with books.opening(QUEUE_PAIR, "rc") as opened:
        mapped[0] += 5  # not looked at
        opened(second)
    assert (books.maps, books.maps_of_sorts()) == ({"rc": 2}, 4)
    books.closed(first)
    books.ended_without_library(second)
    assert (books.counts[QUEUE_PAIR], books.maps_of_sorts()) == (0, 2)


def test_a_region_that_moves_pins_other_pages():
    pinned = [4]
    books, region = Books(lambda: pinned[0]), object()
    books.region(region, (0x10000, 1, LW))
    with books.changing(region):
        pinned[0] = 12
    assert books.pinned_kb == 12


def test_what_no_library_knows_goes_by_its_handle():
    books = Books()
    books.region(None, (0, 1, LW), key=(3, REGION, 7))
    books.closed((3, REGION, 8))  # a handle that the kernel took for nothing of ours
    assert books.counts[REGION] == 1
    books.closed((3, REGION, 7))
    assert books.counts[REGION] == 0
