"""Are the lkeys ignored that name no byte, or data that was copied when it was posted?"""

from dataclasses import replace

from conformance.local.lists import FAR, wrong_keys
from conformance.remote.operations import READ, SEND, WRITE, WRITE_IMM
from conformance.spec.model import Key, Segment
from rdma_conformance.suite import asks

EMPTY = (
    *wrong_keys(0),
    Segment(0, key=Key.OTHER_DOMAIN),
    Segment(0, address=FAR),
)


@asks(
    "LOC-ZERO-LENGTH",
    cases=[
        replace(operation, length=sum(each.length for each in segments), local_sgl=segments)
        for operation in (SEND, WRITE, READ)
        for empty in EMPTY
        for segments in ((empty,), (Segment(32), empty, Segment(32, 32)))
    ],
)
def test_an_entry_without_a_byte(case, verify):
    verify(case)


@asks(
    "RECV-ZERO-LENGTH",
    cases=[
        replace(SEND, receive_sgl=(Segment(32), empty, Segment(32, 32)), shared=shared)
        for empty in EMPTY
        for shared in (False, True)
    ],
)
def test_an_entry_without_a_byte_in_a_receive(case, verify):
    verify(case)


@asks(
    "LOC-INLINE",
    cases=[
        replace(operation, inline=True, local_sgl=(segment,))
        for operation in (SEND, WRITE, WRITE_IMM)
        for segment in (
            Segment(operation.length),
            *wrong_keys(operation.length),
            Segment(operation.length, key=Key.OTHER_DOMAIN),
        )
    ],
)
def test_inline_data(case, verify):
    verify(case)
