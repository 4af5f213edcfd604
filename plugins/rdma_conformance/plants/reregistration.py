"""Faults of a driver that changes a region by halves, or into more than it may be."""

from collections.abc import Callable

from conformance.spec.reregistration import Change, Fault, Way
from conformance.spec.vocabulary import Status
from rdma_conformance.plants.plant import Plant, Wire

SUCCESS = Status.SUCCESS.name


def _command(change: Change, fault: Fault, more: bool) -> Callable[[Wire], bool]:
    """That change by the command, of a region without on-demand paging."""
    wanted = {
        "kind": "reregistered",
        "way": Way.COMMAND.value,
        "change": int(change),
        "fault": fault.value,
        "more": more,
        "paged": False,
    }
    return lambda case: all(case.get(name) == value for name, value in wanted.items())


REREGISTRATION = (
    Plant(
        "stays-in-old-domain",
        "REREG-CHANGE",
        "of a change of rights and protection domain that of the domain is forgotten",
        _command(Change.DOMAIN | Change.ACCESS, Fault.NONE, more=False),
        ignores=frozenset({"change"}),
    ),
    Plant(
        "adds-local-write-on-change",
        "REREG-INVALID",
        "REMOTE_WRITE without LOCAL_WRITE is taken as if both had been asked for",
        _command(Change.ACCESS, Fault.ILLEGAL_ACCESS, more=True),
        instead={"fault": Fault.NONE.value},
    ),
    Plant(
        "keeps-read-only-pin",
        "REREG-READ-ONLY",
        "read-only memory becomes a region that peers may write",
        _command(Change.ACCESS, Fault.READ_ONLY, more=True),
        instead={"fault": Fault.NONE.value},
    ),
    Plant(
        "change-keeps-windowed-region",
        "REREG-WINDOW",
        "a region that was changed under a window can't be deregistered any more",
        _command(Change.DOMAIN, Fault.WINDOW, more=False),
        leak=True,
    ),
)
