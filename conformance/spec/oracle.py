"""One door to the oracle: the expectation of any kind of case."""

from conformance.spec import registration, transfer, window, window_answers
from conformance.spec.model import Capabilities, Case, Expectation, Registration, Transfer


def expect(case: Case, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    match case:
        case Registration():
            return registration.expect(case, caps)
        case Transfer():
            return transfer.expect(case, caps, seed)
        case window.Window() | window.Invalidation() | window.Allocation() | window.WrongCall():
            return window_answers.expect(case, caps, seed)
    raise TypeError(f"the oracle knows no case of kind {type(case).__name__}")


def requirement(case: Case) -> str:
    """The id of the rule that `case` asks; it never depends on a device."""
    match case:
        case Registration():
            return registration.requirement(case.access)
        case Transfer():
            return transfer.requirement(case)
        case window.Window() | window.Invalidation() | window.Allocation() | window.WrongCall():
            return window.requirement(case)
    raise TypeError(f"the oracle knows no case of kind {type(case).__name__}")
