"""Do operations reach the right page, whatever has become of it since the registration?"""

from conformance.spec.lifetime import Side
from conformance.spec.operations import EIGHT_BYTES
from conformance.spec.paging import Paged, Pages
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks

SEND, WRITE, READ, SWAP, ADD, ATOMIC_WRITE = (
    Operation.SEND,
    Operation.WRITE,
    Operation.READ,
    Operation.CMP_SWAP,
    Operation.FETCH_ADD,
    Operation.ATOMIC_WRITE,
)
USES = [
    *((Side.REMOTE, operation) for operation in (WRITE, READ, SWAP, ADD, ATOMIC_WRITE)),
    *((Side.LOCAL, operation) for operation in (SEND, WRITE, READ, SWAP, ADD)),
    (Side.RECEIVE, SEND),
]


def paged(*pages: Pages) -> list[Paged]:
    return [Paged(each, side, operation) for each in pages for side, operation in USES]


@asks("ODP-UNTOUCHED", cases=paged(Pages.UNTOUCHED, Pages.WRITTEN))
def test_pages_that_nobody_has_touched(case, verify):
    verify(case)


@asks(
    "ODP-PLACE",
    cases=[
        Paged(Pages.WRITTEN, side, operation, at)
        for side, operation in USES
        # Within a page, up to its end, and over the edge of two; atomics are aligned.
        for at in ((8, 4096 - 8) if operation in EIGHT_BYTES else (1, 512, 4096 - 64, 4096 - 32))
    ],
)
def test_every_byte_of_a_page(case, verify):
    verify(case)


@asks("ODP-SHARED", cases=paged(Pages.ZERO, Pages.FORKED))
def test_pages_that_are_shared_stay_the_others(case, verify):
    verify(case)


@asks("ODP-FOLLOWS", cases=paged(Pages.MAPPED_OVER, Pages.DISCARDED))
def test_a_mapping_that_changes_is_followed(case, verify):
    verify(case)


@asks("ODP-READ-ONLY", cases=paged(Pages.READ_ONLY))
def test_pages_that_the_process_may_not_write(case, verify):
    verify(case)


@asks("ODP-UNMAPPED", cases=paged(Pages.UNMAPPED))
def test_pages_that_are_gone(case, verify):
    verify(case)
