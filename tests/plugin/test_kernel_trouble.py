"""What the kernel prints, as its releases and architectures print it, and what it means here."""

import pytest

from conformance.spec.vocabulary import Verdict
from rdma_conformance.kernel_trouble import KEPT, LOST, find_trouble

CRASH, FAIL, ERROR = Verdict.CRASH, Verdict.FAIL, Verdict.ERROR
FRAME = " rxe_mr_cleanup+0x2e/0x60 [rdma_rxe]"
END = "---[ end trace 0000000000000000 ]---"


def log(*texts: str) -> str:
    return "".join(f"[{100 + number / 8:12.6f}] {text}\n" for number, text in enumerate(texts))


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (CRASH, "BUG: kernel NULL pointer dereference, address: 0000000000000010"),
        (CRASH, "BUG: unable to handle page fault for address: ffffc90000a5f000"),
        (CRASH, "BUG: KASAN: slab-use-after-free in rxe_invalidate_mw+0x5c/0x180 [rdma_rxe]"),
        (CRASH, "BUG: KFENCE: out-of-bounds read in rxe_mr_copy+0x60/0x2a0"),
        (CRASH, "BUG: sleeping function called from invalid context at mm/slab.h:321"),
        (CRASH, "BUG: scheduling while atomic: python3/412/0x00000200"),
        (CRASH, "BUG: Bad page state in process python3  pfn:1234a"),
        (CRASH, "BUG kmalloc-128 (Tainted: G           OE     ): Right Redzone overwritten"),
        (CRASH, "kernel BUG at drivers/infiniband/core/umem.c:61!"),
        (CRASH, "Oops: 0000 [#1] PREEMPT SMP NOPTI"),
        (CRASH, "Oops: Oops: 0002 [#1] SMP NOPTI"),
        (
            CRASH,
            "Oops: general protection fault, probably for non-canonical address 0x6b6b6b6b6b: ",
        ),
        (CRASH, "general protection fault, probably for non-canonical address 0x6b6b: 0000 [#1]"),
        (CRASH, "Unable to handle kernel paging request at virtual address dead000000000108"),
        (CRASH, "Internal error: Oops: 0000000096000004 [#1] SMP"),
        (CRASH, "Kernel panic - not syncing: Fatal exception in interrupt"),
        (CRASH, "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [python3:412]"),
        (CRASH, "watchdog: Watchdog detected hard LOCKUP on cpu 1"),
        (CRASH, "watchdog: CPU1: Watchdog detected hard LOCKUP on cpu 0"),
        (CRASH, "NMI watchdog: Watchdog detected hard LOCKUP on cpu 3"),
        (CRASH, "rcu: INFO: rcu_preempt self-detected stall on CPU"),
        (CRASH, "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:"),
        (
            CRASH,
            "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-.... } 21 jif",
        ),
        (CRASH, "infiniband rxe0: BUG: RESTRACK detected leak of resources"),
        (
            FAIL,
            "WARNING: CPU: 1 PID: 412 at drivers/infiniband/sw/rxe/rxe_pool.c:116 rxe_x+0x1/0x2",
        ),
        (
            FAIL,  # of 7.2, where a queue pair goes before a window that is bound through it
            "WARNING: drivers/infiniband/sw/rxe/rxe_pool.c:212 at __rxe_cleanup+0x106/0x140 "
            "[rdma_rxe], CPU#0: asked/193",
        ),
        (FAIL, "WARNING: possible circular locking dependency detected"),
        (FAIL, "refcount_t: addition on 0; use-after-free."),
        (FAIL, "UBSAN: array-index-out-of-bounds in drivers/infiniband/sw/rxe/rxe_mr.c:212:9"),
        (FAIL, "INFO: task python3:412 blocked for more than 120 seconds."),
        (FAIL, "INFO: task python3:412 blocked on a mutex likely owned for more than 120 seconds."),
    ],
)
def test_trouble(verdict, text):
    said = log("rdma_rxe: loaded", text, "Call Trace:", FRAME, END, "rdma_rxe: unloaded")
    found = find_trouble(said, "rdma_rxe")
    assert (found.verdict, found.says) == (verdict, text)
    assert found.lines == tuple(said.splitlines()[1:-1])


@pytest.mark.parametrize(
    "text",
    [
        "rxe0: qp#18 moved to error state",
        "infiniband rxe0: set active",
        "rdma_rxe: rxe_newlink: already configured on rp-left",
        "mlx5_core 0000:03:00.0: mlx5_cmd_out_err: CREATE_MKEY(0x200) op_mod(0x0) failed",
        "mlx5_core 0000:03:00.0: WARNING: the link is slower than the slot",
        "infiniband mlx5_0: dump_cqe:277:(pid 2201): WC error: 10, Message: remote access error",
        "Warning: unable to open an initial console.",
        "systemd[1]: BUG: a unit's own words",
        "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        "rcu: Hierarchical SRCU implementation.",
        "hung_task: no task is blocked",
        "",
    ],
)
def test_what_is_no_trouble(text):
    assert find_trouble(log(text, FRAME), "rdma_rxe") is None
    assert find_trouble("", "rdma_rxe") is None


def test_the_worst_of_several():
    warning = ("WARNING: CPU: 0 PID: 9 at lib/x.c:1 x+0x1/0x2", FRAME, END)
    oops = ("BUG: kernel NULL pointer dereference, address: 0", "Oops: 0002 [#1]", FRAME, END)
    found = find_trouble(log(*warning, "between", *oops), "rdma_rxe")
    assert (found.verdict, found.says) == (CRASH, oops[0])
    assert len(found.lines) == len(warning) + len(oops)


@pytest.mark.parametrize(
    ("driver", "line", "named"),
    [
        ("rdma_rxe", "RIP: 0010:rxe_do_task+0x1/0x2", True),
        ("rdma_rxe", "Workqueue: rxe_wq do_work [rdma_rxe]", True),
        ("mlx5_core", " reg_umr+0x1/0x2 [mlx5_ib]", True),
        ("irdma", " x+0x1/0x2 [irdma]", True),
        ("mlx5_core", " __ib_umem_release+0x1/0x2", True),
        ("mlx5_core", " x+0x1/0x2 [ib_uverbs 0123abc]", True),
        ("mlx5_core", " btrfs_commit+0x1/0x2 [btrfs]", False),
        ("rdma_rxe", "Modules linked in: rdma_rxe ib_core [last unloaded: rdma_rxe]", False),
        ("rdma_rxe", " attrib_x+0x1/0x2", False),
    ],
)
def test_what_names_nothing_of_rdma_is_not_laid_at_the_drivers_door(driver, line, named):
    found = find_trouble(log("WARNING: CPU: 0 PID: 9 at x.c:1 x+0x1/0x2", line, END), driver)
    assert found.verdict is (FAIL if named else ERROR)


def test_another_ones_trouble_beside_the_drivers():
    foreign = ("BUG: unable to handle page fault", " btrfs_x+0x1/0x2 [btrfs]", END)
    warning = ("WARNING: CPU: 0 PID: 9 at x.c:1 x+0x1/0x2", FRAME, END)
    assert find_trouble(log(*foreign, *warning), "rdma_rxe").verdict is FAIL


def test_lost_lines_are_no_silence():
    found = find_trouble(f"{LOST}\n{log('rdma_rxe: all is well')}", "rdma_rxe")
    assert (found.verdict, found.says, found.lines) == (ERROR, "", (LOST,))


def test_endless_trouble_is_cut():
    found = find_trouble(log("BUG: x", *[FRAME] * 1000), "rdma_rxe")
    assert len(found.lines) == KEPT
