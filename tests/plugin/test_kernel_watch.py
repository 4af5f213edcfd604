"""The watch around a case; a FIFO stands in for the kernel's log."""

import os
import time

import pytest

from conformance.spec.vocabulary import Verdict
from rdma_conformance.kernel_log import KernelLog
from rdma_conformance.kernel_trouble import Trouble
from rdma_conformance.kernel_watch import DURING, KernelWatch, blame

WARNS = b"4,1,1000000,-;WARNING: CPU: 0 PID: 1 at drivers/infiniband/sw/rxe/rxe_mr.c:1 x+0x1/0x2\n"
OF_OTHERS = b"4,1,1000000,-;WARNING: CPU: 0 PID: 1 at fs/x.c:1 x+0x1/0x2\n"


def record(verdict="PASS", reason=None):
    return {"verdict": verdict, "reason": reason, "deviation": "RXE-001", "kernel": []}


@pytest.fixture
def kmsg(tmp_path):
    os.mkfifo(tmp_path / "kmsg")
    reader = KernelLog(tmp_path / "kmsg")
    watch = KernelWatch("rdma_rxe", reader)
    with (tmp_path / "kmsg").open("wb", buffering=0) as file:
        yield file, watch
    watch.close()


def test_a_silent_kernel_changes_nothing(kmsg):
    file, watch = kmsg
    watch.begin()
    file.write(b"6,1,1,-;rdma_rxe: as always\n")
    assert watch.end(record()) == record()


def test_a_warning_fails_its_case_only(kmsg):
    file, watch = kmsg
    watch.begin()
    file.write(WARNS)
    found = watch.end(record("DEVIATION", "as listed"))
    assert (found["verdict"], found["deviation"]) == ("FAIL", None)
    assert found["reason"].startswith("the kernel complained during the case: WARNING: CPU: 0 PID")
    assert found["kernel"] == [f"[    1.000000] {WARNS.decode().partition(';')[2].strip()}"]
    watch.begin()
    assert watch.end(record()) == record()


def test_what_comes_between_two_cases_is_not_lost(kmsg):
    file, watch = kmsg
    file.write(WARNS)
    watch.begin()
    found = watch.end(record())
    assert found["verdict"] == "FAIL"
    assert "before the case, and after the one before it" in found["reason"]
    watch.begin()
    assert watch.end(record()) == record()


def test_a_known_deviation_may_explain_a_warning_and_no_oops(kmsg):
    file, watch = kmsg
    watch.begin()
    file.write(WARNS)
    found = watch.end(record("DEVIATION", "As listed."), listed=True)
    assert (found["verdict"], found["deviation"]) == ("DEVIATION", "RXE-001")
    assert "the kernel complained during the case" in found["reason"]
    assert found["kernel"]
    watch.begin()
    file.write(b"1,1,1,-;BUG: KASAN: slab-use-after-free in rxe_x+0x1/0x2 [rdma_rxe]\n")
    assert watch.end(record("DEVIATION", "As listed."), listed=True)["verdict"] == "CRASH"
    file.write(WARNS)  # between two cases: it may be the one before that made it
    watch.begin()
    assert watch.end(record("DEVIATION", "As listed."), listed=True)["verdict"] == "FAIL"


def test_what_names_no_driver_leaves_a_case_without_a_verdict(kmsg):
    file, watch = kmsg
    watch.begin()
    file.write(OF_OTHERS)
    found = watch.end(record())
    assert found["verdict"] == "ERROR"
    assert "can't tell whose doing it is" in found["reason"]


@pytest.mark.parametrize(
    ("was", "trouble", "becomes"),
    [
        ("PASS", "CRASH", "CRASH"),
        ("NOT_SUPPORTED", "FAIL", "FAIL"),
        ("NOTE", "ERROR", "ERROR"),
        ("FIXED", "FAIL", "FAIL"),
        ("FAIL", "CRASH", "CRASH"),
        ("FAIL", "ERROR", "FAIL"),
        ("ERROR", "FAIL", "FAIL"),
        ("CRASH", "FAIL", "CRASH"),
        ("CRASH", "ERROR", "CRASH"),
    ],
)
def test_no_verdict_is_better_than_what_the_kernel_said(was, trouble, becomes):
    found = blame(
        record(was, "as it was"), Trouble(Verdict(trouble), "BUG: x", ("BUG: x",)), DURING
    )
    assert found["verdict"] == becomes
    assert found["kernel"] == ["BUG: x"]
    kept = found["reason"].startswith("as it was; and the kernel ")
    assert kept is (was in ("FIXED", "FAIL", "ERROR", "CRASH"))


def test_lost_lines_are_told():
    found = blame(record(), Trouble(Verdict.ERROR, "", ("x",)), DURING)
    assert "logged more during the case than it keeps" in found["reason"]


OF_MEMORY = b"3,1,1,-;Out of memory: Killed process 412 (python3) total-vm:9kB\n"


@pytest.mark.parametrize(
    ("said", "killer"),
    [
        (
            b"6,1,1,-;rdma_rxe: as always\n",
            "the kernel says nothing of it, so that somebody killed it",
        ),
        (
            OF_MEMORY,
            "the host ran out of memory (Out of memory: Killed process 412 (python3) total-",
        ),
        (
            b"3,1,1,-;Memory cgroup out of memory: Killed process 4 (x)\n",
            "the host ran out of memory",
        ),
        (WARNS, None),
        (b"1,1,1,-;BUG: unable to handle page fault for address: ffffc90000a5f000\n", None),
    ],
)
def test_who_killed_a_process(kmsg, said, killer):
    file, watch = kmsg
    file.write(WARNS)  # before the case
    watch.begin()
    file.write(said)
    for _ in range(2):
        found = watch.killer()
        assert found == killer if killer is None else found.startswith(killer)
    verdict = watch.end(record())["reason"]
    assert ("during the case" in verdict) is (killer is None)


def test_nobody_knows_who_killed_where_the_log_may_not_be_read(tmp_path):
    assert KernelWatch("rdma_rxe", KernelLog(tmp_path / "kmsg")).killer() is None


def test_a_log_that_may_not_be_read_is_told_and_costs_no_verdict(tmp_path):
    watch = KernelWatch("rdma_rxe", KernelLog(tmp_path / "kmsg"))
    told = watch.describe(None)
    assert told.startswith("off, a kernel that complains is not seen")
    assert "kmsg: No such file or directory; run as root" in told
    watch.begin()
    assert watch.end(record()) == record()


def test_what_is_watched_is_told(kmsg):
    _, watch = kmsg
    assert watch.describe(None) == watch.describe("rxe1") == "on"
    assert watch.describe("ssh=host2//mlx5_0") == "on this host, not on the peer's"


def test_the_watch_costs_next_to_nothing(kmsg):
    _, watch = kmsg
    costs = []
    for _ in range(200):
        started = time.perf_counter()
        watch.begin()
        watch.end(record())
        costs.append(time.perf_counter() - started)
    assert sorted(costs)[100] < 0.0003
