"""One door to the oracle: the expectation of any kind of case.

Each kind has a module with its `requirement` and one, often the same, with its `expect`.
"""

from types import ModuleType
from typing import get_args

from conformance.spec import (
    accounting,
    contention,
    crowding,
    lifetime,
    lifetime_answers,
    paging,
    pinning,
    registration,
    reregistration,
    transfer,
    window,
    window_answers,
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

_RULES: dict[type, ModuleType] = {
    Registration: registration,
    BufferRegistration: pinning,
    Transfer: transfer,
    ConcurrentAtomics: contention,
    reregistration.Reregistered: reregistration,
    **dict.fromkeys(get_args(Accounted), accounting),
    **dict.fromkeys(get_args(Crowded), crowding),
    **dict.fromkeys(get_args(window.WindowCase), window),
    **dict.fromkeys(get_args(lifetime.LifetimeCase), lifetime),
    **dict.fromkeys(get_args(paging.PagingCase), paging),
}
_ANSWERS = {window: window_answers, lifetime: lifetime_answers}


def expect(case: Case, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    rules = _rules(case)
    return _ANSWERS.get(rules, rules).expect(case, caps, seed)


def requirement(case: Case) -> str:
    """The id of the rule that `case` asks; it never depends on a device."""
    return _rules(case).requirement(case)


def _rules(case: Case) -> ModuleType:
    if isinstance(case, Transfer | BufferRegistration) and zero_based.is_zero_based(case):
        return zero_based
    found = _RULES.get(type(case))
    if found is None:
        raise TypeError(f"the oracle knows no cases of kind {type(case).__name__}")
    return found
