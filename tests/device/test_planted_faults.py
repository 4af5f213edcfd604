"""Each planted fault turns exactly the requirement that it breaks red, on the real device.

Of a SHOULD, or what is left to the implementation, it is noted instead.

Asked are all cases that trigger the fault, and a sample of all the others.
"""

from dataclasses import replace
from functools import cache

import pytest

from conformance.spec.crowding import effort
from conformance.spec.model import wire
from conformance.spec.vocabulary import Level, Verdict
from rdma_conformance.fabric import open_fabric
from rdma_conformance.outcomes import BAD
from rdma_conformance.plants import PLANTS
from rdma_conformance.plugin import RUN
from rdma_conformance.run import fabric_settings
from rdma_conformance.suites import all_cases, hazardous

from .asked import verdicts

SAMPLE = 300  # of so many cases, one is asked
BOUND_S = 30.0
HANGS_S = 5.0  # for a fault that never answers


@pytest.fixture
def run(pytestconfig):
    return pytestconfig.stash[RUN]


@pytest.fixture(scope="module")
def fabric(pytestconfig):
    """One for all faults: a worker's start would cost more than what is asked of it."""
    opened = open_fabric(replace(fabric_settings(pytestconfig.stash[RUN].options), setup_rxe=False))
    yield opened
    opened.close()


@cache
def wired():
    """Every case by its id, with its builtin form."""
    return {name: (case, wire(case)) for name, case in all_cases().items()}


def seen(record, plant):
    """Whether a record shows what the fault does.

    Of one that is performed that is another fact than it reports; a case that only conforms where
    a deviation is listed shows nothing.
    """
    told = plant.reports.keys() if plant.performed else set()
    facts = {each["fact"] for each in record["differences"]}
    return facts - told or record["kernel"] or record["left"] or not record["observed"]


def due(plant):
    """The verdict that shows the fault: an ERROR of the suite's own shows none of a driver."""
    if plant.of_suite:
        return Verdict.ERROR
    breaks = any(line.startswith("Oops") for line in plant.says)
    return Verdict.CRASH if plant.misbehave == "die" or breaks else Verdict.FAIL


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_planted_fault_breaks_its_requirement_and_no_other(plant, run, fabric):
    triggered = {name: case for name, (case, asked) in wired().items() if plant.when(asked)}
    assert triggered, "no case triggers this fault"
    # A planted fault performs something else in place of a hazardous case.
    usual = [
        (name, case)
        for name, case in all_cases().items()
        if effort(case) == 1 and name not in hazardous()
    ]
    asked = dict(usual[::SAMPLE]) | triggered
    fabric.plant(plant.name)
    bound_s = HANGS_S if plant.misbehave == "hang" else BOUND_S
    records = verdicts(run, fabric, asked.items(), bound_s, twice=plant.alternates)
    struck = {}
    for name, record in records.items():
        noted = name in triggered and record["level"] != Level.MUST and record["differences"]
        if record["verdict"] in BAD or noted:
            struck[name] = record
    told = {name: (each["verdict"], each["reason"]) for name, each in struck.items()}
    assert {each["requirement"] for each in struck.values()} == {plant.breaks}, told
    found = {each["verdict"] for each in struck.values()}
    assert found <= {due(plant), Verdict.NOTE}, told
    assert any(seen(record, plant) for record in struck.values()), "not by what it does"
    if plant.alternates:
        unstable = {name for name, each in records.items() if (each["twice"] or {}).get("unstable")}
        assert unstable == set(triggered)
