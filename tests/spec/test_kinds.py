"""Every kind of case has a name of its own: the endpoint performs by it."""

from collections import defaultdict

from conformance.spec.model import wire
from rdma_conformance.suites import all_cases


def test_no_two_kinds_of_case_have_the_same_name():
    kinds = defaultdict(set)
    for case in all_cases().values():
        kinds[wire(case)["kind"]].add(type(case))
    assert not {name: found for name, found in kinds.items() if len(found) > 1}
