"""What the kernel accounts to this process for its registrations."""

import os


class PinnedMemory:
    """VmPin of this process (proc_pid_status(5)), read through one descriptor kept open."""

    def __init__(self) -> None:
        self._status = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)

    def kilobytes(self) -> int:
        """Pinned memory in kB (1024 bytes)."""
        text = os.pread(self._status, 8192, 0)
        at = text.find(b"\nVmPin:")
        if at < 0:
            raise RuntimeError("this kernel's /proc/self/status has no VmPin: 3.2 or later has")
        return int(text[at + 7 : text.index(b"kB", at)])

    def close(self) -> None:
        os.close(self._status)


class DeviceMappings:
    """How often this process has files of RDMA devices mapped (proc_pid_maps(5))."""

    def __init__(self) -> None:
        self._maps = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)

    def count(self) -> int:
        os.lseek(self._maps, 0, os.SEEK_SET)
        text = b""
        while data := os.read(self._maps, 1 << 16):
            text += data
        return text.count(b" /dev/infiniband/")
