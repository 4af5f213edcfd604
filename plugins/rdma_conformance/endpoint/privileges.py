"""Limits and capabilities of this process (capabilities(7), setrlimit(2))."""

import ctypes
import os
import resource
import signal
from pathlib import Path

CAP_IPC_LOCK = 14
CAP_SYS_RESOURCE = 24
_VERSION_3 = 0x20080522
PR_SET_PDEATHSIG = 1
PR_CAPBSET_DROP = 24
_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


def has(capability: int) -> bool:
    """Whether the process has a capability in the first user namespace, where verbs look."""
    whole = Path("/proc/self/uid_map").read_text().split() == ["0", "0", "4294967295"]
    return whole and bool(_sets()[0].effective >> capability & 1)


def drop(capability: int) -> None:
    """Give a capability up for good, and see that it is gone. Raises OSError or RuntimeError."""
    sets = _sets()
    for each in ("effective", "permitted", "inheritable"):
        setattr(sets[0], each, getattr(sets[0], each) & ~(1 << capability))
    _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # without CAP_SETPCAP it can't be had back
    _set(sets)
    if has(capability):
        raise RuntimeError(f"capability {capability} could not be dropped")


def may_limit(value: int | None) -> bool:
    """Whether the process may have an RLIMIT_MEMLOCK of `value` bytes, or none."""
    hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    room = hard == resource.RLIM_INFINITY or (value is not None and value <= hard)
    return room or has(CAP_SYS_RESOURCE)


def memlock() -> int | None:
    """The soft RLIMIT_MEMLOCK in bytes, None for no limit."""
    soft = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def limit_memlock(value: int | None) -> None:
    """Set the soft RLIMIT_MEMLOCK to `value` bytes, None for no limit; the hard one if need be."""
    hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    if value is None:
        value = hard = resource.RLIM_INFINITY
    elif hard != resource.RLIM_INFINITY:
        hard = max(hard, value)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (value, hard))


def raise_memlock() -> None:
    """Take all of RLIMIT_MEMLOCK that the process may have without a capability."""
    hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))


def may_pin() -> int | None:
    """How many bytes the process may pin, None for no limit."""
    return None if has(CAP_IPC_LOCK) else memlock()


def die_with_parent(parent: int) -> None:
    """Be killed when the process `parent` ends, however that is."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the line above
        os._exit(1)


def _sets() -> "ctypes.Array[_Data]":
    sets = (_Data * 2)()
    header = _Header(_VERSION_3, 0)
    if _libc.capget(ctypes.byref(header), sets):
        raise OSError(ctypes.get_errno(), "capget")
    return sets


def _set(sets: "ctypes.Array[_Data]") -> None:
    header = _Header(_VERSION_3, 0)
    if _libc.capset(ctypes.byref(header), sets):
        raise OSError(ctypes.get_errno(), "capset")
