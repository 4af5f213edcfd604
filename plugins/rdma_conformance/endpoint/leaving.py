"""Planted faults of the leak guard's kind: something stays that a case should have taken away."""

import os
from typing import Any

from conformance.spec.vocabulary import PAGE, Access
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.arena import Area
from rdma_conformance.endpoint.books import BOOKS
from rdma_conformance.endpoint.remappable import Remappable

PAGES = 3  # of a region that stays

_left: list[Any] = []  # what the driver keeps; it ends with the process


def leave(what: str, device: verbs.Device, domain: Any) -> None:
    """As a driver: `region` or `domain` that were ended with success. As the suite: a
    `forgotten` region, an open `descriptor`, a `mapping`."""
    match what:
        case "region":
            _left.append(_register(domain))
            BOOKS.closed(_left[-1])
        case "domain":
            _left.append(verbs.allocate_domain(device))
            BOOKS.closed(_left[-1])
        case "forgotten":
            _register(domain)
        case "descriptor":
            os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        case "mapping":
            Remappable(PAGE)
        case _:
            raise ValueError(f"nothing of kind {what!r} is ever left")


def _register(domain: Any) -> Any:
    area = Area(PAGES * PAGE)
    _left.append(area)
    return verbs.register(domain, area.address, area.length, Access.LOCAL_WRITE)
