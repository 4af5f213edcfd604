"""Memory that is unmapped, replaced, discarded and protected under a registration."""

import ctypes
import mmap

from conformance.spec.model import PAGE
from rdma_conformance.endpoint.remappable import Remappable


def filled() -> Remappable:
    mapping = Remappable(PAGE)
    mapping.fill(b"\x11" * PAGE)
    mapping.remember()
    return mapping


def test_what_changes_is_seen():
    mapping = filled()
    assert mapping.seen() == []
    mapping.fill(b"\x22\x33", at=7)
    assert mapping.seen() == [[7, 2, "2233"]]
    assert mapping.bytes(6, 4) == b"\x11\x22\x33\x11"
    mapping.close()


def test_untouched_memory_is_zeros():
    mapping = Remappable(PAGE)
    assert mapping.bytes() == bytes(PAGE)
    mapping.close()


def test_other_memory_at_the_same_address():
    mapping = filled()
    mapping.map_over(b"\x44" * PAGE)
    assert ctypes.string_at(mapping.address, 4) == b"\x44" * 4
    mapping.close()


def test_discarded_pages_read_as_zeros():
    mapping = filled()
    mapping.discard()
    assert mapping.bytes() == bytes(PAGE)
    mapping.close()


def test_protected_memory_can_be_read():
    mapping = filled()
    mapping.protect(mmap.PROT_READ)
    assert mapping.bytes(0, 1) == b"\x11"
    mapping.close()


def test_unmapped_memory_shows_nothing_and_is_not_unmapped_again():
    mapping = filled()
    mapping.unmap()
    assert not mapping.mapped
    assert mapping.seen() == []
    # What somebody else maps there by now is not ours to unmap.
    other = Remappable(PAGE)
    mapping.close()
    assert other.bytes(0, 1) == b"\0"
    other.close()
