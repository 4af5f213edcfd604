"""The suite's own memory: guards on both sides, and every change is seen."""

import pytest

from conformance.spec.memory import changes, image
from conformance.spec.model import GUARD, PAGE
from rdma_conformance.endpoint.accounting import PinnedMemory
from rdma_conformance.endpoint.arena import Area


@pytest.mark.parametrize("page_offset", [0, 1, 4000])
def test_changes_are_counted_from_the_first_byte(page_offset):
    area = Area(100, page_offset)
    assert area.address % PAGE == page_offset
    area.fill(image(1, "region", 100))
    assert area.changes() == []
    for offset in (-GUARD, -1, 0, 99, 100, 100 + GUARD - 1):
        area.flip(offset)
        changed = area.bytes_at(offset, 1).hex()
        assert area.changes() == [[offset, 1, changed]]
        area.flip(offset)
    area.close()


def test_images_tell_a_written_byte_from_one_that_was_not():
    assert max(image(1, "region", 1000)) < 0x80 <= min(image(1, "local", 1000))
    assert len(image(1, "region", 1000)) == 1000 + 2 * GUARD


def test_runs_of_change():
    before = bytes(1000)
    after = bytearray(before)
    after[10:12] = b"\n\xff"
    after[500:600] = b"x" * 100
    first, second = changes(before, bytes(after), 10)
    assert first == [0, 2, "0aff"]
    assert second[:2] == [490, 100]
    assert second[2].startswith("sha256:")


def test_images_of_two_lengths_are_not_compared():
    with pytest.raises(ValueError, match="3 and 4 bytes"):
        changes(b"abc", b"abcd", 0)


def test_pinned_memory_is_read():
    pinned = PinnedMemory()
    assert pinned.kilobytes() >= 0
    pinned.close()
