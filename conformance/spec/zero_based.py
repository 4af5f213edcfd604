"""The oracle of regions that are addressed by an iova of their own.

But for the numbers by which they are named nothing differs (ibv_reg_mr_iova(3)): what a transfer
must show is what `spec.transfer` says of its twin, at a region that is addressed as usual.
"""

from dataclasses import replace

from conformance.spec import pinning, transfer
from conformance.spec.buffer import BufferRegistration
from conformance.spec.model import Capabilities, Expectation, Outcome, Region, Transfer
from conformance.spec.operations import ATOMICS
from conformance.spec.vocabulary import PAGE, Verdict

FAR = 1 << 40  # an offset outside of every region
END = 1 << 64
_ANY_ERRNO = ("EINVAL", "EOPNOTSUPP", "ENOMEM", "EFAULT", "EOVERFLOW", "ERANGE")


def is_zero_based(case: Transfer | BufferRegistration) -> bool:
    """Whether the case is of this module."""
    if isinstance(case, BufferRegistration):
        return case.iova is not None
    return case.remote.iova is not None


def requirement(case: Transfer | BufferRegistration) -> str:
    """The id of the rule that a case asks."""
    if isinstance(case, Transfer):
        return "ZB-ATOMIC" if case.operation in ATOMICS else "ZB-REMOTE"
    if (case.iova - case.buffer.offset) % PAGE:
        return "ZB-PAGE-OFFSET"
    return "ZB-WRAP" if case.iova + case.buffer.length >= END else "ZB-LOCAL"


def expect(case: Transfer | BufferRegistration, caps: Capabilities, seed: int) -> Expectation:
    """All answers allowed to `case` on a device with `caps`."""
    name = requirement(case)
    if not caps.has("iova"):
        return Expectation(name, (), unclaimed=caps.why_not("iova"))
    if isinstance(case, BufferRegistration):
        return Expectation(name, _of_registration(case, caps, name))
    found = transfer.expect(_twin(case), caps, seed)
    control = None
    if found.control is not None:
        control = replace(case, remote=replace(case.remote, by_address=False), remote_offset=0)
    return replace(found, requirement=name, control=control)


def _twin(case: Transfer) -> Transfer:
    """A transfer that must end as `case` does, at a region without an iova.

    An iova has the offset in its page that the buffer has, so that alignment is the same.
    """
    remote: Region = replace(case.remote, iova=None, by_address=False)
    return replace(
        case, remote=remote, remote_offset=FAR if case.remote.by_address else case.remote_offset
    )


def _of_registration(
    case: BufferRegistration, caps: Capabilities, name: str
) -> tuple[Outcome, ...]:
    [registered] = pinning.expect(replace(case, iova=None), caps).outcomes
    facts = {**registered.facts, "by_address": ("refused",)}
    outcome = Outcome("registered, addressed by the iova", facts)
    invalid = pinning.refused("EINVAL")
    if name == "ZB-PAGE-OFFSET":
        return (invalid, outcome)
    if name == "ZB-WRAP":
        # How many of its bytes can be reached is left open; none may lie outside of it.
        free = ("source", "sink")
        kept = {fact: values for fact, values in facts.items() if fact not in free}
        refused = pinning.refused(*_ANY_ERRNO)  # no document says how a device has to refuse it
        return (refused, Outcome("registered", kept, Verdict.NOTE))
    return (outcome,)
