"""One door to the oracle: the expectation of any kind of case."""

from conformance.spec import accounting, crowding, pinning, registration, transfer, zero_based
from conformance.spec.crowd import Crowded
from conformance.spec.memlock import Contention, Ending, LiveUnderLimit, Memlock
from conformance.spec.model import (
    BufferRegistration,
    Capabilities,
    Case,
    Expectation,
    Registration,
    Transfer,
)


def expect(case: Case, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    match case:
        case Registration():
            return registration.expect(case, caps)
        case Transfer() | BufferRegistration() if zero_based.is_zero_based(case):
            return zero_based.expect(case, caps, seed)
        case BufferRegistration():
            return pinning.expect(case, caps)
        case Memlock() | Contention() | Ending() | LiveUnderLimit():
            return accounting.expect(case, caps)
        case Transfer():
            return transfer.expect(case, caps, seed)
        case _ if isinstance(case, Crowded):
            return crowding.expect(case, caps)
    raise _unknown(case)


def requirement(case: Case) -> str:
    """The id of the rule that `case` asks; it never depends on a device."""
    match case:
        case Registration():
            return registration.requirement(case.access)
        case Transfer() | BufferRegistration() if zero_based.is_zero_based(case):
            return zero_based.requirement(case)
        case BufferRegistration():
            return pinning.requirement(case)
        case Memlock() | Contention() | Ending() | LiveUnderLimit():
            return accounting.requirement(case)
        case Transfer():
            return transfer.requirement(case)
        case _ if isinstance(case, Crowded):
            return crowding.requirement(case)
    raise _unknown(case)


def _unknown(case: Case) -> TypeError:
    return TypeError(f"the oracle knows no cases of kind {type(case).__name__}")
