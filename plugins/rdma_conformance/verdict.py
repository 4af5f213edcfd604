"""From an expectation and an observation to a verdict. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.spec.model import Expectation, Outcome
from conformance.spec.vocabulary import Level, Verdict
from rdma_conformance.deviations import Deviation

_MISSING = "not observed"


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that the rules restrict to `allowed` and the driver answered with `observed`."""

    fact: str
    allowed: tuple[Any, ...]
    observed: Any


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict, the outcome that was met or came nearest, and what differs from it."""

    verdict: Verdict
    outcome: str | None = None
    differences: tuple[Difference, ...] = ()
    reason: str | None = None
    deviation: str | None = None


def differences(outcome: Outcome, observed: Mapping[str, Any]) -> tuple[Difference, ...]:
    """The facts of `outcome` that `observed` does not meet, in the outcome's order."""
    return tuple(
        Difference(fact, allowed, observed.get(fact, _MISSING))
        for fact, allowed in outcome.facts.items()
        if observed.get(fact, _MISSING) not in allowed
    )


def nearest(
    outcomes: Sequence[Outcome], observed: Mapping[str, Any]
) -> tuple[Outcome, tuple[Difference, ...]]:
    """The outcome with the fewest differences, the first of equals, and those differences."""
    return min(
        ((outcome, differences(outcome, observed)) for outcome in outcomes),
        key=lambda pair: len(pair[1]),
    )


def judge(
    expectation: Expectation,
    level: Level,
    observed: Mapping[str, Any],
    deviation: Deviation | None = None,
) -> Judgement:
    """The verdict on one observation whose positive control was met.

    A deviation that is listed for the case is strict both ways: the case must fail, and fail
    as listed; when it conforms, FIXED says which entry to delete.
    """
    if not expectation.outcomes:
        raise ValueError(f"{expectation.requirement}: nothing was expected, so nothing was asked")
    outcome, found = nearest(expectation.outcomes, observed)
    if not found:
        if deviation is not None and outcome.verdict is not Verdict.NOT_SUPPORTED:
            reason = f"conforms now: delete {deviation.id} from the deviations"
            return Judgement(Verdict.FIXED, outcome.name, reason=reason, deviation=deviation.id)
        reason = outcome.name if outcome.verdict is not Verdict.PASS else None
        return Judgement(outcome.verdict, outcome.name, reason=reason)
    differing = [each.fact for each in found]
    if deviation is not None and deviation.explains(observed, differing):
        return Judgement(Verdict.DEVIATION, outcome.name, found, deviation.reason, deviation.id)
    if level is not Level.MUST:
        return Judgement(Verdict.NOTE, outcome.name, found, f"a {level} rule, recorded")
    reason = None
    if deviation is not None:
        reason = f"fails, but not as {deviation.id} lists it"
    return Judgement(Verdict.FAIL, outcome.name, found, reason)


def control_differences(
    expectation: Expectation, observed: Mapping[str, Any]
) -> tuple[Difference, ...]:
    """What a positive control's observation differs in from the success it had to be."""
    return nearest(expectation.outcomes, observed)[1]
