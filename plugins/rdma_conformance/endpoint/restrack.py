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
CMD_GET, CMD_RES_GET, CMD_RES_MR_GET = 1, 9, 13
ATTR_DEV_INDEX, ATTR_DEV_NAME, ATTR_RES_PID, ATTR_RES_MR, ATTR_RES_MRLEN = 1, 2, 28, 40, 45
ATTR_SUMMARY, ATTR_SUMMARY_NAME, ATTR_SUMMARY_NUMBER = 15, 17, 18

ATTR_RES_KERN_NAME = 29
# What a process can have on a device: the command that lists it, and the attribute of the list.
KINDS = {"ctx": (22, 86), "pd": (14, 46), "mr": (13, 40), "cq": (12, 35), "qp": (10, 19)}
KINDS["srq"] = (23, 88)
# Those that come and go with a process's context: the command by kind.
LISTS = {kind: command for kind, (command, _) in KINDS.items() if kind != "ctx"}

NLM_F_REQUEST, NLM_F_DUMP = 1, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
_HEADER = struct.Struct("=IHHII")
_LARGEST = 1 << 16


class ResourceLists:
    """What is open on some devices as the kernel tracks it: by kind, over all of them."""

    def __init__(self, devices: Iterable[str]):
        """Raises OSError when the kernel does not tell."""
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
        """How many objects of a kind of `LISTS` this process has. Raises OSError."""
        return sum(
            _owned(body) for selector in self._selectors for body in _dump(LISTS[kind], selector)
        )


class RegionList:
    """The memory regions of a device as the kernel tracks them."""

    def __init__(self, device: str):
        self._index = _device_index(device)

    def lengths(self, pid: int | None = None) -> list[int]:
        """Lengths in bytes of the regions of a process (this one), in ascending order."""
        owner = os.getpid() if pid is None else pid
        return sorted(length for each, length in self._dump() if each == owner)

    def count(self) -> int:
        """How many regions this process has, at a tenth of the cost of their lengths."""
        return sum(map(_owned, self._bodies()))

    def _bodies(self) -> Iterator[bytes]:
        return _dump(CMD_RES_MR_GET, _selector(self._index))

    def _dump(self) -> Iterator[tuple[int, int]]:
        """Process and length of each region. Raises OSError when the kernel refuses."""
        for body in self._bodies():
            yield from _regions(body)


def holdings(device: str, pids: Container[int]) -> dict[str, int]:
    """How many objects of each kind processes of `pids` have on a device, or nobody any more.

    What is the kernel's own, or another living process's, is left out; so are kinds that an older
    kernel does not list. Raises OSError when the kernel refuses.
    """
    found = {}
    place = struct.pack("=HHI", 8, ATTR_DEV_INDEX, _device_index(device))
    for kind, (command, table) in KINDS.items():
        with _if_known():
            owners = [each for body in _dump(command, place) for each in _owners(body, table)]
            found[kind] = sum(pid is None or pid in pids for pid in owners)
    return found


@contextmanager
def _if_known() -> Iterator[None]:
    """Pass over a command that this kernel does not know."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
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
                    return
                if kind == NLMSG_ERROR:
                    code = -struct.unpack_from("=i", body)[0]
                    raise OSError(code, f"rdma netlink: {os.strerror(code)}")
                yield body
                if not flags & NLM_F_DUMP:
                    return


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _HEADER.size <= len(data):
        size, kind, *_ = _HEADER.unpack_from(data, at)
        _check(size >= _HEADER.size)
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


def _owners(body: bytes, table: int) -> Iterator[int | None]:
    """The process of each entry that is not the kernel's own: None when it has ended."""
    for kind, entries in _attributes(body):
        if kind == table:
            for _, entry in _attributes(entries):
                found = dict(_attributes(entry))
                if ATTR_RES_KERN_NAME not in found:
                    pid = found.get(ATTR_RES_PID)
                    _check(pid is None or len(pid) == 4)
                    yield pid and struct.unpack("=I", pid)[0]


def _regions(body: bytes) -> Iterator[tuple[int, int]]:
    for kind, table in _attributes(body):
        if kind == ATTR_RES_MR:
            for _, entry in _attributes(table):
                found = dict(_attributes(entry))
                if ATTR_RES_PID in found:  # a region of the kernel's own has a name in its place
                    pid, length = found[ATTR_RES_PID], found.get(ATTR_RES_MRLEN, b"")
                    _check((len(pid), len(length)) == (4, 8))
                    yield struct.unpack("=I", pid)[0], struct.unpack("=Q", length)[0]
