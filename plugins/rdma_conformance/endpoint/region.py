"""Registered regions of a side, kept for the cases that ask for the same again."""

from collections import OrderedDict
from typing import Any

from conformance.spec.model import Domain
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.arena import Area

KEPT = 96  # regions; the least recently used beyond that is deregistered


class Region:
    """An area, registered; `address` is what work requests name its first byte by."""

    def __init__(
        self,
        domain: Any,
        access: int,
        length: int,
        page_offset: int = 0,
        iova: int | None = None,
    ):
        self.area = Area(length, page_offset)
        self.address = self.area.address if iova is None else iova
        try:
            self._registered = verbs.register(domain, self.area.address, length, access, iova)
        except verbs.VerbsError:
            self.area.close()
            raise
        self.lkey = int(self._registered.lkey)
        self.rkey = int(self._registered.rkey)
        self._receive = verbs.receive_request(self.address, length, self.lkey)

    def receive_request(self, wr_id: int) -> Any:
        """A receive into the whole region; one object, as making it costs more than posting."""
        self._receive.wr_id = wr_id
        return self._receive

    def close(self) -> None:
        verbs.deregister(self._registered)
        self.area.close()


class Regions:
    """Regions by role and description: two roles of one case never share memory."""

    def __init__(self, domains: dict[str, Any]):
        self._domains = domains
        self._kept: OrderedDict[tuple[Any, ...], Region] = OrderedDict()

    def get(
        self,
        role: str,
        access: int,
        length: int,
        *,
        page_offset: int = 0,
        domain: str = Domain.OWN,
        iova: int | None = None,
        by_address: bool = False,
    ) -> Region:
        """The region of that description, registered if need be. Raises VerbsError."""
        key = (role, int(access), length, page_offset, str(domain), iova, by_address)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = Region(self._domains[domain], int(access), length, page_offset, iova)
        if by_address:
            made.address = made.area.address
        self._kept[key] = made
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)[1].close()
        return made

    def of(self, role: str, asked: dict[str, Any]) -> Region:
        """The region that a case's builtin form of `spec.model.Region` describes."""
        return self.get(role, **asked)

    def close(self) -> None:
        while self._kept:
            self._kept.popitem()[1].close()
