"""The remote operations that the suites ask about, as cases with every right given."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from conformance.spec.model import Placement, Region, Topology, Transfer
from conformance.spec.operations import EIGHT_BYTES, full_rights
from conformance.spec.vocabulary import Operation


def granted(operation: Operation, placement: Placement = Placement.GLOBAL) -> Transfer:
    """`operation` on a region and a queue pair that give every right to it."""
    rights = full_rights(operation, placement)
    return Transfer(
        operation,
        length=8 if operation in EIGHT_BYTES else 64,
        remote=Region(rights),
        qp_access=rights,
        placement=placement,
    )


OPERATIONS = (
    *(granted(operation) for operation in Operation),
    granted(Operation.FLUSH, Placement.PERSISTENT),
)

# Those that have a buffer of the requester's.
WITH_BUFFER = tuple(
    operation
    for operation in OPERATIONS
    if operation.operation not in (Operation.ATOMIC_WRITE, Operation.FLUSH)
)
SEND, WRITE, WRITE_IMM, READ, CMP_SWAP, FETCH_ADD = WITH_BUFFER

# Those that name a region of the responder. FLUSH to persistence is left out: ordinary memory
# may not register for it.
NAMING = tuple(
    operation
    for operation in OPERATIONS
    if operation.operation is not Operation.SEND and operation.placement is Placement.GLOBAL
)


def in_both_topologies(cases: Iterable[Transfer]) -> Iterator[Transfer]:
    """Each case between two devices and in loopback on one: drivers take other paths there."""
    for case in cases:
        yield case
        yield replace(case, topology=Topology.LOOPBACK)
