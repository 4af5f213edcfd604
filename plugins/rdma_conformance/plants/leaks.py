"""Faults that no answer shows: the driver keeps what was ended, or the suite forgets to end it."""

from collections.abc import Callable

from conformance.spec.vocabulary import Access
from rdma_conformance.plants.plant import Plant, Wire

LW, RW, RR, RA = Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC


def _registration(access: int) -> Callable[[Wire], bool]:
    return lambda case: case["kind"] == "registration" and case["access"] == access


LEAKS = (
    Plant(
        "keeps-region",
        "REG-FLAGS-LEGAL",
        "a region whose deregistration succeeded stays, with its pages pinned",
        _registration(LW | RW),
        leaves="region",
    ),
    Plant(
        "keeps-domain",
        "REG-FLAGS-LEGAL",
        "a protection domain whose deallocation succeeded stays",
        _registration(LW | RA),
        leaves="domain",
    ),
    Plant(
        "suite-forgets-region",
        "REG-FLAGS-LEGAL",
        "the suite itself forgets to deregister a region",
        _registration(LW | RR | RW),
        leaves="forgotten",
    ),
    Plant(
        "suite-leaves-descriptor",
        "REG-FLAGS-LEGAL",
        "the suite itself leaves a file open",
        _registration(LW | RR | RA),
        leaves="descriptor",
    ),
    Plant(
        "suite-leaves-mapping",
        "REG-FLAGS-LEGAL",
        "the suite itself leaves memory mapped",
        _registration(LW | RW | RA),
        leaves="mapping",
    ),
)
