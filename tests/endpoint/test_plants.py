"""Each planted fault strikes cases of the requirement that it breaks, and of no other."""

import re

import pytest

from conformance.spec import oracle
from conformance.spec.model import ALL_RIGHTS, Capabilities, Registration, wire
from rdma_conformance.endpoint.capabilities import read
from rdma_conformance.plants import HONEST, PLANTS
from rdma_conformance.suites import all_cases

CAPABLE = read(
    {
        "device_cap_flags_ex": 2**48 - 1,
        "atomic_cap": 1,
        "odp_general_caps": 1,
        "odp_rc_caps": 255,
    }
)
EVERYTHING = Capabilities(
    {
        **CAPABLE.claims,
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


def test_every_requirement_has_a_fault(asked):
    assert {requirement for requirement, _ in asked} == {plant.breaks for plant in PLANTS.values()}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_fault_strikes_its_requirement_alone(plant, asked):
    struck = {requirement for requirement, case in asked if plant.of(case) is not HONEST}
    assert struck == {plant.breaks}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
def test_a_fault_does_something(plant):
    assert re.fullmatch(r"[a-z-]+", plant.name)
    changed = plant.report({"fact": 1}) != {"fact": 1}
    access = plant.region_access(ALL_RIGHTS) != ALL_RIGHTS or plant.region_access(0) != 0
    altered = access or plant.qp_access(0) != 0 or plant.drops or plant.ignores
    assert changed or altered or plant.instead or plant.stray_byte or plant.leak or plant.misbehave


def test_an_honest_driver_changes_nothing():
    case = wire(Registration(ALL_RIGHTS))
    assert HONEST.of(case) is HONEST
    assert HONEST.region_access(5) == 5
    assert HONEST.qp_access(5) == 5
    assert HONEST.report({"fact": 1}) == {"fact": 1}
