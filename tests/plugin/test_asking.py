"""How long a driver has for its answer."""

from conformance.spec.lifetime import Killed
from conformance.spec.model import Transfer
from conformance.spec.vocabulary import Operation
from rdma_conformance.asking import patience
from rdma_conformance.endpoint.client import START_S
from rdma_conformance.suites import all_cases


def test_what_a_process_needs_to_start_is_not_taken_from_the_drivers_time():
    assert patience(Transfer(Operation.WRITE), 30.0) == 30.0
    assert patience(Killed(Operation.WRITE, 6), 30.0) == START_S + 30.0
    assert all(patience(case, 30.0) >= 30.0 for case in all_cases().values())
