"""What a case leaves behind is told on that case and once, and by whose fault."""

from dataclasses import replace
from functools import cache

import pytest

from conformance.spec.model import Registration, wire
from conformance.spec.vocabulary import Access
from rdma_conformance.fabric import open_fabric
from rdma_conformance.plants import PLANTS
from rdma_conformance.plugin import RUN
from rdma_conformance.run import fabric_settings
from rdma_conformance.suites import all_cases

from .asked import verdicts

HONEST = wire(Registration(Access.LOCAL_WRITE))


@cache
def registrations():
    return [
        (name, case, wire(case))
        for name, case in all_cases().items()
        if isinstance(case, Registration)
    ]


@pytest.fixture
def run(pytestconfig):
    return pytestconfig.stash[RUN]


@pytest.fixture(scope="module")
def fabric(pytestconfig):
    opened = open_fabric(replace(fabric_settings(pytestconfig.stash[RUN].options), setup_rxe=False))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("plant", "verdict", "told"),
    [
        ("keeps-region", "FAIL", ["the driver kept: 3 pages still pinned", "1 memory region"]),
        ("keeps-domain", "FAIL", ["the driver kept: 1 protection domain still in the kernel's"]),
        ("suite-forgets-region", "ERROR", ["own fault: the suite forgot 1 memory region"]),
        ("suite-leaves-descriptor", "ERROR", ["the suite left 1 descriptor open: /dev/null"]),
        ("suite-leaves-mapping", "ERROR", ["the suite forgot 1 mapping"]),
    ],
)
def test_what_is_left_is_told_once_and_of_its_case(plant, verdict, told, run, fabric):
    fabric.plant(plant)
    [before, *_], [asked, *_] = (
        [(name, case) for name, case, asked in registrations() if wanted(asked)]
        for wanted in (HONEST.__eq__, PLANTS[plant].when)
    )
    records = verdicts(run, fabric, [before, asked, (f"{before[0]} again", before[1])], 5.0)
    before, found, after = records.values()
    assert found["verdict"] == verdict
    assert all(each in found["reason"] for each in told), found["reason"]
    assert (before["verdict"], after["verdict"]) == ("PASS", "PASS")
