"""Faults of a driver that confuses regions, or loses the memory that one was made of."""

from conformance.spec.vocabulary import Access, Operation
from rdma_conformance.plants.plant import Plant

RW = Access.REMOTE_WRITE

MANY = (
    Plant(
        "rights-of-the-neighbour",
        "REG-OVERLAP",
        "a region without REMOTE_WRITE may be written since another over the same memory may",
        lambda case: (
            case["kind"] == "overlap"
            and case["operation"] == Operation.WRITE
            and case["first"]["access"] == Access.LOCAL_WRITE
        ),
        adds=RW,
    ),
    Plant(
        "key-given-twice",
        "REG-KEYS-DISTINCT",
        "two of many processes get one and the same region",
        lambda case: case["kind"] == "crowd" and case["processes"] > 1 and case["threads"] == 1,
        leak=True,
    ),
    Plant(
        "churn-leaks-region",
        "REG-CHURN",
        "one of a thousand registrations stays after its deregistration",
        lambda case: case["kind"] == "churn" and case["count"] == 1000,
        leak=True,
    ),
    Plant(
        "full-for-ever",
        "REG-MAX",
        "one of the regions that filled the device stays",
        lambda case: case["kind"] == "limit" and case["count"] is not None,
        leak=True,
    ),
    Plant(
        "listed-too-long",
        "REG-LISTED",
        "the kernel's list has a region of one byte with two",
        lambda case: case["kind"] == "listed" and case["length"] == 1,
        instead={"length": 2},
    ),
    Plant(
        "fork-takes-the-page",
        "REG-FORK",
        "after a fork the device goes on with a page that the parent does not see",
        lambda case: case["kind"] == "forked" and case["offset"] == 200,
        ignores=frozenset({"fork"}),
    ),
    Plant(
        "pinned-region-follows",
        "REG-REMAP",
        "a region follows the mapping, though it is not an on-demand one",
        lambda case: case["kind"] == "remapped" and not case["on_demand"] and case["length"] == 64,
        adds=Access.ON_DEMAND,
    ),
)
