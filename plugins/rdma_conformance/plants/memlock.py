"""Faults of a driver that keeps wrong books of what is pinned."""

from collections.abc import Callable

from conformance.spec.memlock import Way
from conformance.spec.vocabulary import Access
from rdma_conformance.plants.plant import Plant, Wire


def _program(name: str) -> Callable[[Wire], bool]:
    return lambda case: case["kind"] == "memlock" and case["name"] == name


def _unlimited(name: str, breaks: str, summary: str, program: str) -> Plant:
    """A driver that never asks for the limit."""
    return Plant(name, breaks, summary, _program(program), ignores=frozenset({"limit"}))


MEMLOCK = (
    _unlimited(
        "ignores-memlock",
        "MEM-LIMIT",
        "a page more than the limit is pinned",
        "one_region-pages:8",
    ),
    _unlimited(
        "pins-at-limit-zero",
        "MEM-TOO-LOW",
        "memory is pinned where none may be locked",
        "limit:0",
    ),
    _unlimited(
        "counts-a-page-once",
        "MEM-COUNTED-AGAIN",
        "a page that is pinned already is let through",
        "same_range-times:2",
    ),
    _unlimited(
        "knows-the-old-limit",
        "MEM-LOWERED",
        "a limit that was lowered is not seen",
        "from:8-to:2",
    ),
    Plant(
        "limits-the-capable",
        "MEM-UNLIMITED",
        "the limit binds a process with CAP_IPC_LOCK, too",
        _program("capable"),
        instead={"capable": False},
    ),
    Plant(
        "counts-a-page-too-many",
        "MEM-PAGES",
        "a page at a limit of one page is refused",
        _program("4096@0-limit:1"),
        instead={"limit": 4095},
    ),
    Plant(
        "keeps-deregistered-pages",
        "MEM-RETURNED",
        "deregistration gives nothing back",
        _program("deregistered_in_another_order"),
        leak=True,
    ),
    Plant(
        "threads-lose-count",
        "MEM-CONTENTION",
        "after threads have registered at once a page stays counted",
        lambda case: case["kind"] == "contention" and case["threads"] == 2,
        leak=True,
    ),
    Plant(
        "survives-its-process",
        "MEM-PROCESS-ENDS",
        "regions stay when their process is killed",
        lambda case: case["kind"] == "ending" and case["way"] == Way.KILL,
        leak=True,
    ),
    Plant(
        "pins-on-demand",
        "MEM-ON-DEMAND",
        "an on-demand region is pinned as any other",
        _program("on_demand-limit:1"),
        drops=Access.ON_DEMAND,
    ),
)
