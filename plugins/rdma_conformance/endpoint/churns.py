"""Regions in numbers: one after the other, as many as fit, and how the kernel lists them."""

from typing import Any

from conformance.spec.model import ALL_RIGHTS
from conformance.spec.vocabulary import PAGE
from rdma_conformance.endpoint.accounts import Accounts, Balance
from rdma_conformance.endpoint.arena import Area
from rdma_conformance.endpoint.books import BOOKS
from rdma_conformance.endpoint.libibverbs import Domain, Refused
from rdma_conformance.endpoint.restrack import ResourceLists


class Churns:
    """A part of an end: registers one page over and over, in a protection domain of its own."""

    def __init__(self, device: str, max_mr: int):
        self._direct = Domain(device)
        self._accounts = Accounts(device)
        self._list = ResourceLists([device])
        self._max_mr = max_mr
        self._area = Area(PAGE)
        self._live: list[Any] = []
        self._before: Balance
        self._leaked: list[Any] = []

    def churn(self, count: int, leak: bool) -> dict[str, list[str]]:
        """Register and deregister `count` times: the errnos there were, and what is left.

        With `leak` a region stays, as with a driver that loses count.
        """
        before = self._accounts.balance()
        errors = set()
        for _ in range(count):
            try:
                self._direct.deregister(self._register())
            except Refused as refused:
                errors.add(refused.name)
        if leak:
            self._leaked.append(self._register())
            BOOKS.closed(self._leaked[-1])
        return {"errors": sorted(errors), "left": self._accounts.left(before)}

    def fill(self, count: int | None) -> str:
        """Register until the device refuses, or has `count` (None: as many as it claims): the
        errno, or OK."""
        self._before = self._accounts.balance()
        while len(self._live) < (count or self._max_mr):
            try:
                self._live.append(self._register())
            except Refused as refused:
                return refused.name
        return "OK"

    def empty(self, leak: bool) -> dict[str, Any]:
        """Deregister what `fill` registered: whether there is room `again`, and what is left."""
        kept = int(leak and bool(self._live))
        while len(self._live) > kept:
            self._direct.deregister(self._live.pop())
        for each in self._live:
            BOOKS.closed(each)
        self._leaked += self._live
        self._live.clear()
        again = "OK"
        try:
            self._direct.deregister(self._register())
        except Refused as refused:
            again = refused.name
        found = self._accounts.left(self._before)
        return {"again": again, "left": [each for each in found if not each.startswith("mappings")]}

    def listed(self, length: int) -> dict[str, list[int]]:
        """The regions of just that length that the kernel lists before, while and after."""
        area = Area(length)

        def found() -> list[int]:
            return [each for each in self._list.lengths() if each == length]

        before = found()
        made = self._direct.register(area.address, length, ALL_RIGHTS)
        listed = found()
        self._direct.deregister(made)
        after = found()
        area.close()
        return {"before": before, "listed": listed, "after": after}

    def _register(self) -> Any:
        return self._direct.register(self._area.address, PAGE, ALL_RIGHTS)

    def close(self) -> None:
        for each in self._leaked:
            self._direct.deregister(each)
        self._accounts.close()
        self._direct.close()
        self._area.close()
