"""Is an operation allowed exactly when the region has the operation's own right?"""

from dataclasses import replace

from conformance.remote.operations import OPERATIONS
from conformance.remote.rights import MODIFIERS, legal_region_rights
from conformance.spec.model import Region
from rdma_conformance.suite import asks


@asks(
    "MR-RIGHT-SEND",
    "MR-RIGHT-WRITE",
    "MR-RIGHT-WRITE-IMM",
    "MR-RIGHT-READ",
    "MR-RIGHT-ATOMIC",
    "MR-RIGHT-ATOMIC-WRITE",
    "MR-RIGHT-FLUSH",
    cases=[
        replace(operation, remote=Region(rights | modifier))
        for operation in OPERATIONS
        for modifier in MODIFIERS
        for rights in legal_region_rights()
    ],
)
def test_region_rights(case, verify):
    verify(case)
