"""Faults of a driver that takes memory which it should refuse, or loses what lies behind it."""

from collections.abc import Callable
from typing import Any

from conformance.spec.buffer import Backing, Buffer, Verb
from conformance.spec.model import ALL_RIGHTS, plain
from conformance.spec.vocabulary import Access
from rdma_conformance.plants.plant import Plant, Wire

LW = Access.LOCAL_WRITE


def _buffer(
    backing: Backing, access: int = LW, verb: Verb = Verb.REG_MR, often: bool = False, **more: Any
) -> Callable[[Wire], bool]:
    """A registration of that kind of memory, with `more` fields of the buffer as given."""
    return lambda case: (
        case["kind"] == "bufferregistration"
        and case["buffer"]["backing"] == backing
        and case["access"] == access
        and case["verb"] == verb
        and (case["times"] > 1) is often
        and all(case["buffer"][name] == value for name, value in more.items())
    )


MAPPINGS = (
    Plant(
        "memfd-is-no-sink",
        "REG-BUFFER",
        "LOCAL_WRITE is lost of a region on a memfd, so that no READ arrives there",
        _buffer(Backing.MEMFD, hole=None),
        drops=LW,
    ),
    Plant(
        "null-is-memory",
        "REG-UNMAPPED",
        "address 0 is registered as if there were memory",
        _buffer(Backing.NULL, length=4096),
        instead={"buffer": plain(Buffer(Backing.ANONYMOUS, 4096))},
    ),
    Plant(
        "null-is-invalid",
        "REG-UNMAPPED",
        "address 0 is refused with EINVAL, as if the flags were wrong",
        _buffer(Backing.NULL, length=4096),
        reports={"result": "EINVAL"},
    ),
    Plant(
        "read-only-is-writable",
        "REG-READ-ONLY",
        "read-only memory is pinned as for reading, though LOCAL_WRITE is asked for",
        _buffer(Backing.READ_ONLY),
        drops=LW,
    ),
    Plant(
        "overflow-leaks-region",
        "REG-OVERFLOW",
        "a registration that passes 2^64 leaves a region behind",
        _buffer(Backing.TOP),
        leak=True,
    ),
    Plant(
        "empty-region-has-a-byte",
        "REG-ZERO-LENGTH",
        "a region of no byte lets the byte at its address be read",
        _buffer(Backing.ANONYMOUS, ALL_RIGHTS, length=0, offset=1),
        instead={"buffer": plain(Buffer(Backing.ANONYMOUS, 1, 1))},
    ),
    Plant(
        "failures-leak-region",
        "REG-FAILURE-LEAVES-NOTHING",
        "one of a thousand failed registrations leaves a region behind",
        _buffer(Backing.UNMAPPED, often=True),
        leak=True,
    ),
    Plant(
        "iova-call-takes-read-only",
        "REG-VERBS-AGREE",
        "ibv_reg_mr_iova() pins read-only memory as for reading",
        _buffer(Backing.READ_ONLY, verb=Verb.REG_MR_IOVA),
        drops=LW,
    ),
)
