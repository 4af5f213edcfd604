"""Faults of a driver that registers what it should refuse, refuses what it should, or leaks."""

from collections.abc import Callable
from typing import Any

from conformance.spec.vocabulary import Access
from rdma_conformance.plants.plant import Plant, Wire

LW, RW, RR = Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ
FP = Access.FLUSH_PERSISTENT


def _registration(access: int) -> Callable[[Wire], bool]:
    return lambda case: case["kind"] == "registration" and case["access"] == access


def _refused(errno_name: str) -> dict[str, Any]:
    return {"result": errno_name, "addressing": [], "dereg": "none"}


REGISTRATION = (
    Plant(
        "refuses-legal-flags",
        "REG-FLAGS-LEGAL",
        "LOCAL_WRITE with REMOTE_READ is refused",
        _registration(LW | RR),
        reports=_refused("EINVAL"),
    ),
    Plant(
        "adds-local-write",
        "REG-REMOTE-NEEDS-LOCAL",
        "REMOTE_WRITE alone is registered as if LOCAL_WRITE had been asked for, too",
        _registration(RW),
        adds=LW,
    ),
    Plant(
        "takes-undefined-bit",
        "REG-UNDEFINED-BIT",
        "bit 13 is ignored where it must be refused",
        _registration(LW | 1 << 13),
        drops=1 << 13,
    ),
    Plant(
        "refuses-optional-bit",
        "REG-OPTIONAL-BITS",
        "bit 25 is refused where it must be ignored",
        _registration(LW | 1 << 25),
        adds=1 << 13,  # which is no optional one
    ),
    Plant(
        "refuses-claimed-capability",
        "REG-CAPABILITY",
        "on-demand paging is refused as an unknown flag",
        _registration(LW | Access.ON_DEMAND),
        adds=1 << 13,
    ),
    Plant(
        "wrong-errno-for-capability",
        "REG-CAPABILITY",
        "on-demand paging is refused with EBUSY",
        _registration(LW | Access.ON_DEMAND),
        reports=_refused("EBUSY"),
    ),
    Plant(
        "wrong-errno-for-persistence",
        "REG-FLUSH-PERSISTENT",
        "persistent flush is refused with EIO",
        _registration(LW | FP),
        reports=_refused("EIO"),
    ),
    Plant(
        "leaks-pinned-page",
        "REG-NO-RIGHTS",
        "a page stays pinned after deregistration",
        _registration(0),
        leak=True,
    ),
)
