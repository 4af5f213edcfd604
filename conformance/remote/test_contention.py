"""Is an update of one queue pair ever lost to one of another?"""

from conformance.spec.model import ConcurrentAtomics, Topology
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks


@asks(
    "ATOMIC-CONTENTION",
    cases=[
        ConcurrentAtomics(operation, topology=topology)
        for operation in (Operation.FETCH_ADD, Operation.CMP_SWAP)
        for topology in Topology
    ],
)
def test_two_queue_pairs_at_one_place(case, verify):
    verify(case)
