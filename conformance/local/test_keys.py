"""Does only the region's own, living lkey open it to its owner's work requests?"""

from dataclasses import replace

from conformance.local.lists import EACH_KEY_BYTE, one_of_three, wrong_keys
from conformance.remote.operations import READ, SEND, WITH_BUFFER, WRITE, in_both_topologies
from conformance.spec.model import Key, Segment
from conformance.spec.vocabulary import Transport
from rdma_conformance.suite import asks


@asks(
    "LOC-KEY",
    cases=in_both_topologies(
        replace(operation, local_sgl=(segment,))
        for operation in WITH_BUFFER
        for segment in wrong_keys(operation.length)
    ),
)
def test_another_key(case, verify):
    verify(case)


@asks(
    "LOC-KEY",
    cases=[
        replace(operation, local_sgl=(Segment(operation.length, key_xor=bits),))
        for operation in (SEND, READ)
        for bits in EACH_KEY_BYTE
        if bits not in (0x01, 0x80)  # asked above
    ],
)
def test_each_other_key_byte(case, verify):
    verify(case)


@asks(
    "LOC-KEY",
    "LOC-DOMAIN",
    cases=[
        replace(operation, transport=Transport.UC, local_sgl=(segment,))
        for operation in (SEND, WRITE)
        for segment in (*wrong_keys(64), Segment(64, key=Key.OTHER_DOMAIN))
    ],
)
def test_on_an_unreliable_connection(case, verify):
    verify(case)


@asks(
    "LOC-KEY",
    cases=[
        replace(operation, local_sgl=(Segment(operation.length, key=Key.FOREIGN),))
        for operation in WITH_BUFFER
    ],
)
def test_a_key_of_the_other_device(case, verify):
    verify(case)


@asks(
    "LOC-KEY",
    "LOC-DOMAIN",
    "LOC-RIGHT",
    cases=[
        replace(operation, local_sgl=segments)
        for operation in (SEND, WRITE, READ)
        for key in (Key.ZERO, Key.DEREGISTERED, Key.OTHER_DOMAIN, Key.NO_RIGHTS)
        for segments in one_of_three(Segment(0, key=key))
    ],
)
def test_one_of_three_entries(case, verify):
    verify(case)


@asks(
    "LOC-DOMAIN",
    cases=in_both_topologies(
        replace(operation, local_sgl=(Segment(operation.length, key=Key.OTHER_DOMAIN),))
        for operation in WITH_BUFFER
    ),
)
def test_a_region_of_another_protection_domain(case, verify):
    verify(case)
