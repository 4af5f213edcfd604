"""Faults of a driver that answers as it must while the kernel complains of it in its log."""

from conformance.spec.lifetime import Side
from conformance.spec.vocabulary import Access, Operation
from rdma_conformance.plants.plant import Plant

KERNEL = (
    Plant(
        "kernel-warns",
        "REG-FLAGS-LEGAL",
        "a registration that succeeds makes the kernel warn",
        lambda case: case["kind"] == "registration" and case["access"] == Access.REMOTE_READ,
        says=(
            "------------[ cut here ]------------",
            "refcount_t: underflow; use-after-free.",
            "WARNING: CPU: 0 PID: 1 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110",
            "Call Trace:",
            " planted_fault+0x1/0x2 [ib_core]",
            "---[ end trace 0000000000000000 ]---",
        ),
    ),
    Plant(
        "kernel-breaks",
        "DEREG-KEY",
        "a key that is refused as it must makes the kernel follow a null pointer",
        lambda case: (
            case["kind"] == "retired"
            and case["side"] == Side.REMOTE.value
            and case["operation"] == Operation.READ.value
            and case["again"] == 0
        ),
        says=(
            "BUG: kernel NULL pointer dereference, address: 0000000000000008",
            "Oops: Oops: 0000 [#1] SMP NOPTI",
            "RIP: 0010:planted_fault+0x1/0x2 [ib_core]",
            "---[ end trace 0000000000000000 ]---",
        ),
    ),
)
