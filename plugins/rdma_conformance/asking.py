"""Ask one case of the driver: oracle, positive control, endpoints, verdict, record."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.spec import oracle
from conformance.spec.crowd import Crowd, Limit
from conformance.spec.crowding import effort
from conformance.spec.lifetime import Killed
from conformance.spec.memlock import Ending, LiveUnderLimit
from conformance.spec.memory import AnyPrefix
from conformance.spec.model import Case, Expectation, Observation, Outcome, wire
from conformance.spec.vocabulary import Verdict
from rdma_conformance.catalogue import Requirement
from rdma_conformance.deviations import KERNEL, LEAK, Deviation
from rdma_conformance.endpoint.client import START_S, WorkerDied, WorkerError, WorkerHung
from rdma_conformance.exclusive import DeviceBusy, hold
from rdma_conformance.fabric import Fabric
from rdma_conformance.kernel_watch import KernelWatch
from rdma_conformance.leaks import Leaks
from rdma_conformance.twice import join
from rdma_conformance.verdict import Difference, Judgement, control_differences, judge
from rdma_conformance.worsening import worsen

ALONE = (Limit, Killed, Crowd, Ending)  # they fill the device, or count all that is on it
STARTING = (Killed, LiveUnderLimit)  # each in a process of its own that imports pyverbs
ASKED = "asked"  # the worker's word for the phase in which the driver is asked

# What became of a case's positive control.
SUCCEEDED, REFUSED, UNKNOWN, NOT_ASKED = "succeeded", "refused", "unknown", "not asked"


@dataclass(frozen=True, slots=True)
class Question:
    """A case of a suite with the rule that it asks and what is known of the device.

    `twice` asks it again as soon as it has answered.
    """

    case_id: str
    case: Case
    requirement: Requirement
    deviation: Deviation | None
    seed: int
    hazard: bool = False
    twice: bool = False


def case_seed(case_id: str, run_seed: int) -> int:
    """A case's own seed: the same in every run with the same run seed, whatever else runs."""
    return zlib.crc32(f"{run_seed}:{case_id}".encode())


def ask(  # noqa: PLR0917  what a case is asked of, and who looks on
    question: Question,
    fabric: Fabric,
    bound_s: float,
    watch: KernelWatch,
    leaks: Leaks | None = None,
    last: bool = False,
) -> dict[str, Any]:
    """The record of one case, as the run file keeps it (without `again` and `duration`).

    Only the driver's own answers, the kernel's complaints and what the driver leaves behind become
    FAIL: what keeps the suite from asking is an ERROR. `leaks` knows the cases before; after the
    `last` one all that may have been left is looked for.
    """
    watch.begin()
    found = _ask(question, fabric, bound_s, watch)
    if question.twice and found["observed"]:  # what hung or died once is not asked for it again
        found = join(found, _ask(question, fabric, bound_s, watch))
    also = question.deviation.also if question.deviation else ()
    try:
        leftovers = fabric.leftovers(thorough=last)
    except (WorkerDied, WorkerHung, WorkerError) as failure:
        trouble = _worker_failure(failure, watch)
        reason = f"while looking for what was left behind: {trouble.reason}"
        found = worsen(found, trouble.verdict, reason)
    else:
        found = (leaks or Leaks()).end(found, leftovers, LEAK in also)
    return watch.end(found, KERNEL in also)


