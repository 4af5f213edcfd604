"""Memory of every kind that this host has: its place, its content, its holes."""

import ctypes
from pathlib import Path

import pytest

from conformance.spec.buffer import Backing
from conformance.spec.vocabulary import PAGE
from rdma_conformance.endpoint.mappings import Mapping, unit

READABLE = (
    Backing.ANONYMOUS,
    Backing.MEMFD,
    Backing.SHARED_MEMORY,
    Backing.PRIVATE_FILE,
    Backing.SHARED_FILE,
    Backing.TRANSPARENT_HUGE,
    Backing.READ_ONLY,
    Backing.READ_ONLY_PRIVATE_FILE,
    Backing.READ_ONLY_SHARED_FILE,
)


def rights(address: int) -> str:
    """The rights of the mapping at an address, as /proc/self/maps has them; "" if there is none."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, found, *_ = line.split()
        first, _, end = place.partition("-")
        if int(first, 16) <= address < int(end, 16):
            return found
    return ""


@pytest.mark.parametrize("backing", READABLE)
def test_it_holds_its_content_with_its_rights(backing):
    mapping = Mapping(backing, 3 * PAGE, b"content")
    assert mapping.address % PAGE == 0
    assert ctypes.string_at(mapping.address, 8) == b"content\0"
    assert ("w" in rights(mapping.address)) is not backing.startswith("read_only")
    assert ("s" in rights(mapping.address)) is (
        backing
        in (
            Backing.MEMFD,
            Backing.SHARED_MEMORY,
            Backing.SHARED_FILE,
            Backing.READ_ONLY_SHARED_FILE,
        )
    )
    mapping.close()


def test_what_may_not_be_read_is_mapped_all_the_same():
    mapping = Mapping(Backing.NO_ACCESS, PAGE, b"content")
    assert rights(mapping.address) == "---p"
    mapping.close()


def test_what_is_unmapped_is_not_there():
    assert rights(Mapping(Backing.UNMAPPED, 64 * PAGE, b"").address) == ""


def test_a_hole_lies_where_it_was_made():
    mapping = Mapping(Backing.ANONYMOUS, 3 * PAGE, b"")
    mapping.unmap(mapping.address + PAGE, PAGE)
    assert [rights(mapping.address + at * PAGE) for at in range(3)] == ["rw-p", "", "rw-p"]
    mapping.close()
    assert rights(mapping.address) == ""


def test_renewed_memory_is_fresh_and_at_its_address():
    mapping = Mapping(Backing.ANONYMOUS, 2 * PAGE, b"content")
    mapping.renew()
    assert ctypes.string_at(mapping.address, 8) == bytes(8)
    mapping.close()


def test_nothing_stays_mapped_or_open():
    maps, files = Path("/proc/self/maps"), Path("/proc/self/fd")
    before = [len(maps.read_text().splitlines()), len(list(files.iterdir()))]
    for backing in READABLE:
        Mapping(backing, 3 * PAGE, b"content").close()
    assert [len(maps.read_text().splitlines()), len(list(files.iterdir()))] == before


def test_the_unit_of_huge_pages():
    assert (unit("anonymous"), unit("huge_2m"), unit("huge_1g")) == (4096, 1 << 21, 1 << 30)


def test_memory_that_is_not_to_be_had_is_an_error():
    with pytest.raises(OSError, match="mmap: "):
        Mapping(Backing.ANONYMOUS, 1 << 60, b"")
