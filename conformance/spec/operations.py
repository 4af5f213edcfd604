"""What the operations are: which right each needs, what it consumes and where it writes."""

from enum import StrEnum

from conformance.spec.vocabulary import Access, Operation

ALL_RIGHTS = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC

ATOMICS = frozenset({Operation.CMP_SWAP, Operation.FETCH_ADD})
EIGHT_BYTES = ATOMICS | {Operation.ATOMIC_WRITE}
FETCHING = ATOMICS | {Operation.READ}  # they write what they fetch into the local buffer
WRITING = frozenset({Operation.WRITE, Operation.WRITE_IMM, Operation.ATOMIC_WRITE})
# Those that read or write a region of the responder.
REACHING = (
    Operation.WRITE,
    Operation.WRITE_IMM,
    Operation.READ,
    Operation.CMP_SWAP,
    Operation.FETCH_ADD,
    Operation.ATOMIC_WRITE,
)
CONSUMING = frozenset({Operation.SEND, Operation.WRITE_IMM})

_RIGHT = {
    Operation.SEND: Access(0),
    Operation.WRITE: Access.REMOTE_WRITE,
    Operation.WRITE_IMM: Access.REMOTE_WRITE,
    Operation.READ: Access.REMOTE_READ,
    Operation.CMP_SWAP: Access.REMOTE_ATOMIC,
    Operation.FETCH_ADD: Access.REMOTE_ATOMIC,
    Operation.ATOMIC_WRITE: Access.REMOTE_WRITE,  # there is no access flag of its own
}


class Placement(StrEnum):
    """Where a FLUSH has to bring the data: global visibility, or persistence."""

    GLOBAL = "global"
    PERSISTENT = "persistent"


def size(operation: Operation) -> int:
    """The bytes that the suites carry where length is not the question: 8 of atomics, else 64."""
    return 8 if operation in EIGHT_BYTES else 64


def needed_right(operation: Operation, placement: Placement = Placement.GLOBAL) -> Access:
    """The right that the region and the responder's queue pair must both have."""
    if operation is Operation.FLUSH:
        flag = Access.FLUSH_GLOBAL
        return flag if placement is Placement.GLOBAL else Access.FLUSH_PERSISTENT
    return _RIGHT[operation]


def full_rights(operation: Operation, placement: Placement = Placement.GLOBAL) -> Access:
    """The rights that a positive control gives to region and queue pair."""
    return ALL_RIGHTS | needed_right(operation, placement)
