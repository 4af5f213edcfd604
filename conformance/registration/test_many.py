"""Do regions stay apart: over the same memory, in thousands at once, and one after the other?"""

from conformance.spec.crowd import Churn, Crowd, Listed, Overlap, Part
from conformance.spec.model import ALL_RIGHTS
from conformance.spec.vocabulary import PAGE, Access, Operation
from rdma_conformance.suite import asks

LW, RW, RR = Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ
PAIRS = (
    (Part(LW | RW), Part(RR)),
    (Part(RR), Part(LW | RW)),
    (Part(ALL_RIGHTS), Part(ALL_RIGHTS)),
    (Part(LW), Part(ALL_RIGHTS)),
    (Part(ALL_RIGHTS), Part(Access(0))),
    # One within the other, one behind the other, one that reaches into the other.
    (Part(ALL_RIGHTS), Part(ALL_RIGHTS, PAGE, PAGE)),
    (Part(ALL_RIGHTS, 0, PAGE), Part(ALL_RIGHTS, PAGE, PAGE)),
    (Part(ALL_RIGHTS, 0, PAGE + 32), Part(ALL_RIGHTS, PAGE - 32, PAGE + 32)),
    (Part(RR, 0, PAGE + 64), Part(LW | RW, PAGE, 64)),
)


@asks(
    "REG-OVERLAP",
    cases=[
        Overlap(operation, first, second)
        for operation in (Operation.WRITE, Operation.READ)
        for first, second in PAIRS
    ],
)
def test_regions_over_the_same_memory(case, verify):
    verify(case)


@asks(
    "REG-KEYS-DISTINCT",
    cases=[Crowd(1, 1, 8000), Crowd(1, 8, 500), Crowd(4, 1, 1000), Crowd(4, 4, 200)],
)
def test_keys_of_all_that_live(case, verify):
    verify(case)


@asks("REG-CHURN", cases=[Churn(1000), Churn(70_000)])
def test_one_after_the_other(case, verify):
    verify(case)


@asks("REG-LISTED", cases=[Listed(length) for length in (1, 12_345, PAGE + 7, (1 << 20) + 13)])
def test_the_kernels_list(case, verify):
    verify(case)
