"""Claims come with their evidence, and so do denials."""

import pytest

from rdma_conformance.endpoint import capabilities

NOTHING = {
    "device_cap_flags_ex": 0,
    "atomic_cap": 0,
    "odp_general_caps": 0,
    "odp_rc_caps": 0,
    "max_sge": 1,
    "max_srq": 0,
}


def test_a_device_that_claims_nothing():
    found = capabilities.read(NOTHING)
    assert not found.claims
    assert found.why_not("flush_global") == "device_cap_flags_ex bit 38 is clear"
    assert found.why_not("memory_window") == "device_cap_flags_ex bits 17, 23, 24 are clear"
    assert found.why_not("atomic") == "atomic_cap is NONE"
    assert found.why_not("odp") == "odp_caps.general_caps 0x0 bit SUPPORT is clear"
    assert found.why_not("odp_rc_write") == "odp_caps.rc_odp_caps 0x0 bit WRITE is clear"


@pytest.mark.parametrize(
    ("words", "name", "evidence"),
    [
        ({"device_cap_flags_ex": 1 << 38}, "flush_global", "device_cap_flags_ex bit 38 is set"),
        ({"device_cap_flags_ex": 1 << 40}, "atomic_write", "device_cap_flags_ex bit 40 is set"),
        ({"atomic_cap": 1}, "atomic", "atomic_cap is HCA"),
        ({"max_sge": 3}, "sge_lists", "max_sge is 3"),
        ({"max_srq": 1}, "shared_receive_queue", "max_srq is 1"),
        ({"odp_general_caps": 1}, "odp", "odp_caps.general_caps 0x1 bit SUPPORT is set"),
        (
            {"odp_general_caps": 2},
            "odp_implicit",
            "odp_caps.general_caps 0x2 bit SUPPORT_IMPLICIT is set",
        ),
    ],
)
def test_a_claim(words, name, evidence):
    found = capabilities.read({**NOTHING, **words})
    assert found.claims == {name: evidence}


@pytest.mark.parametrize(
    ("bit", "names"),
    [
        (17, {"memory_window", "memory_window_type_1"}),
        (23, {"memory_window", "memory_window_type_2"}),
        (24, {"memory_window", "memory_window_type_2", "memory_window_type_2b"}),
    ],
)
def test_the_types_of_memory_windows_are_claimed_apart(bit, names):
    found = capabilities.read({**NOTHING, "device_cap_flags_ex": 1 << bit})
    assert found.claims == dict.fromkeys(names, f"device_cap_flags_ex bit {bit} is set")


def test_an_operation_of_on_demand_paging_needs_the_general_bit():
    words = {**NOTHING, "odp_rc_caps": 1 << 3}
    assert not capabilities.read(words).has("odp_rc_read")
    assert capabilities.read({**words, "odp_general_caps": 1}).has("odp_rc_read")
