"""The remote operations that the suites ask about, as cases with every right given."""

from conformance.spec.model import Placement, Region, Transfer
from conformance.spec.transfer import ATOMICS, full_rights
from conformance.spec.vocabulary import Operation

EIGHT_BYTES = ATOMICS | {Operation.ATOMIC_WRITE}


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

# Those that name a region of the responder. FLUSH to persistence is left out: ordinary memory
# may not register for it.
NAMING = tuple(
    operation
    for operation in OPERATIONS
    if operation.operation is not Operation.SEND and operation.placement is Placement.GLOBAL
)
