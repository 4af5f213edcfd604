"""Faults of a driver for which a registration is not over when it has ended, or never ends."""

from collections.abc import Callable
from typing import Any

from conformance.spec.lifetime import Busy, Handle, Side, Wrong
from conformance.spec.vocabulary import Operation
from rdma_conformance.plants.plant import Plant, Wire

WRITE, READ = Operation.WRITE.value, Operation.READ.value
REMOTE = Side.REMOTE.value


def _case(kind: str, **fields: Any) -> Callable[[Wire], bool]:
    wanted = {"kind": kind, **fields}
    return lambda case: all(case.get(name) == value for name, value in wanted.items())


LIFETIME = (
    Plant(
        "key-outlives-region",
        "DEREG-KEY",
        "a WRITE by the key of a region that was deregistered is placed",
        _case("retired", side=REMOTE, operation=WRITE, again=0),
        instead={"ended": False},
        reports={"dereg": "OK"},
    ),
    Plant(
        "receive-outlives-region",
        "DEREG-RECEIVE",
        "a receive takes a message after its region was deregistered",
        _case("retired", side=Side.RECEIVE.value),
        instead={"ended": False},
        reports={"dereg": "OK"},
    ),
    Plant(
        "old-key-opens-new-region",
        "DEREG-KEY-REUSE",
        "the key of the region before opens the one after",
        _case("retired", side=REMOTE, operation=READ, again=1),
        instead={"ended": False, "again": 0},
        reports={"dereg": "OK"},
    ),
    Plant(
        "refused-end-breaks-window",
        "DEREG-WINDOW-BOUND",
        "a deregistration that is refused closes the window all the same",
        _case("inuse", what=Busy.WINDOW_2.value),
        ends_early=True,
    ),
    Plant(
        "refused-end-breaks-domain",
        "DEALLOC-IN-USE",
        "a deallocation that is refused makes the domain useless",
        _case("inuse", what=Busy.DOMAIN_REGION.value),
        reports={"alive": "EINVAL"},
    ),
    Plant(
        "deregisters-twice",
        "DEREG-TWICE",
        "a handle that was deregistered can be deregistered again",
        _case("handled", handle=Handle.TWICE.value),
        instead={"handle": Handle.LIVE.value},
    ),
    Plant(
        "unmapping-leaks",
        "DEREG-WRONG-ORDER",
        "pages whose mapping went first stay pinned",
        _case("wrongorder", wrong=Wrong.UNMAPPED.value, operation=WRITE),
        reports={"pinned_left": 4},
    ),
    Plant(
        "follows-the-mapping",
        "DEREG-WRONG-ORDER",
        "the process sees at the address what a peer wrote into the page that was pinned",
        _case("wrongorder", wrong=Wrong.MAPPED_OVER.value, operation=WRITE),
        instead={"wrong": Wrong.NOTHING.value},
    ),
    Plant(
        "reads-after-the-end",
        "DEREG-MIDWAY",
        "a READ returns bytes that were written after deregistration had returned",
        _case("midway", operation=READ, side=REMOTE, after_us=0),
        reports={"later": "memory was reached"},
    ),
    Plant(
        "never-deregisters",
        "DEREG-MIDWAY",
        "deregistration during a WRITE never returns",
        _case("midway", operation=WRITE, side=REMOTE, after_us=500),
        misbehave="hang",
    ),
    Plant(
        "loses-a-page",
        "DEREG-ROUNDS",
        "one of ten thousand registrations leaves its page pinned",
        _case("rounds"),
        leak=True,
    ),
    Plant(
        "child-takes-region-along",
        "DEREG-FORK",
        "a region ends with a child of its process",
        _case("childprocess", killed=True),
        ends_early=True,
    ),
    Plant(
        "killed-process-leaves-region",
        "DEREG-KILLED",
        "a region of a process that was killed stays",
        _case("killed", operation=READ, retries=6),
        leak=True,
    ),
)
