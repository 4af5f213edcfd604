"""Faults of a driver that pages on demand and takes the wrong page, or pins it after all."""

from collections.abc import Callable
from typing import Any

from conformance.spec.lifetime import Side
from conformance.spec.paging import Advice, Mistake, Pages
from conformance.spec.vocabulary import Access, Operation
from rdma_conformance.plants.plant import Plant, Wire

WRITE, READ = Operation.WRITE.value, Operation.READ.value
REMOTE, LOCAL = Side.REMOTE.value, Side.LOCAL.value


def _case(kind: str, **fields: Any) -> Callable[[Wire], bool]:
    wanted = {"kind": kind, **fields}
    return lambda case: all(case.get(name) == value for name, value in wanted.items())


def _paged(pages: Pages, side: str, operation: str) -> Callable[[Wire], bool]:
    return _case("paged", pages=pages.value, side=side, operation=operation)


PAGING = (
    Plant(
        "on-demand-pins",
        "ODP-UNTOUCHED",
        "registration with ON_DEMAND pins its page",
        _paged(Pages.UNTOUCHED, REMOTE, WRITE),
        drops=Access.ON_DEMAND,
    ),
    Plant(
        "starts-at-the-page",
        "ODP-PLACE",
        "an atomic in the middle of a page is done at its first byte",
        _case("paged", side=REMOTE, operation=Operation.FETCH_ADD.value, at=8),
        instead={"at": 0},
    ),
    Plant(
        "writes-childs-page",
        "ODP-SHARED",
        "a WRITE lands in the page that a forked child sees",
        _paged(Pages.FORKED, REMOTE, WRITE),
        ignores=frozenset({"fork"}),
    ),
    Plant(
        "writes-zero-page",
        "ODP-SHARED",
        "a WRITE lands in the zero page of all processes",
        _paged(Pages.ZERO, REMOTE, WRITE),
        reports={"zero_page": "changed"},
    ),
    Plant(
        "keeps-old-page",
        "ODP-FOLLOWS",
        "a READ returns the page from before the mapping changed",
        _paged(Pages.MAPPED_OVER, REMOTE, READ),
        instead={"pages": Pages.WRITTEN.value},
    ),
    Plant(
        "ignores-protection",
        "ODP-READ-ONLY",
        "a peer may write what the process may only read",
        _paged(Pages.READ_ONLY, REMOTE, WRITE),
        instead={"pages": Pages.WRITTEN.value},
    ),
    Plant(
        "reads-unmapped-page",
        "ODP-UNMAPPED",
        "a page that was unmapped is still a source",
        _paged(Pages.UNMAPPED, LOCAL, WRITE),
        instead={"pages": Pages.WRITTEN.value},
    ),
    Plant(
        "never-gives-up-fault",
        "ODP-UNMAPPED",
        "a fault for a page that is gone is tried for ever",
        _paged(Pages.UNMAPPED, REMOTE, READ),
        misbehave="hang",
    ),
    Plant(
        "prefetches-beyond-region",
        "ODP-PREFETCH",
        "a range outside of the region is prefetched",
        _case("prefetched", flush=True, advice=int(Advice.PREFETCH), mistake=Mistake.RANGE.value),
        instead={"mistake": Mistake.NONE.value},
    ),
    Plant(
        "everything-without-claim",
        "ODP-IMPLICIT",
        "an implicit region registers and reaches nothing",
        _case("implicit"),
        reports={"result": "OK", "paged": ""},
    ),
)
