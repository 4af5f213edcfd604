"""What do prefetch and implicit regions answer, and does the region work after them?"""

from conformance.spec.paging import Advice, Implicit, Mistake, Prefetched
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks


@asks(
    "ODP-PREFETCH",
    cases=[Prefetched(advice, flush) for advice in Advice for flush in (False, True)]
    + [
        Prefetched(Advice.PREFETCH, flush, mistake)
        for flush in (False, True)
        for mistake in Mistake
        if mistake is not Mistake.NONE
    ],
)
def test_an_advice(case, verify):
    verify(case)


@asks("ODP-IMPLICIT", cases=[Implicit(Operation.WRITE)])
def test_a_region_of_everything(case, verify):
    verify(case)
