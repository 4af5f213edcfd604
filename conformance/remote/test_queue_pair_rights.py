"""Is an operation allowed exactly when the responder's queue pair allows the operation?"""

from dataclasses import replace

from conformance.remote.operations import OPERATIONS
from conformance.remote.rights import RIGHTS, subsets
from conformance.spec.model import ALL_RIGHTS
from rdma_conformance.suite import asks


@asks(
    "QP-RIGHT-SEND",
    "QP-RIGHT-WRITE",
    "QP-RIGHT-WRITE-IMM",
    "QP-RIGHT-READ",
    "QP-RIGHT-ATOMIC",
    "QP-RIGHT-ATOMIC-WRITE",
    "QP-RIGHT-FLUSH",
    cases=[
        replace(operation, qp_access=rights)
        for operation in OPERATIONS
        for rights in subsets(RIGHTS)
        if ALL_RIGHTS not in rights  # those are the region suite's cases
    ],
)
def test_queue_pair_rights(case, verify):
    verify(case)
