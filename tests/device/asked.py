"""The cases of all suites, and asking them without a pytest item for each."""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

from conformance.spec import oracle
from conformance.spec.model import Case
from rdma_conformance.asking import Question, ask, case_seed
from rdma_conformance.deviations import match
from rdma_conformance.fabric import Fabric
from rdma_conformance.run import SUITES, Run

Named = tuple[str, Case]


@cache
def all_cases() -> tuple[Named, ...]:
    """Every case of every suite, with its case id."""
    files = sorted(SUITES.glob("*/test_*.py"))
    return tuple(chain.from_iterable(map(_of_file, files)))


def _of_file(path) -> Iterator[Named]:
    place = path.relative_to(SUITES)
    module = importlib.import_module(".".join(("conformance", *place.with_suffix("").parts)))
    for name, function in vars(module).items():
        if name.startswith("test_"):
            for mark in function.pytestmark:
                for param in mark.args[1] if mark.name == "parametrize" else ():
                    yield f"{place.as_posix()}::{name}[{param.id}]", param.values[0]


def verdicts(run: Run, fabric: Fabric, cases: Iterable[Named], bound_s: float) -> dict[str, dict]:
    """The record of each case by its id, deviations taken into account."""
    identity = fabric.identity
    system = (identity["driver"], identity["kernel"], identity["firmware"])
    records = {}
    for name, case in cases:
        rule = run.catalogue[oracle.requirement(case)]
        known = match(run.deviations, *system, rule.id, name)
        question = Question(name, case, rule, known, case_seed(name, run.options.seed))
        records[name] = ask(question, fabric, bound_s)
    return records
