"""One door to the oracle: the expectation of any kind of case."""

from typing import get_args

from conformance.spec import (
    lifetime,
    lifetime_answers,
    paging,
    registration,
    reregistration,
    transfer,
    window,
    window_answers,
)
from conformance.spec.model import Capabilities, Case, Expectation, Registration, Transfer

# Kinds of cases, with the module of their rules and that of their answers.
_AREAS = (
    (get_args(window.WindowCase), window, window_answers),
    (get_args(lifetime.LifetimeCase), lifetime, lifetime_answers),
    (reregistration.Reregistered, reregistration, reregistration),
    (get_args(paging.PagingCase), paging, paging),
)


def expect(case: Case, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    match case:
        case Registration():
            return registration.expect(case, caps)
        case Transfer():
            return transfer.expect(case, caps, seed)
    for kinds, _, answers in _AREAS:
        if isinstance(case, kinds):
            return answers.expect(case, caps, seed)
    raise _unknown(case)


def requirement(case: Case) -> str:
    """The id of the rule that `case` asks; it never depends on a device."""
    match case:
        case Registration():
            return registration.requirement(case.access)
        case Transfer():
            return transfer.requirement(case)
    for kinds, rules, _ in _AREAS:
        if isinstance(case, kinds):
            return rules.requirement(case)
    raise _unknown(case)


def _unknown(case: Case) -> TypeError:
    return TypeError(f"the oracle knows no case of kind {type(case).__name__}")
