"""One door to the oracle: the expectation of any kind of case.

Each kind has a module of its own with an `expect` and a `requirement`.
"""

from types import ModuleType
from typing import get_args

from conformance.spec import (
    accounting,
    contention,
    crowding,
    pinning,
    registration,
    transfer,
    zero_based,
)
from conformance.spec.crowd import Crowded
from conformance.spec.model import (
    Accounted,
    BufferRegistration,
    Capabilities,
    Case,
    ConcurrentAtomics,
    Expectation,
    Registration,
    Transfer,
)

_ORACLES: dict[type, ModuleType] = {
    Registration: registration,
    BufferRegistration: pinning,
    Transfer: transfer,
    ConcurrentAtomics: contention,
    **dict.fromkeys(get_args(Accounted), accounting),
    **dict.fromkeys(get_args(Crowded), crowding),
}


def expect(case: Case, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    return _oracle(case).expect(case, caps, seed)


def requirement(case: Case) -> str:
    """The id of the rule that `case` asks; it never depends on a device."""
    return _oracle(case).requirement(case)


def _oracle(case: Case) -> ModuleType:
    if isinstance(case, Transfer | BufferRegistration) and zero_based.is_zero_based(case):
        return zero_based
    found = _ORACLES.get(type(case))
    if found is None:
        raise TypeError(f"the oracle knows no cases of kind {type(case).__name__}")
    return found