def _ask(question: Question, fabric: Fabric, bound_s: float, watch: KernelWatch) -> dict[str, Any]:
    caps = fabric.capabilities
    expectation = oracle.expect(question.case, caps, question.seed)
    if expectation.unclaimed is not None:
        judgement = Judgement(Verdict.NOT_SUPPORTED, reason=expectation.unclaimed)
        return record(question, expectation, {}, judgement)
    cases = [question.case]
    control = None
    if expectation.control is not None:
        control = oracle.expect(expectation.control, caps, question.seed)
        if control.unclaimed is not None:
            reason = f"its positive control needs more: {control.unclaimed}"
            judgement = Judgement(Verdict.NOT_SUPPORTED, reason=reason)
            return record(question, expectation, {}, judgement, NOT_ASKED)
        cases.insert(0, expectation.control)
    try:
        with hold(fabric.device, isinstance(question.case, ALONE), bound_s):
            observations = fabric.perform(cases, question.seed, patience(question.case, bound_s))
    except (WorkerDied, WorkerHung, WorkerError, DeviceBusy) as failure:
        became = UNKNOWN if control else None
        return record(question, expectation, {}, _worker_failure(failure, watch), became)
    observed = observations[-1]
    if control is not None:
        judgement = _judge_control(control, observations)
        if judgement is not None:
            return record(question, expectation, observations[0], judgement, REFUSED)
    judgement = judge(expectation, question.requirement.level, observed, question.deviation)
    return record(question, expectation, observed, judgement, SUCCEEDED if control else None)


def patience(case: Case, bound_s: float) -> float:
    """How many seconds a case may take: what its process needs to start is not the driver's."""
    return bound_s * effort(case) + (START_S if isinstance(case, STARTING) else 0.0)


def _judge_control(control: Expectation, observations: list[Observation]) -> Judgement | None:
    """An ERROR when the positive control did not succeed: then a refusal says nothing."""
    found = control_differences(control, observations[0])
    if not found and len(observations) > 1:
        return None
    reason = "the positive control was refused, so that the refusal of the case says nothing"
    return Judgement(Verdict.ERROR, control.outcomes[0].name, found, reason)


def _worker_failure(
    failure: WorkerDied | WorkerHung | WorkerError | DeviceBusy, watch: KernelWatch
) -> Judgement:
    """CRASH for a death, FAIL for a driver that never answers, ERROR for the suite's own fault.

    A driver kills by a fault (SIGSEGV, SIGBUS) or by a kernel that breaks: a SIGKILL of which the
    kernel says nothing came from elsewhere.
    """
    match failure:
        case WorkerDied(killed=True, stuck=False) if killer := watch.killer():
            return Judgement(Verdict.ERROR, reason=f"{failure}: {killer}")
        case WorkerDied():
            return Judgement(Verdict.CRASH, reason=str(failure))
        case WorkerHung(phase=phase) if phase == ASKED:
            return Judgement(Verdict.FAIL, reason=str(failure))
    return Judgement(Verdict.ERROR, reason=str(failure))


def record(
    question: Question,
    expectation: Expectation,
    observed: Mapping[str, Any],
    judgement: Judgement,
    control: str | None = None,
) -> dict[str, Any]:
    """The JSON form of a judged case; `control` is what became of its control, if it has one."""
    rule = question.requirement
    return {
        "case": question.case_id,
        "area": question.case_id.partition("/")[0],
        "requirement": rule.id,
        "level": rule.level.value,
        "verdict": judgement.verdict.value,
        "title": rule.title,
        "asked": wire(question.case),
        "expected": [_outcome(outcome) for outcome in expectation.outcomes],
        "observed": dict(observed),
        "differences": [_difference(each) for each in judgement.differences],
        "reason": judgement.reason,
        "deviation": judgement.deviation,
        "sources": [str(source) for source in rule.sources],
        "seed": question.seed,
        "hazard": question.hazard,
        "kernel": [],
        "left": [],
        "control": control,
        "twice": None,
    }


def unasked(case_id: str, rule: Requirement, case: Case, reason: str) -> dict[str, Any]:
    """The record of a case that the suite itself could not ask: an ERROR with its reason."""
    question = Question(case_id, case, rule, None, 0)
    judgement = Judgement(Verdict.ERROR, reason=reason)
    return record(question, Expectation(rule.id, ()), {}, judgement)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    facts = {fact: _allowed(values) for fact, values in outcome.facts.items()}
    return {"name": outcome.name, "facts": facts}


def _allowed(values: tuple[Any, ...]) -> list[Any]:
    return [value.plain() if isinstance(value, AnyPrefix) else value for value in values]


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "fact": difference.fact,
        "allowed": _allowed(difference.allowed),
        "observed": difference.observed,
    }
