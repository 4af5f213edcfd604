"""Faults of a driver that addresses a region with an iova by another number."""

from collections.abc import Callable

from conformance.spec.vocabulary import PAGE, Operation
from rdma_conformance.plants.plant import Plant, Wire


def _transfer(
    operation: Operation, iova: int, offset: int = 0, by_address: bool = False
) -> Callable[[Wire], bool]:
    return lambda case: (
        case["kind"] == "transfer"
        and case["operation"] == operation
        and case["remote"]["iova"] == iova
        and case["remote"]["by_address"] is by_address
        and case["remote_offset"] == offset
    )


def _registration(iova: int, offset: int) -> Callable[[Wire], bool]:
    return lambda case: (
        case["kind"] == "bufferregistration"
        and case["iova"] == iova
        and case["buffer"]["offset"] == offset
    )


ZERO_BASED = (
    Plant(
        "zero-based-by-address",
        "ZB-REMOTE",
        "a peer reaches a region of iova 0 by its virtual address",
        _transfer(Operation.WRITE, 0, by_address=True),
        ignores=frozenset({"iova"}),
    ),
    Plant(
        "misplaces-atomic-at-iova",
        "ZB-ATOMIC",
        "a compare and swap at an iova of 2^32 is made eight bytes further",
        _transfer(Operation.CMP_SWAP, 1 << 32),
        instead={"remote_offset": 8},
    ),
    Plant(
        "iova-is-for-peers",
        "ZB-LOCAL",
        "the owner of a region of iova 0 has to name it by its virtual address",
        _registration(17, 17),
        ignores=frozenset({"iova"}),
    ),
    Plant(
        "rounds-iova",
        "ZB-PAGE-OFFSET",
        "an iova with another offset in its page is taken and not honoured",
        _registration(1, 0),
        ignores=frozenset({"iova"}),
    ),
    Plant(
        "wraps-around",
        "ZB-WRAP",
        "behind the end of all addresses a byte is reached at 0",
        _registration((1 << 64) - 2 * PAGE, 0),
        reports={"result": "OK", "beyond": "SUCCESS, []"},
    ),
)
