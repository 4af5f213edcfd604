"""Faults of a driver that looks away: buffers, receives, other transports, atomics, data."""

from collections.abc import Callable
from typing import Any

from conformance.spec.model import Key, Operand, Posted, Topology
from conformance.spec.vocabulary import Access, Operation, Status, Transport
from rdma_conformance.plants.plant import Plant, Wire

LW, RR = int(Access.LOCAL_WRITE), int(Access.REMOTE_READ)
SUCCESS = Status.SUCCESS.name


def _transfer(operation: Operation, **fields: Any) -> Callable[[Wire], bool]:
    """`operation` between the two devices with `fields` of the case as given."""
    usual = {"topology": Topology.PEERS, "recover": False, "inline": False, "remote_offset": 0}
    wanted = {**usual, "operation": operation, **fields}
    return lambda case: (
        case["kind"] == "transfer" and all(case[name] == value for name, value in wanted.items())
    )


def _entry(length: int, **fields: Any) -> dict[str, Any]:
    """The builtin form of one entry of a scatter/gather list."""
    return {"length": length, "offset": 0, "key": "own", "key_xor": 0, "address": None, **fields}


def _region(access: int, length: int = 4096) -> dict[str, Any]:
    """The builtin form of a region at the start of a page."""
    return {
        "access": access,
        "length": length,
        "page_offset": 0,
        "iova": None,
        "by_address": False,
    }


