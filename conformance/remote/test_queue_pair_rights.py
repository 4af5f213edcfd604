"""Is an operation allowed exactly when the responder's queue pair allows the operation?"""

from dataclasses import replace

from conformance.remote.operations import OPERATIONS, READ, WRITE
from conformance.remote.rights import RIGHTS, subsets
from conformance.spec.operations import full_rights
from conformance.spec.vocabulary import Access
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
        # Queue pairs with every right are the region suite's.
        if full_rights(operation.operation, operation.placement) not in rights
    ]
    + [replace(operation, length=0, qp_access=Access.LOCAL_WRITE) for operation in (WRITE, READ)],
)
def test_queue_pair_rights(case, verify):
    verify(case)
