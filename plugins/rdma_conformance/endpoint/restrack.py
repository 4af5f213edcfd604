"""The kernel's own lists of what is open on a device (`rdma resource show`), read over netlink.

iproute2's `rdma` reads the same, but starting it costs more than a case.
Numbers are those of include/uapi/rdma/rdma_netlink.h, which never change.
"""

import errno
import os
import socket
import struct
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager

NETLINK_RDMA = 20
NLDEV = 5 << 10  # RDMA_NL_NLDEV, in the upper bits of a message's type
CMD_GET, CMD_RES_GET = 1, 9
ATTR_DEV_INDEX, ATTR_DEV_NAME, ATTR_RES_PID, ATTR_RES_MRLEN = 1, 2, 28, 45
ATTR_SUMMARY, ATTR_SUMMARY_NAME, ATTR_SUMMARY_NUMBER = 15, 17, 18

ATTR_RES_KERN_NAME = 29
# What a process can have on a device: the command that lists it, and the attribute of the list.
KINDS = {"ctx": (22, 86), "pd": (14, 46), "mr": (13, 40), "cq": (12, 35), "qp": (10, 19)}
KINDS["srq"] = (23, 88)

NLM_F_REQUEST, NLM_F_DUMP = 1, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
_HEADER = struct.Struct("=IHHII")
_LARGEST = 1 << 16

Entry = dict[int, bytes]  # an object's attributes by their numbers


class BrokenOff(OSError):
    """The kernel ended a list before its end."""


class ResourceLists:
    """What is open on some devices as the kernel tracks it, over all of them.

    Kinds are those of `KINDS`. Whatever reads raises OSError when the kernel does not tell.
    """

    def __init__(self, devices: Iterable[str]):
        self._selectors = [_selector(_device_index(device)) for device in set(devices)]
        self._told = b""
        self._everyone: Counter[str] = Counter()

    def everyone(self) -> Counter[str]:
        """How many objects there are, whoever has them: a message a device."""
        told = b"".join(
            body
            for selector in self._selectors
            for body in _ask(CMD_RES_GET, selector, NLM_F_REQUEST)
        )
        if told != self._told:  # to take it apart costs more than to ask for it
            self._told, self._everyone = told, _summary(told)
        return self._everyone

    def own(self, kind: str) -> int:
        """How many objects of a kind this process has, at a tenth of the cost of `among`."""
        return sum(map(_owned, self._bodies(kind)))

    def among(self, kind: str, pids: Container[int]) -> int:
        """How many objects of a kind processes of `pids` have, or nobody any more.

        What is the kernel's own, or another living process's, is left out.
        """
        return sum(pid is None or pid in pids for pid, _ in self._entries(kind))

    def lengths(self, pid: int | None = None) -> list[int]:
        """Lengths in bytes of the regions of a process (this one), in ascending order."""
        owner = os.getpid() if pid is None else pid
        return sorted(_length(entry) for each, entry in self._entries("mr") if each == owner)

    def _bodies(self, kind: str) -> Iterator[bytes]:
        for selector in self._selectors:
            yield from _dump(KINDS[kind][0], selector)

    def _entries(self, kind: str) -> Iterator[tuple[int | None, Entry]]:
        for body in self._bodies(kind):
            yield from _owners(body, KINDS[kind][1])


def holdings(device: str, pids: Container[int]) -> dict[str, int]:
    """`ResourceLists.among` by kind, without those kinds that an older kernel does not list."""
    lists, found = ResourceLists([device]), {}
    for kind in KINDS:
        with _if_known():
            found[kind] = lists.among(kind, pids)
    return found


@contextmanager
def _if_known() -> Iterator[None]:
    """Pass over a command that this kernel does not know."""
    try:
        yield
    except OSError as error:
        unknown = error.errno in (errno.EINVAL, errno.EOPNOTSUPP)
        if isinstance(error, BrokenOff) or not unknown:
            raise