PROTECTION = (
    Plant(
        "ignores-lkey-byte",
        "LOC-KEY",
        "the consumer's byte of the lkey is not compared",
        _transfer(Operation.SEND, local_sgl=[_entry(64, key_xor=0x55)]),
        instead={"local_sgl": []},
    ),
    Plant(
        "only-first-lkey-counts",
        "LOC-KEY",
        "of a READ into three entries the key of the last is not looked at",
        _transfer(
            Operation.READ,
            local_sgl=[
                _entry(16),
                _entry(24, offset=100),
                _entry(24, offset=200, key=Key.DEREGISTERED.value),
            ],
        ),
        instead={"local_sgl": [_entry(16), _entry(24, offset=100), _entry(24, offset=200)]},
    ),
    Plant(
        "reads-another-domain",
        "LOC-DOMAIN",
        "a WRITE takes its data from a region of another protection domain",
        _transfer(Operation.WRITE, local_sgl=[_entry(64, key=Key.OTHER_DOMAIN.value)]),
        instead={"local_sgl": []},
    ),
    Plant(
        "sends-what-lies-before",
        "LOC-RANGE",
        "a SEND from one byte before the region is granted",
        _transfer(Operation.SEND, local=_region(LW), local_sgl=[_entry(64, offset=-1)]),
        instead={"local_sgl": []},
    ),
    Plant(
        "last-byte-is-refused",
        "LOC-RANGE",
        "a READ that ends with the region's last byte is told as a fault",
        _transfer(Operation.READ, local=_region(LW), local_sgl=[_entry(64, offset=4032)]),
        reports={"requester": Status.LOC_PROT_ERR.name},
    ),
    Plant(
        "fetches-without-local-write",
        "LOC-RIGHT",
        "a READ writes into a region that its owner may not write",
        _transfer(Operation.READ, local=_region(RR), local_sgl=[], rkey_xor=0),
        instead={"local": _region(LW)},
    ),
    Plant(
        "checks-lkey-of-nothing",
        "LOC-ZERO-LENGTH",
        "the lkey of an entry without a byte is looked at",
        _transfer(
            Operation.SEND,
            local_sgl=[
                _entry(32),
                _entry(0, key=Key.ZERO.value),
                _entry(32, offset=32),
            ],
        ),
        instead={"local_sgl": [_entry(32), _entry(32, offset=32, key=Key.ZERO.value)]},
    ),
    Plant(
        "checks-lkey-of-nothing-received",
        "RECV-ZERO-LENGTH",
        "the lkey of a receive's entry without a byte is looked at",
        _transfer(
            Operation.SEND,
            shared=False,
            receive_sgl=[
                _entry(32),
                _entry(0, key=Key.ZERO.value),
                _entry(32, offset=32),
            ],
        ),
        instead={"receive_sgl": [_entry(32), _entry(32, offset=32, key=Key.ZERO.value)]},
    ),
    Plant(
        "checks-inline-lkey",
        "LOC-INLINE",
        "the lkey of inline data is looked at",
        _transfer(Operation.WRITE, inline=True, local_sgl=[_entry(64, key=Key.ZERO.value)]),
        instead={"inline": False},
    ),
    Plant(
        "receives-by-stale-lkey",
        "RECV-KEY",
        "a message is laid into memory whose registration has ended",
        _transfer(
            Operation.SEND,
            transport=Transport.RC,
            shared=False,
            receive_sgl=[_entry(64, key=Key.DEREGISTERED.value)],
        ),
        instead={"receive_sgl": []},
    ),
    Plant(
        "receives-into-another-domain",
        "RECV-DOMAIN",
        "a message is laid into a region of another domain than the shared receive queue's",
        _transfer(
            Operation.SEND, shared=True, receive_sgl=[_entry(64, key=Key.OTHER_DOMAIN.value)]
        ),
        instead={"receive_sgl": []},
    ),
    Plant(
        "receives-one-byte-behind",
        "RECV-RANGE",
        "a message of a byte more than the region behind its receive is taken",
        _transfer(
            Operation.SEND,
            transport=Transport.RC,
            shared=False,
            length=4097,
            receive_sgl=[_entry(4097)],
        ),
        instead={"receive": _region(LW, 8192)},
    ),
    Plant(
        "receives-without-local-write",
        "RECV-RIGHT",
        "a message is laid into a region without LOCAL_WRITE",
        _transfer(Operation.SEND, shared=False, transport=Transport.RC, receive=_region(RR)),
        instead={"receive": _region(LW)},
    ),
    Plant(
        "receives-more-than-posted",
        "RECV-LENGTH",
        "a message of 64 bytes is taken by a receive of 63",
        _transfer(
            Operation.SEND,
            transport=Transport.RC,
            shared=False,
            length=64,
            receive_sgl=[_entry(63)],
        ),
        instead={"receive_sgl": []},
    ),
    Plant(
        "last-packet-is-padded",
        "DATA-EXACT",
        "a WRITE of 1025 bytes writes one more",
        _transfer(Operation.WRITE, transport=Transport.RC, length=1025, remote=_region(0xF, 8192)),
        stray_byte=True,
    ),
    Plant(
        "unreliable-key-unchecked",
        "UC-REFUSAL",
        "an unreliable WRITE under another key byte is granted",
        _transfer(Operation.WRITE, transport=Transport.UC, rkey_xor=0xFF),
        instead={"rkey_xor": 0},
    ),
    Plant(
        "datagram-past-the-receive",
        "UD-RECEIVE",
        "a datagram of 64 bytes is taken by a receive of 63",
        _transfer(Operation.SEND, transport=Transport.UD, receive_sgl=[_entry(63)]),
        instead={"receive_sgl": []},
    ),
    Plant(
        "unreliable-read",
        "TRANSPORT-OPERATION",
        "a READ on an unreliable connection is performed",
        _transfer(Operation.READ, transport=Transport.UC),
        instead={"transport": Transport.RC.value},
    ),
    Plant(
        "gives-up-at-once",
        "RECEIVER-NOT-READY",
        "a SEND that finds no receive yet is given up, though it may retry for ever",
        _transfer(Operation.SEND, posted=Posted.LATE.value),
        instead={"posted": Posted.NEVER.value},
    ),
    Plant(
        "refusal-spoils-the-region",
        "REFUSAL-RECOVERY",
        "after a refused READ the region refuses new connections, too",
        _transfer(Operation.READ, recover=True, rkey_xor=0xFF),
        ends_early=True,
    ),
    Plant(
        "two-faults-make-a-right",
        "TWO-FAULTS",
        "a READ that the region and the queue pair refuse is performed",
        _transfer(Operation.READ, remote=_region(LW), qp_access=int(~RR & 0xF)),
        adds=RR,
        adds_to_queue_pair=RR,
    ),
    Plant(
        "rounds-the-address",
        "ATOMIC-ALIGNMENT",
        "an atomic at an odd address is made at the aligned one before",
        _transfer(Operation.FETCH_ADD, remote=_region(0xF), remote_offset=1, local_sgl=[]),
        instead={"remote_offset": 0},
    ),
    Plant(
        "returns-eight-bytes-always",
        "ATOMIC-SIZE",
        "an atomic writes 8 bytes into a buffer of 4",
        _transfer(Operation.CMP_SWAP, local_sgl=[_entry(4, offset=64)]),
        instead={"local_sgl": [_entry(8, offset=64)]},
    ),
    Plant(
        "swaps-without-comparing",
        "ATOMIC-RESULT",
        "the first byte is not compared",
        _transfer(Operation.CMP_SWAP, operand=Operand.MISS_FIRST.value),
        instead={"operand": Operand.PLAIN.value},
    ),
    Plant(
        "loses-an-update",
        "ATOMIC-CONTENTION",
        "of the additions that come at once the last are lost",
        lambda case: (
            case["kind"] == "concurrentatomics"
            and case["operation"] == Operation.FETCH_ADD
            and case["topology"] == Topology.PEERS
        ),
        instead={"bursts": 15},
    ),
)
