"""Netlink messages as the kernel sends them, taken apart."""

import errno
import os
import struct
from unittest.mock import MagicMock

import pytest

from rdma_conformance.endpoint import restrack


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def region(length: int, pid: int | None) -> bytes:
    """An entry of a region; one of the kernel's own has a name in place of a process."""
    owner = attribute(29, b"ib_core\0") if pid is None else attribute(28, struct.pack("=I", pid))
    return attribute(41, attribute(45, struct.pack("=Q", length)) + owner)


def message(kind: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, 2, 1, 0) + body + bytes(-len(body) % 4)


def played(monkeypatch, *messages):
    """A kernel that answers every request with these messages."""

    channel = MagicMock()
    channel.__enter__.return_value.recv.side_effect = messages
    monkeypatch.setattr(restrack.socket, "socket", lambda *_: channel)


def done(code: int) -> bytes:
    return message(3, struct.pack("=i", code))


DEVICE = attribute(1, struct.pack("=I", 3)) + attribute(2, b"rxe0\0")
MR = 40


def test_the_regions_of_processes(monkeypatch):
    table = region(4096, 7) + region(1 << 40, None) + region(100, 8)
    lists = opened(monkeypatch)

    def again():
        played(monkeypatch, message(0x140D, DEVICE + attribute(MR, table)) * 2, done(0))
        return lists

    assert again().lengths(7) == [4096, 4096]
    assert again().lengths(8) == [100, 100]
    assert again().lengths(9) == []
    assert again().among("mr", {7, 9}) == 2


@pytest.mark.parametrize(
    "sent",
    [b"", message(0x140D, DEVICE + attribute(MR, region(1, 7)))],
    ids=["at once", "after some"],
)
def test_a_list_that_the_kernel_breaks_off_is_no_list(monkeypatch, sent):
    lists = opened(monkeypatch)
    for read in (lambda: lists.own("mr"), lambda: lists.among("mr", {7}), lists.lengths):
        played(monkeypatch, sent + done(-errno.EINVAL))
        with pytest.raises(OSError, match="broken off: Invalid argument") as raised:
            read()
        assert raised.value.errno == errno.EINVAL


def test_a_list_that_is_broken_off_is_not_one_that_an_older_kernel_lacks(monkeypatch):
    def dump(command, attributes=b""):
        if command == restrack.CMD_GET:
            yield DEVICE
        else:
            restrack._check_whole_list(struct.pack("=i", -errno.EINVAL))

    monkeypatch.setattr(restrack, "_dump", dump)
    with pytest.raises(restrack.BrokenOff):
        restrack.holdings("rxe0", {7})


def test_the_end_of_a_list_may_say_nothing(monkeypatch):
    lists = opened(monkeypatch)
    played(monkeypatch, message(3, b""))
    assert lists.lengths() == []


def opened(monkeypatch):
    played(monkeypatch, message(0x1401, DEVICE), done(0))
    return restrack.ResourceLists(["rxe0"])


def test_what_a_device_has_in_numbers():
    entries = b"".join(
        attribute(16, attribute(17, name) + attribute(18, struct.pack("=Q", number)))
        for name, number in ((b"pd\0", 6), (b"mr\0", 93))
    )
    body = attribute(1, struct.pack("=I", 3)) + attribute(2, b"rxe0\0") + attribute(15, entries)
    assert restrack._summary(body * 2) == {"pd": 12, "mr": 186}


def test_the_entries_of_this_process_are_counted():
    table = region(4096, os.getpid()) + region(1, None) + region(9, os.getpid() + 1)
    assert restrack._owned(attribute(40, table * 2)) == 2


def test_several_messages_in_one():
    data = message(0x140D, b"one!") + message(3, struct.pack("=i", 0))
    assert list(restrack._messages(data)) == [(0x140D, b"one!"), (3, bytes(4))]


def test_a_nested_flag_is_not_part_of_the_kind():
    assert list(restrack._attributes(attribute(40 | 0x8000, b""))) == [(40, b"")]


def test_what_nobody_has_any_more_is_left_and_what_others_have_is_not():
    owners = [attribute(28, struct.pack("=I", pid)) for pid in (7, 8)]
    kernel, dead = attribute(29, b"ib_core\0"), attribute(43, b"1234")
    table = b"".join(attribute(47, each) for each in (*owners, kernel, dead))
    body = attribute(2, b"rxe0\0") + attribute(46, table) + attribute(40, region(1, 9))
    assert [pid for pid, _ in restrack._owners(body, 46)] == [7, 8, None]


def test_a_kind_that_the_kernel_does_not_list_is_left_out(monkeypatch):
    body = attribute(46, attribute(47, attribute(28, struct.pack("=I", 7))))

    def dump(command, attributes=b""):
        if command == restrack.CMD_GET:
            yield attribute(1, struct.pack("=I", 3)) + attribute(2, b"rxe0\0")
        elif command == restrack.KINDS["pd"][0]:
            yield body * 2
        else:
            raise OSError(errno.EINVAL, "unknown")

    monkeypatch.setattr(restrack, "_dump", dump)
    assert restrack.holdings("rxe0", {7}) == {"pd": 2}
    assert restrack.holdings("rxe0", {8}) == {"pd": 0}
