"""Writes the "newc" archives that the kernel unpacks as its first root (initramfs).

Source of the format: the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass

_ALIGN = 4


@dataclass(frozen=True)
class Entry:
    """One member: ``path`` without a leading slash, ``mode`` as in stat(2), ``data`` its bytes.

    For a symbolic link ``data`` is the target; for a device ``device`` is (major, minor).
    """

    path: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def directory(path: str, mode: int = 0o755) -> Entry:
    return Entry(path, stat.S_IFDIR | mode)


def regular(path: str, data: bytes, mode: int = 0o644) -> Entry:
    return Entry(path, stat.S_IFREG | mode, data)


def symlink(path: str, target: str) -> Entry:
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


def character_device(path: str, major: int, minor: int, mode: int = 0o600) -> Entry:
    return Entry(path, stat.S_IFCHR | mode, device=(major, minor))


def archive(entries: list[Entry]) -> bytes:
    """The bytes of an archive of ``entries``, its trailer included.

    Archives may be concatenated; a later member of the same path replaces an earlier one.
    Parent folders must come before what they hold.
    """
    members = [
        _member(inode, entry) for inode, entry in enumerate([*entries, Entry("TRAILER!!!", 0)], 1)
    ]
    return b"".join(members)


def _member(inode: int, entry: Entry) -> bytes:
    name = entry.path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    major, minor = entry.device
    # inode, mode, uid, gid, links, mtime, size, device, special device, name size, checksum
    fields = (inode, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, major, minor, len(name), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
    return _padded(head) + _padded(entry.data)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % _ALIGN)
