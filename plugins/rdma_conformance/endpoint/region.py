"""Registered regions of a side, kept for the cases that ask for the same again."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from conformance.spec.effect import NEIGHBOUR_LENGTH
from conformance.spec.model import ALL_RIGHTS, Key
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.arena import Area

KEPT = 96  # regions; the least recently used beyond that is deregistered
ADDRESSES = 1 << 64


class Names(NamedTuple):
    """The keys of a registration."""

    lkey: int
    rkey: int


class Region:
    """An area, registered; and registered otherwise, too, for the keys that name it wrongly.

    `domains` are the protection domain that the queue pairs have (`Key.OWN`) and another one
    (`Key.OTHER_DOMAIN`). `address` is what work requests name the first byte by.
    """

    def __init__(
        self,
        domains: Mapping[str, Any],
        access: int,
        length: int,
        page_offset: int = 0,
        iova: int | None = None,
    ):
        self.area = Area(length, page_offset)
        self._iova = iova
        self.address = self.area.address if iova is None else iova
        self._domains = domains
        self._access = access
        self._registered: dict[str, Any] = {}
        try:
            self.own = self._names(Key.OWN)
        except verbs.VerbsError:
            self.area.close()
            raise
        # One object, as making it costs more than posting it.
        self._receive = verbs.receive_request(self.scatter([], length))

    def names(self, key: str, xor: int = 0) -> Names:
        """The keys meant by `key`, with the bits of `xor` inverted. Raises VerbsError."""
        found = self.own if key == Key.OWN else self._names(key)
        return Names(found.lkey ^ xor, found.rkey ^ xor)

    def _names(self, key: str) -> Names:
        if key == Key.ZERO:
            return Names(0, 0)
        if key == Key.DEREGISTERED:
            made = self._register(Key.OWN)
            ended = _names_of(made)
            verbs.deregister(made)
            return ended
        if key not in self._registered:
            self._registered[key] = self._register(key)
        return _names_of(self._registered[key])

    def _register(self, key: str) -> Any:
        area, own = self.area, self._domains[Key.OWN]
        match key:
            case Key.OWN:
                return verbs.register(own, area.address, area.length, self._access, self._iova)
            case Key.OTHER_DOMAIN:
                other = self._domains[Key.OTHER_DOMAIN]
                return verbs.register(other, area.address, area.length, self._access)
            case Key.NO_RIGHTS:
                return verbs.register(own, area.address, area.length, 0)
            case Key.NEIGHBOUR:
                behind = area.address + area.length
                return verbs.register(own, behind, NEIGHBOUR_LENGTH, ALL_RIGHTS)
        raise ValueError(f"a region has no key {key!r} of its own")

    def scatter(
        self, segments: list[dict[str, Any]], length: int, foreign: Iterable[int] = ()
    ) -> list[tuple[int, int, int]]:
        """(address, length in bytes, lkey) of the builtin forms of `spec.model.Segment`.

        Without any, that of the region's first `length` bytes. `foreign` are keys of the other
        device, of which one names no region here.
        """
        entries = []
        for segment in segments:
            address = segment["address"]
            if address is None:
                address = (self.address + segment["offset"]) % ADDRESSES
            if segment["key"] == Key.FOREIGN:
                lkey = next(key for key in foreign if key != self.own.lkey)
            else:
                lkey = self.names(segment["key"], segment["key_xor"]).lkey
            entries.append((address, segment["length"], lkey))
        return entries or [(self.address, length, self.own.lkey)]

    def receive_request(
        self, wr_id: int, segments: list[dict[str, Any]], header: "Region | None" = None
    ) -> Any:
        """A receive into `segments`, else the whole region, behind the bytes of `header`."""
        request = self._receive
        if segments or header:
            entries = header.scatter([], header.area.length) if header else []
            entries += self.scatter(segments, self.area.length)
            request = verbs.receive_request(entries)
        request.wr_id = wr_id
        return request

    def count(self) -> int:
        """How many registrations there are of it."""
        return len(self._registered)

    def close(self) -> None:
        for made in self._registered.values():
            verbs.deregister(made)
        self.area.close()


def _names_of(made: Any) -> Names:
    return Names(int(made.lkey), int(made.rkey))


class Regions:
    """Regions by role and description: two roles of one case never share memory."""

    def __init__(self, domains: Mapping[str, Any]):
        self._domains = domains
        self._kept: OrderedDict[tuple[Any, ...], Region] = OrderedDict()

    def get(
        self,
        role: str,
        access: int,
        length: int,
        *,
        page_offset: int = 0,
        iova: int | None = None,
        by_address: bool = False,
    ) -> Region:
        """The region of that description, registered if need be. Raises VerbsError."""
        key = (role, int(access), length, page_offset, iova, by_address)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        made = Region(self._domains, int(access), length, page_offset, iova)
        if by_address:
            made.address = made.area.address
        self._kept[key] = made
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)[1].close()
        return made

    def of(self, role: str, asked: dict[str, Any]) -> Region:
        """The region that a case's builtin form of `spec.model.Region` describes."""
        return self.get(role, **asked)

    def count(self) -> int:
        """How many registrations are kept."""
        return sum(region.count() for region in self._kept.values())

    def close(self) -> None:
        while self._kept:
            self._kept.popitem()[1].close()
