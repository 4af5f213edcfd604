"""Does a device refuse cleanly when it has no room, and recover when there is room again?"""

from conformance.spec.crowd import Limit
from rdma_conformance.suite import asks


@asks("REG-MAX", cases=[Limit(2000)])
def test_many_that_live_and_end(case, verify):
    verify(case)


@asks("REG-MAX", cases=[Limit()], exhaustive=True)
def test_as_many_as_the_device_takes(case, verify):
    verify(case)
