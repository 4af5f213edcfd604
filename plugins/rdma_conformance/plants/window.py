"""Faults of a driver that lends more by a memory window than was lent, or keeps it too long."""

from collections.abc import Callable
from typing import Any

from conformance.spec.model import plain
from conformance.spec.vocabulary import Access, Operation, Status
from conformance.spec.window import (
    BINDABLE,
    FAR,
    WINDOW_RIGHTS,
    Domain,
    Ending,
    Fault,
    Through,
    WindowType,
)
from rdma_conformance.plants.plant import Plant, Wire

WRITE, READ = Operation.WRITE.value, Operation.READ.value
ONE, TWO = (int(number) for number in WindowType)
SUCCESS = Status.SUCCESS.name


def _window(type: int, operation: str = WRITE, **fields: Any) -> Callable[[Wire], bool]:
    """A window of `type` named by `operation`, with `fields` of the case as given."""
    wanted = {"kind": "window", "type": type, "operation": operation, **fields}
    return lambda case: all(case.get(name) == value for name, value in wanted.items())


def _case(kind: str, **fields: Any) -> Callable[[Wire], bool]:
    wanted = {"kind": kind, **fields}
    return lambda case: all(case.get(name) == value for name, value in wanted.items())


WINDOW = (
    Plant(
        "unbound-window-opens",
        "MW-ALLOC",
        "a window is bound as soon as it is allocated",
        _window(TWO, ending=Ending.NEVER_BOUND.value),
        instead={"ending": Ending.NONE.value},
        reports={"bind": "none"},
    ),
    Plant(
        "binds-without-consent",
        "MW-BIND-RIGHT",
        "a region without MW_BIND takes a window",
        lambda case: (
            case["kind"] == "window" and case["type"] == TWO and case["region"]["access"] == 0
        ),
        instead={"region": plain(BINDABLE)},
    ),
    Plant(
        "bind-range-ends-early",
        "MW-BIND-RANGE",
        "a window over all of its region is taken for one that is a byte too long",
        _window(TWO, start=0, extent=4096),
        instead={"extent": 4097},
    ),
    Plant(
        "binds-across-domains",
        "MW-DOMAIN",
        "the protection domain of the region is not looked at",
        lambda case: (
            case["kind"] == "window"
            and case["type"] == ONE
            and case["region"]["domain"] == Domain.OTHER
            and case["domain"] == Domain.OWN
        ),
        instead={"region": plain(BINDABLE)},
    ),
    Plant(
        "binds-the-other-type",
        "MW-BIND-CALL",
        "ibv_bind_mw() binds a window of type 2",
        _case("wrongcall", type=TWO),
        ignores=frozenset({"call"}),
    ),
    Plant(
        "loses-bind-with-undefined-bit",
        "MW-ACCESS-BITS",
        "a bind with bit 13 is neither done nor refused",
        _window(TWO, rights=int(WINDOW_RIGHTS) | 1 << 13),
        instead={"ending": Ending.NEVER_BOUND.value},
    ),
    Plant(
        "window-inherits-rights",
        "MW-RIGHT",
        "a window without REMOTE_READ may be read, as its region may",
        _window(TWO, READ, rights=int(Access.REMOTE_WRITE), ending=Ending.NONE.value),
        instead={"rights": int(WINDOW_RIGHTS)},
    ),
    Plant(
        "window-ignores-range",
        "MW-RANGE",
        "a WRITE far behind a window is placed at its start",
        _window(ONE, at=FAR),
        instead={"at": 0},
    ),
    Plant(
        "window-opens-to-other-connection",
        "MW-QUEUE-PAIR",
        "a window of type 2 opens to a queue pair that has not bound it",
        _window(TWO, through=Through.OTHER.value),
        instead={"through": Through.BOUND.value},
    ),
    Plant(
        "window-ignores-key-byte",
        "MW-KEY",
        "the consumer's byte of a window's key is not compared",
        _window(TWO, rkey_xor=0x55),
        instead={"rkey_xor": 0},
    ),
    Plant(
        "writes-after-window",
        "MW-TRAFFIC",
        "bytes are written after a window was deallocated",
        _case("lentmidway", type=ONE, ending=Ending.DEALLOCATED.value),
        ignores=frozenset({"end"}),
    ),
    Plant(
        "moved-window-keeps-key",
        "MW-REBIND",
        "a window that was moved opens to its old key, too",
        _window(ONE, ending=Ending.MOVED.value, old_key=True),
        instead={"old_key": False},
    ),
    Plant(
        "invalidation-does-nothing",
        "MW-END",
        "LOCAL_INV is reported as done, and the window stays bound",
        _window(TWO, ending=Ending.INVALIDATED.value),
        instead={"ending": Ending.NONE.value},
        reports={"ending": SUCCESS},
    ),
    Plant(
        "invalidates-by-index",
        "MW-INVALIDATE",
        "LOCAL_INV does not compare the key's byte",
        _case("invalidation", by_peer=False, fault=Fault.OTHER_BYTE.value),
        instead={"fault": Fault.NONE.value},
    ),
    Plant(
        "unbound-invalidation-is-fatal",
        "MW-INVALIDATE-UNBOUND",
        "LOCAL_INV of a window that is not bound is reported as a fatal error",
        _case("invalidation", by_peer=False, fault=Fault.NEVER_BOUND.value),
        safely={"fault": Fault.OTHER_BYTE.value},
        reports={"requester": Status.FATAL_ERR.name},
    ),
    Plant(
        "window-outlives-queue-pair",
        "MW-QP-DESTROYED",
        "a window opens after its queue pair was destroyed",
        _window(TWO, ending=Ending.QUEUE_PAIR_DESTROYED.value),
        instead={"ending": Ending.NONE.value},
        reports={"ending": "OK"},
    ),
    Plant(
        "zero-based-window-by-address",
        "MW-ZERO-BASED",
        "a zero-based window opens by its virtual address, too",
        _window(TWO, by_address=True),
        instead={"by_address": False},
    ),
)
