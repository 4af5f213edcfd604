"""What a granted operation changes in the memory that it names and in the requester's buffer."""

from conformance.spec.memory import Run, high, image, run
from conformance.spec.model import GUARD
from conformance.spec.vocabulary import Access, Operation

ATOMICS = frozenset({Operation.CMP_SWAP, Operation.FETCH_ADD})
LOCAL = 64  # bytes of the requester's buffer
EIGHT_BYTES = ATOMICS | {Operation.ATOMIC_WRITE}

RIGHT = {
    Operation.WRITE: Access.REMOTE_WRITE,
    Operation.WRITE_IMM: Access.REMOTE_WRITE,
    Operation.READ: Access.REMOTE_READ,
    Operation.CMP_SWAP: Access.REMOTE_ATOMIC,
    Operation.FETCH_ADD: Access.REMOTE_ATOMIC,
    Operation.ATOMIC_WRITE: Access.REMOTE_WRITE,  # there is no access flag of its own
}


def size(operation: Operation) -> int:
    """The bytes that the suites carry by `operation`: 8 for atomics, else 64."""
    return 8 if operation in EIGHT_BYTES else 64


def effects(operation: Operation, seed: int, at: int, region: int) -> tuple[list[Run], list[Run]]:
    """Runs of change in the region, of `region` bytes, and in the local buffer, of LOCAL.

    The operation takes `size(operation)` bytes, from the buffer's first byte to `at` bytes into
    the region or back.
    """
    length = size(operation)
    old = image(seed, "region", region)[GUARD + at : GUARD + at + length]
    source = image(seed, "local", LOCAL)[GUARD : GUARD + length]
    if operation is Operation.READ:
        return [], [run(0, old)]
    if operation is Operation.CMP_SWAP:
        return [run(at, high(seed, "operand", 8))], [run(0, old)]
    if operation is Operation.FETCH_ADD:  # the addend is 0x80 in each of the 8 bytes
        return [run(at, bytes(byte + 0x80 for byte in old))], [run(0, old)]
    return [run(at, source)], []
