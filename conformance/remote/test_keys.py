"""Does only the region's own, living rkey open it?"""

from dataclasses import replace

from conformance.remote.operations import NAMING
from conformance.spec.model import Key
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks

# One byte of a key is the consumer's, the rest an index; both are part of the key.
WRITE_WITH_EACH_KEY_BYTE = [
    replace(operation, rkey_xor=bits)
    for operation in NAMING
    if operation.operation is Operation.WRITE
    for bits in range(1, 256)
]
OTHER_OPERATIONS = [
    replace(operation, rkey_xor=bits)
    for operation in NAMING
    if operation.operation is not Operation.WRITE
    for bits in (0x01, 0x80, 0xFF)
]
OTHER_INDEX = [
    replace(operation, rkey_xor=1 << bit) for operation in NAMING for bit in (8, 12, 16, 23, 31)
]


# Of no region, and of others: the one behind this, and one of the requester's own device.
KEYS = (Key.ZERO, Key.DEREGISTERED, Key.NO_RIGHTS, Key.NEIGHBOUR, Key.FOREIGN)


@asks("MR-KEY", cases=WRITE_WITH_EACH_KEY_BYTE + OTHER_OPERATIONS)
def test_another_key_byte(case, verify):
    verify(case)


@asks("MR-KEY", cases=OTHER_INDEX)
def test_another_index(case, verify):
    verify(case)


@asks(
    "MR-KEY",
    cases=[replace(operation, rkey=key) for operation in NAMING for key in KEYS],
)
def test_a_key_of_no_region_or_another(case, verify):
    verify(case)