def _device_index(device: str) -> int:
    """The number by which netlink knows a device."""
    for body in _dump(CMD_GET):
        found = dict(_attributes(body))
        if found[ATTR_DEV_NAME].rstrip(b"\0").decode() == device:
            return int(struct.unpack("=I", found[ATTR_DEV_INDEX])[0])
    raise OSError(errno.ENODEV, f"rdma netlink knows no device {device}")


def _selector(index: int) -> bytes:
    return struct.pack("=HHI", 8, ATTR_DEV_INDEX, index)


def _owned(body: bytes) -> int:
    """How many entries of a list are this process's.

    An entry holds the process's number once, as this attribute; the only other one that long
    is a length, which would have to be more than 2^32 times as many bytes to look like it.
    """
    return body.count(struct.pack("=HHI", 8, ATTR_RES_PID, os.getpid()))


def _dump(command: int, attributes: bytes = b"") -> Iterator[bytes]:
    """The bodies of all messages that answer `command`. Raises OSError when it is refused."""
    return _ask(command, attributes, NLM_F_REQUEST | NLM_F_DUMP)


def _ask(command: int, attributes: bytes, flags: int) -> Iterator[bytes]:
    size = _HEADER.size + len(attributes)
    request = _HEADER.pack(size, NLDEV | command, flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA) as channel:
        channel.send(request + attributes)
        while True:
            for kind, body in _messages(channel.recv(_LARGEST)):
                if kind == NLMSG_DONE:
                    _check_whole_list(body)
                    return
                if kind == NLMSG_ERROR:
                    code = -struct.unpack_from("=i", body)[0]
                    raise OSError(code, f"rdma netlink: {os.strerror(code)}")
                yield body
                if not flags & NLM_F_DUMP:
                    return


def _check_whole_list(end: bytes) -> None:
    """A list's end says why the kernel broke it off, if it did: what came is no list then."""
    code = -struct.unpack_from("=i", end)[0] if len(end) >= 4 else 0
    if code:
        raise BrokenOff(code, f"rdma netlink: a list was broken off: {os.strerror(code)}")


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _HEADER.size <= len(data):
        size, kind, *_ = _HEADER.unpack_from(data, at)
        _check(_HEADER.size <= size <= len(data) - at)
        yield kind, data[at + _HEADER.size : at + size]
        at += size + 3 & ~3


def _check(whole: bool) -> None:
    if not whole:
        raise OSError(errno.EBADMSG, "rdma netlink: a message is not whole")


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        size, kind = struct.unpack_from("=HH", data, at)
        _check(size >= 4)
        yield kind & 0x3FFF, data[at + 4 : at + size]
        at += size + 3 & ~3


def _summary(told: bytes) -> Counter[str]:
    """The numbers of objects by kind, over all the devices of which it is told."""
    numbers: Counter[str] = Counter()
    for kind, table in _attributes(told):
        if kind == ATTR_SUMMARY:
            for _, entry in _attributes(table):
                found = dict(_attributes(entry))
                name = found[ATTR_SUMMARY_NAME].rstrip(b"\0").decode()
                numbers[name] += struct.unpack("=Q", found[ATTR_SUMMARY_NUMBER])[0]
    return numbers


def _owners(body: bytes, table: int) -> Iterator[tuple[int | None, Entry]]:
    """The entries that are not the kernel's own, each with its process: None when that ended."""
    for kind, entries in _attributes(body):
        if kind == table:
            for _, entry in _attributes(entries):
                found = dict(_attributes(entry))
                if ATTR_RES_KERN_NAME not in found:
                    pid = found.get(ATTR_RES_PID)
                    _check(pid is None or len(pid) == 4)
                    yield pid and struct.unpack("=I", pid)[0], found


def _length(region: Entry) -> int:
    length = region.get(ATTR_RES_MRLEN, b"")
    _check(len(length) == 8)
    return int(struct.unpack("=Q", length)[0])
