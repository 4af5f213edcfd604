"""Which GIDs the two ends use: chosen by type, never by index."""

from collections.abc import Iterable
from ipaddress import IPv6Address

from rdma_conformance.device import Gid

IPV4_SUBNET_BITS = 24  # GIDs carry no prefix length: the usual ones of IPv4 and IPv6 are taken
IPV6_SUBNET_BITS = 64


def choose(ours: Iterable[Gid], theirs: Iterable[Gid]) -> tuple[Gid, Gid] | None:
    """The best pair of RoCE v2 GIDs, or None when the two sides have no kind in common.

    IPv4-mapped ones of one subnet first, then other IPv4-mapped ones, then global IPv6 ones in
    the same order, then link-local ones. Of equals the first in the table.
    """
    pairs = [
        (rank, mine, other)
        for mine in ours
        for other in theirs
        if _usable(mine) and _usable(other) and (rank := _rank(mine, other)) is not None
    ]
    if not pairs:
        return None
    _, mine, other = min(pairs, key=lambda each: each[0])
    return mine, other


def one_subnet(mine: Gid, other: Gid) -> bool:
    """Whether both addresses tell that they are of one subnet: link-local ones tell nothing."""
    return _rank(mine, other) in (_rank_of(0, True), _rank_of(1, True))


def _usable(gid: Gid) -> bool:
    return gid.type is None or "v2" in gid.type


def _rank(mine: Gid, other: Gid) -> int | None:
    kind = _kind(mine.address)
    if kind != _kind(other.address):
        return None
    bits = 128 - 32 + IPV4_SUBNET_BITS if kind == 0 else IPV6_SUBNET_BITS
    shift = 128 - bits
    together = int(mine.address) >> shift == int(other.address) >> shift
    return _rank_of(kind, together)


def _rank_of(kind: int, together: bool) -> int:
    return 2 * kind + (not together)


def _kind(address: IPv6Address) -> int:
    if address.ipv4_mapped:
        return 0
    return 2 if address.is_link_local else 1
