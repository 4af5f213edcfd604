"""Each planted fault strikes cases of the requirement that it breaks, and of no other."""

import re

import pytest

from conformance.spec import oracle
from conformance.spec.model import ALL_RIGHTS, Capabilities, Registration, wire
from conformance.spec.vocabulary import Access
from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.endpoint.capabilities import read
from rdma_conformance.plants import AREAS, HONEST, PLANTS
from rdma_conformance.suites import all_cases

DRIVERS = [plant for plant in PLANTS.values() if not plant.of_suite]
CAPABLE = read(
    {
        "device_cap_flags_ex": 2**48 - 1,
        "atomic_cap": 1,
        "odp_general_caps": 1,
        "odp_rc_caps": 255,
        "max_sge": 32,
        "max_srq": 1,
    }
)
EVERYTHING = Capabilities(
    {
        **CAPABLE.claims,
        "transport_uc": "it is created",
        "transport_ud": "it is created",
        "inline": "64 bytes",
        **{f"rereg_{part}": "it answers OK" for part in ("translation", "domain", "access")},
        "ibv_rereg_mr": "it answers OK",
        "advise_mr": "it answers OK",
        "persistent_region": "it registers",
        "persistent_odp_region": "it registers",
    }
)


@pytest.fixture(scope="module")
def asked():
    """Every case of the suites in its builtin form, with its requirement."""
    return [
        (oracle.expect(case, EVERYTHING).requirement, wire(case)) for case in all_cases().values()
    ]


def test_no_fault_hides_another():
    assert len(PLANTS) == sum(map(len, AREAS))


def test_no_requirement_is_without_a_fault(asked):
    broken = {plant.breaks for plant in DRIVERS}
    assert {rule.id for rule in load_catalogue()} == broken
    assert {requirement for requirement, _ in asked} == broken


# Of these nothing can be performed that a working device would answer wrongly: see CONTRIBUTING.
REPORTED_ONLY = {
    "DEALLOC-IN-USE",
    "MW-INVALIDATE-UNBOUND",
    "ODP-IMPLICIT",
    "REG-FLUSH-PERSISTENT",
    "ZB-WRAP",
}


def test_whose_faults_are_reported_only_is_known():
    performed = {plant.breaks for plant in DRIVERS if plant.performed}
    assert {plant.breaks for plant in DRIVERS} - performed == REPORTED_ONLY


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_performed_fault_changes_what_is_asked(plant, asked):
    """Each field that makes a fault performed changes something of every case it strikes."""
    for _, case in asked:
        if not plant.when(case):
            continue
        if plant.instead:
            assert plant.altered(case) != case
        if plant.adds or plant.drops:
            assert plant.region_access(_access(case)) != _access(case)
        if plant.adds_to_queue_pair:
            assert case["qp_access"] & plant.adds_to_queue_pair != plant.adds_to_queue_pair


def _access(case):
    """The rights of the region that the fault is about."""
    if "steps" in case:
        return case["steps"][0]["access"]
    if case["kind"] == "paged":
        return Access.ON_DEMAND
    if case["kind"] == "remapped":
        return 0
    for name in ("remote", "first"):
        if name in case:
            return case[name]["access"]
    return case.get("access", 0)


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_fault_strikes_its_requirement_alone(plant, asked):
    struck = {requirement for requirement, case in asked if plant.of(case) is not HONEST}
    assert struck == {plant.breaks}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_fault_does_something(plant):
    assert re.fullmatch(r"[a-z-]+", plant.name)
    changed = plant.report({"fact": 1}) != {"fact": 1}
    access = plant.region_access(ALL_RIGHTS) != ALL_RIGHTS or plant.region_access(0) != 0
    assert changed or access or plant.performed


def test_a_fault_that_alternates_strikes_every_second_time(asked):
    plant = PLANTS["every-second-read-is-let"]
    case = next(case for _, case in asked if plant.when(case))
    assert [plant.of(case, met) is plant for met in range(4)] == [False, True, False, True]


def test_an_honest_driver_changes_nothing():
    case = wire(Registration(ALL_RIGHTS))
    assert HONEST.of(case) is HONEST
    assert HONEST.region_access(5) == 5
    assert HONEST.report({"fact": 1}) == {"fact": 1}
