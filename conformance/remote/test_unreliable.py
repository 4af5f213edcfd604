"""What becomes of a request that an unreliable responder must refuse?"""

from dataclasses import replace

from conformance.local.lists import wrong_keys
from conformance.remote.operations import SEND, WRITE, WRITE_IMM, in_both_topologies
from conformance.spec.fault import OFFERED
from conformance.spec.model import Key, Region, Segment
from conformance.spec.operations import EIGHT_BYTES, full_rights
from conformance.spec.vocabulary import Access, Operation, Transport
from rdma_conformance.suite import asks

ALL = full_rights(Operation.WRITE)
FAULTS = (
    {"remote": Region(Access.LOCAL_WRITE)},
    {"remote": Region(Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC)},
    {"qp_access": Access(0)},
    {"qp_access": ALL & ~Access.REMOTE_WRITE},
    {"rkey_xor": 0x01},
    {"rkey_xor": 0xFF},
    {"rkey_xor": 1 << 8},
    {"rkey_xor": 1 << 31},
    {"rkey": Key.ZERO},
    {"rkey": Key.DEREGISTERED},
    {"rkey": Key.OTHER_DOMAIN},
    {"rkey": Key.NO_RIGHTS},
    {"remote_offset": -1},
    {"remote_offset": 4096 - 63},
    {"remote_offset": 4096},
    {"remote_offset": 1 << 30},
)


@asks(
    "UC-REFUSAL",
    cases=in_both_topologies(
        replace(operation, transport=Transport.UC, **fault)
        for operation in (WRITE, WRITE_IMM)
        for fault in FAULTS
    ),
)
def test_an_unreliable_connection_drops_it(case, verify):
    verify(case)


@asks(
    "UC-REFUSAL",
    cases=[
        replace(
            operation,
            transport=Transport.UC,
            length=length,
            local=Region(Access.LOCAL_WRITE, 16384),
            remote=Region(ALL, length - 1),
        )
        for operation in (WRITE, WRITE_IMM)
        for length in (257, 1025, 2049, 4097, 8193)
    ],
)
def test_an_unreliable_connection_drops_several_packets(case, verify):
    verify(case)


# FLUSH and atomic WRITE are left out: a queue pair has to be created for them, and which
# transports that allows is the provider's answer to another question.
POSTABLE = set(Operation) - {Operation.FLUSH, Operation.ATOMIC_WRITE}
DATAGRAM = replace(SEND, transport=Transport.UD)


@asks(
    "UD-RECEIVE",
    cases=in_both_topologies(
        [
            *(replace(DATAGRAM, length=length) for length in (0, 1, 64, 255, 256)),
            *(replace(DATAGRAM, receive_sgl=(segment,)) for segment in wrong_keys(64)),
            replace(DATAGRAM, receive_sgl=(Segment(64, key=Key.OTHER_DOMAIN),)),
            replace(DATAGRAM, receive_sgl=(Segment(64, key=Key.NO_RIGHTS),)),
            replace(DATAGRAM, receive=Region(Access(0))),
            replace(DATAGRAM, receive=Region(Access.REMOTE_READ)),
            *(
                replace(DATAGRAM, receive_sgl=(Segment(64, offset),))
                for offset in (-1, 4096 - 64, 4096 - 63, 4096, 1 << 30)
            ),
            *(replace(DATAGRAM, receive_sgl=(Segment(length),)) for length in (1, 32, 63, 64)),
        ]
    ),
)
def test_a_datagram(case, verify):
    verify(case)


@asks(
    "TRANSPORT-OPERATION",
    cases=[
        replace(
            WRITE,
            operation=operation,
            length=8 if operation in EIGHT_BYTES else 64,
            transport=transport,
            remote=Region(full_rights(operation)),
            qp_access=full_rights(operation),
        )
        for transport, operations in (
            (Transport.UC, POSTABLE - OFFERED[Transport.UC]),
            (Transport.UD, POSTABLE - OFFERED[Transport.UD]),
        )
        for operation in sorted(operations)
    ],
)
def test_an_operation_that_the_transport_has_not(case, verify):
    verify(case)
