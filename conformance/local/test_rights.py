"""May a region be read by its owner always, and written exactly with LOCAL_WRITE?"""

from dataclasses import replace

from conformance.remote.operations import SEND, WITH_BUFFER
from conformance.remote.rights import subsets
from conformance.spec.model import Region
from conformance.spec.registration import NEEDS_LOCAL_WRITE
from conformance.spec.vocabulary import Access
from rdma_conformance.suite import asks

FLAGS = (
    Access.LOCAL_WRITE,
    Access.REMOTE_WRITE,
    Access.REMOTE_READ,
    Access.REMOTE_ATOMIC,
    Access.MW_BIND,
)
# A region without any right is asked with the registrations.
LEGAL = [
    access
    for access in subsets(FLAGS)
    if access and (Access.LOCAL_WRITE in access or not access & NEEDS_LOCAL_WRITE)
]


@asks(
    "LOC-RIGHT",
    cases=[
        replace(operation, local=Region(access))
        for operation in WITH_BUFFER
        for access in LEGAL
        if access != Access.LOCAL_WRITE
    ],
)
def test_the_rights_of_a_local_buffer(case, verify):
    verify(case)


@asks(
    "RECV-RIGHT",
    cases=[
        replace(SEND, receive=Region(access), shared=shared)
        for shared in (False, True)
        for access in (Access(0), *LEGAL)
        if access != Access.LOCAL_WRITE
    ],
)
def test_the_rights_of_a_receive_buffer(case, verify):
    verify(case)
