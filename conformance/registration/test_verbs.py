"""Do all calls that register memory take and refuse the same?"""

from conformance.spec.buffer import Backing, Buffer, BufferRegistration, Verb
from conformance.spec.model import ALL_RIGHTS
from conformance.spec.vocabulary import PAGE, Access
from rdma_conformance.suite import asks

BUFFERS = (
    Buffer(),
    Buffer(length=3 * PAGE - 20, offset=10),
    Buffer(Backing.MEMFD),
    Buffer(Backing.NULL),
    Buffer(Backing.UNMAPPED),
    Buffer(Backing.NO_ACCESS),
    Buffer(Backing.READ_ONLY),
    Buffer(Backing.TOP),
    Buffer(length=4 * PAGE, hole=1),
    Buffer(length=(1 << 64) - PAGE),
)


@asks(
    "REG-VERBS-AGREE",
    cases=[
        BufferRegistration(buffer, access, verb)
        for verb in (Verb.REG_MR_IOVA, Verb.REG_MR_IOVA2)
        for buffer in BUFFERS
        for access in (Access.LOCAL_WRITE, ALL_RIGHTS)
    ],
)
def test_every_call_that_registers(case, verify):
    verify(case)
