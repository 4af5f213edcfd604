"""Ask many cases without a pytest item for each."""

from collections.abc import Iterable
from contextlib import closing
from typing import Any

from conformance.spec import oracle
from conformance.spec.model import Case
from rdma_conformance.asking import Question, ask, case_seed
from rdma_conformance.deviations import match
from rdma_conformance.fabric import Fabric
from rdma_conformance.kernel_watch import KernelWatch
from rdma_conformance.run import Run


def verdicts(
    run: Run,
    fabric: Fabric,
    cases: Iterable[tuple[str, Case]],
    bound_s: float,
    twice: bool = False,
) -> dict[str, dict[str, Any]]:
    """The record of each case by its id, deviations taken into account."""
    identity = fabric.identity
    system = (identity["driver"], identity["kernel"], identity["firmware"])
    records = {}
    with closing(KernelWatch(identity["driver"])) as watch:
        for name, case in cases:
            rule = run.catalogue[oracle.requirement(case)]
            known = match(run.deviations, *system, rule.id, name)
            seed = case_seed(name, run.options.seed)
            question = Question(name, case, rule, known, seed, twice=twice)
            records[name] = ask(question, fabric, bound_s, watch)
    return records
