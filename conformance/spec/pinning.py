"""The oracle of registering memory of every kind: what can be pinned, what not, with which errno.

The errnos are those of the kernel's common code, which every driver uses to pin user memory
(drivers/infiniband/core/umem.c, mm/gup.c); each requirement's entry carries the citations.
"""

from dataclasses import replace

from conformance.spec.buffer import OVER_LIMIT, Backing, Buffer, BufferRegistration, Verb
from conformance.spec.model import Capabilities, Expectation, Outcome
from conformance.spec.umem import untold
from conformance.spec.vocabulary import PAGE, Access, Status, Verdict

FILES = frozenset({Backing.READ_ONLY_PRIVATE_FILE, Backing.READ_ONLY_SHARED_FILE})
READ_ONLY = FILES | {Backing.READ_ONLY}
UNPINNABLE = frozenset(
    {
        Backing.NO_ACCESS,
        Backing.UNMAPPED,
        Backing.NULL,
        Backing.KERNEL,
        Backing.DEVICE,
        Backing.KERNEL_DATA,
    }
)
# What asks for the right to write the process's own mapping (ib_access_writable()).
WRITABLE = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC | Access.MW_BIND

ADDRESS_SPACE = 1 << 47  # bytes; no process that maps a buffer has so many behind it
LARGE = 1 << 39  # bytes from which a range must run into a hole

# What has to be there for a buffer of that kind, as the worker probes it.
_NEEDED = {
    Backing.HUGE_2M: "huge_pages_2m",
    Backing.HUGE_1G: "huge_pages_1g",
    Backing.TRANSPARENT_HUGE: "transparent_huge_pages",
    Backing.DEVICE: "device_mapping",
    Backing.KERNEL_DATA: "kernel_data_mapping",
}


def requirement(case: BufferRegistration) -> str:
    """The id of the rule that a registration asks."""
    buffer = case.buffer
    if case.times > 1:
        return "REG-FAILURE-LEAVES-NOTHING"
    if case.verb is not Verb.REG_MR:
        return "REG-VERBS-AGREE"
    if buffer.length == 0:
        return "REG-ZERO-LENGTH"
    if _too_long(buffer):
        return "REG-OVERFLOW"
    if buffer.hole is not None or buffer.backing in UNPINNABLE:
        return "REG-UNMAPPED"
    return "REG-READ-ONLY" if buffer.backing in READ_ONLY else "REG-BUFFER"


def expect(case: BufferRegistration, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`."""
    name = requirement(case)
    needed = [_NEEDED[case.buffer.backing]] if case.buffer.backing in _NEEDED else []
    if case.access & Access.ON_DEMAND:
        needed += ["odp", "odp_rc_write", "odp_rc_read"]
    if case.buffer.length == OVER_LIMIT:
        needed.append("mr_size_limit")
    for capability in needed:
        if not caps.has(capability):
            return Expectation(name, (), unclaimed=caps.why_not(capability))
    outcomes = _outcomes(case)
    if outcomes[0].facts["result"] == ("OK",):
        return Expectation(name, outcomes)
    return Expectation(name, outcomes, control=_control(case))


def pages(buffer: Buffer) -> int:
    """How many pages of PAGE bytes a buffer touches: also of huge pages that is the unit."""
    return -(-(buffer.offset % PAGE + buffer.length) // PAGE)


def _too_long(buffer: Buffer) -> bool:
    return buffer.backing is Backing.TOP or buffer.length >= LARGE or buffer.length == OVER_LIMIT


def _outcomes(case: BufferRegistration) -> tuple[Outcome, ...]:
    """The answers allowed to a range that is none, to one that can't be, and to memory."""
    buffer = case.buffer
    if buffer.length == 0:
        invalid = refused("EINVAL")
        return (invalid,) if buffer.backing is Backing.NULL else (invalid, _empty())
    if _too_long(buffer):
        return (refused(*_overflow_errnos(buffer)),)
    return _of_memory(case)


def _of_memory(case: BufferRegistration) -> tuple[Outcome, ...]:
    backing, writes = case.buffer.backing, bool(case.access & WRITABLE)
    if backing is Backing.NO_ACCESS and not writes:
        kept = {"result": ("OK",), "dereg": ("OK",), "left": ([],)}
        return (*not_pinned(), Outcome("registered for reading", kept, Verdict.NOTE))
    unwritable = backing in READ_ONLY and writes
    if case.buffer.hole is not None or backing in UNPINNABLE or unwritable:
        return not_pinned()
    # Kernels before 6.2 asked for the right to write in any case; newer ones refuse to write a
    # file whose file system is to be told of dirty pages.
    if backing in FILES or (backing is Backing.SHARED_FILE and writes):
        errnos = ("EFAULT", *untold("EFAULT"))
        return (_registered(case), refused(*errnos, verdict=Verdict.NOTE))
    return (_registered(case),)


def _overflow_errnos(buffer: Buffer) -> tuple[str, ...]:
    if buffer.backing is Backing.TOP or buffer.length >= (1 << 64) - PAGE:
        return ("EINVAL",)  # address and length together pass 2^64
    if 0 < buffer.length < ADDRESS_SPACE:
        return ("EFAULT", "EINVAL", "ENOMEM")  # a hole, or more than is taken at all
    return ("EINVAL", "ENOMEM", "EFAULT", "EOPNOTSUPP")


def not_pinned() -> tuple[Outcome, ...]:
    """The answers to memory that can't be pinned: clean refusals, with or without its errno."""
    return (refused("EFAULT"), refused(*untold("EFAULT"), verdict=Verdict.NOTE))


def refused(*errnos: str, verdict: Verdict = Verdict.PASS) -> Outcome:
    """A clean refusal: nothing left, and other regions work."""
    facts = {"result": errnos, "left": ([],), "bystander": (Status.SUCCESS.name,)}
    return Outcome("refused", facts, verdict)


def _empty() -> Outcome:
    """Registered, and no byte granted: not even the one at the region's address."""
    facts = {
        "result": ("OK",),
        "beyond": ("refused",),
        "dereg": ("OK",),
        "left": ([],),
    }
    return Outcome("registered, without a byte", facts)


def _registered(case: BufferRegistration) -> Outcome:
    pinned = 0 if case.access & Access.ON_DEMAND else pages(case.buffer)
    facts = {
        "result": ("OK",),
        "reported": ("as asked",),
        "pinned_kb": (pinned * PAGE // 1024,),
        "source": ("exact",),
        "before": ("refused",),
        "beyond": ("refused",),
        "dereg": ("OK",),
        "left": ([],),
    }
    if case.access & Access.LOCAL_WRITE:
        facts["sink"] = ("exact",)
    return Outcome("registered", facts)


def _control(case: BufferRegistration) -> BufferRegistration:
    """The same call on ordinary memory of a length that there is: it must succeed."""
    buffer = case.buffer
    length = PAGE if _too_long(buffer) or buffer.length == 0 else buffer.length
    return replace(case, buffer=Buffer(length=length, offset=buffer.offset), times=1)
