"""The leak guard, with a kernel that is played."""

import errno
import os
from collections import Counter
from contextlib import contextmanager

import pytest

from rdma_conformance.endpoint import leak_guard
from rdma_conformance.endpoint.books import QUEUE_PAIR, REGION, Books
from rdma_conformance.endpoint.leak_guard import DRIVER, EVERY, FILES, SUITE, Guard, Leftover

LW, PAGE = 1, 4096


class Kernel:
    """What the kernel has of one process, and of others."""

    def __init__(
        self, own_of_queue_pair=0, pinned_by_queue_pair=0, mapped_by_queue_pair=2, lacks=()
    ):
        self.mapped_by_queue_pair = mapped_by_queue_pair
        self.own_of_queue_pair = own_of_queue_pair  # regions that a provider makes for each
        self.pinned_by_queue_pair = pinned_by_queue_pair
        self.lacks = lacks
        self.objects = Counter()
        self.others = Counter()
        self.pinned_kb = 0
        self.mapped = 0
        self.reads = 0

    def everyone(self):
        return self.objects + self.others

    def own(self, kind):
        if kind in self.lacks:
            raise OSError(errno.EINVAL, "Invalid argument")
        self.reads += 1
        return self.objects[kind]


class Counting(Guard):
    """A case is performed before each look."""

    def check(self, thorough=False):
        self.count(1)
        return super().check(thorough)


class Host:
    """An end whose objects are the kernel's as well as the books'."""

    name = "rxe0"

    def __init__(self, kernel):
        self.kernel = kernel
        self.books = Books()
        self.files = 0
        self.pool = []

    def register(self, pages=1):
        region = object()
        self.books.region(region, (0, pages * PAGE, LW))
        self.kernel.objects[REGION] += 1
        self.kernel.pinned_kb += 4 * pages
        return region

    def deregister(self, region, pages=1):
        self.books.closed(region)
        self.kernel.objects[REGION] -= 1
        self.kernel.pinned_kb -= 4 * pages

    def create(self):
        queue_pair = object()
        with self.books.opening(QUEUE_PAIR, "rc queue pair") as opened:
            self.kernel.objects[QUEUE_PAIR] += 1
            self.kernel.mapped += self.kernel.mapped_by_queue_pair
            self.kernel.objects[REGION] += self.kernel.own_of_queue_pair
            self.kernel.pinned_kb += self.kernel.pinned_by_queue_pair
            opened(queue_pair)
        return queue_pair

    def destroy(self, queue_pair):
        self.books.closed(queue_pair)
        self.kernel.objects[QUEUE_PAIR] -= 1
        self.kernel.mapped -= self.kernel.mapped_by_queue_pair
        self.kernel.objects[REGION] -= self.kernel.own_of_queue_pair
        self.kernel.pinned_kb -= self.kernel.pinned_by_queue_pair

    def kept(self):
        kinds = Counter(kind for kind, _ in self.pool)
        return kinds + Counter({FILES: self.files})

    @contextmanager
    def exercise(self):
        region, queue_pair = self.register(), self.create()
        yield
        self.destroy(queue_pair)
        self.deregister(region)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(leak_guard, "SETTLE_S", 0.0)


def guarded(**played):
    host = Host(Kernel(**played))
    kernel = host.kernel
    return host, kernel, guard_of(host, kernel)


def guard_of(host, lists):
    kernel = host.kernel
    return Counting(host.books, [host], lambda: kernel.pinned_kb, lists, lambda: kernel.mapped)


def test_what_comes_and_goes_is_nothing():
    host, kernel, guard = guarded()
    assert guard.describe() == "on"
    reads = kernel.reads
    for _ in range(3):
        region, queue_pair = host.register(), host.create()
        host.pool += [(REGION, host.register()), (QUEUE_PAIR, host.create())]
        host.destroy(queue_pair)
        host.deregister(region)
        assert guard.check() == []
    assert kernel.reads == reads, "the lists are read when something has moved, and only then"


def test_a_region_that_the_driver_keeps_is_told_once():
    host, kernel, guard = guarded()
    host.books.closed(host.register(pages=3))
    assert guard.check() == [
        Leftover(DRIVER, "3 pages still pinned that no open region pinned"),
        Leftover(DRIVER, "1 memory region still in the kernel's list that had been ended"),
    ]
    assert guard.check(thorough=True) == []
    # Its late end is nobody's fault, and does not hide the next one.
    kernel.objects[REGION] -= 1
    kernel.pinned_kb -= 12
    assert guard.check(thorough=True) == []
    host.books.closed(host.register())
    assert len(guard.check()) == 2


def test_a_refused_registration_that_pins_is_the_drivers():
    _, kernel, guard = guarded()
    kernel.pinned_kb += 4
    assert guard.check() == [Leftover(DRIVER, "1 page still pinned that no open region pinned")]


def test_pages_that_go_too_early_are_the_drivers():
    host, kernel, guard = guarded()
    host.pool.append((REGION, host.register()))
    kernel.pinned_kb -= 4
    assert guard.check() == [Leftover(DRIVER, "1 page no longer pinned of regions that are open")]
    # That they are counted again is no fault of the case that comes then.
    kernel.pinned_kb += 4
    assert guard.check() == []
    kernel.pinned_kb += 4
    assert guard.check() == [Leftover(DRIVER, "1 page still pinned that no open region pinned")]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([3, -3, 1], [3, 0, 1]),
        ([3, -1, -2, 1], [3, 0, 0, 1]),
        ([2, -3, 1, 1], [2, -1, 0, 1]),
        ([-2, 1, 1, 1], [-2, 0, 0, 1]),
        ([-1, -1, 3], [-1, -1, 1]),
        ([-1, 3, -2, -1], [-1, 2, 0, -1]),
    ],
)
def test_what_turns_back_after_it_was_told_is_told_no_second_time(changes, told):
    surplus, now, found = leak_guard.Surplus(5), 5, []
    for change in changes:
        now += change
        found.append(surplus.growth(now, 0))
    assert found == told


def test_what_the_suite_forgets_is_its_own():
    host, _, guard = guarded()
    forgotten = host.create()
    assert guard.check() == [Leftover(SUITE, "the suite forgot 1 queue pair")]
    assert guard.check() == []
    host.destroy(forgotten)
    assert guard.check(thorough=True) == []


def test_what_the_kernel_loses_says_nothing_of_the_driver():
    host, kernel, guard = guarded()
    host.pool.append((REGION, host.register()))
    kernel.objects[REGION] -= 1
    [found] = guard.check()
    assert found.whose == SUITE
    assert found.what == "the suite has 1 memory region open that the kernel does not list"
    kernel.objects[REGION] += 1
    assert guard.check(thorough=True) == []


def test_what_a_driver_refused_to_end_is_nobodys_leak():
    host, _, guard = guarded()
    host.books.stayed(host.register())
    assert guard.check(thorough=True) == []


def test_an_open_file_is_told_by_its_name(tmp_path):
    host, _, guard = guarded()
    with (tmp_path / "forgotten").open("w"):
        [found] = guard.check()
        assert found.whose == SUITE
        assert found.what == f"the suite left 1 descriptor open: {tmp_path / 'forgotten'}"
        assert guard.check() == []
    assert guard.check() == []
    # What is kept on purpose is no leak.
    ends = os.pipe()
    host.files = 2
    assert guard.check() == []
    for each in ends:
        os.close(each)


def test_other_processes_change_what_a_device_has_and_not_what_is_ours():
    host, kernel, guard = guarded()
    for _ in range(EVERY):
        kernel.others[REGION] += 1
        assert guard.check() == []
    host.books.closed(host.register())
    assert len(guard.check(thorough=True)) == 2


def test_a_device_that_others_use_is_not_read_for_every_case(monkeypatch):
    host, kernel, guard = guarded()
    monkeypatch.setattr(leak_guard, "SHARE", 1e9)
    kernel.others[REGION] += 1
    assert guard.check() == []
    reads = kernel.reads
    queue_pair = host.create()
    host.books.closed(queue_pair)  # the driver keeps it
    for _ in range(4):
        kernel.others[REGION] += 1
        assert guard.check() == []
    assert kernel.reads == reads
    what = "1 queue pair still in the kernel's list that had been ended"
    assert guard.check(thorough=True)[0] == Leftover(DRIVER, what, cases=5)


def test_cases_after_which_the_totals_were_as_before_are_not_suspected():
    _, kernel, guard = guarded()
    for _ in range(5):
        assert guard.check() == []
    kernel.objects["pd"] += 1
    what = "1 protection domain still in the kernel's list that had been ended"
    assert guard.check() == [Leftover(DRIVER, what)]
    for _ in range(3):
        assert guard.check() == []
    # Another process ended one when this one's stayed: by the totals nobody can tell.
    kernel.objects["pd"] += 1
    kernel.others["pd"] -= 1
    assert guard.check() == []
    assert guard.check(thorough=True) == [Leftover(DRIVER, what, cases=5)]


def test_where_others_use_the_device_totals_prove_nothing(monkeypatch):
    _, kernel, guard = guarded()
    monkeypatch.setattr(leak_guard, "SHARE", 1e9)
    kernel.others[REGION] += 1
    assert guard.check() == []
    kernel.objects["pd"] += 1
    assert guard.check() == []
    kernel.others["pd"] -= 1
    assert guard.check() == []
    kernel.others["pd"] += 1
    assert [each.cases for each in guard.check(thorough=True)] == [3]


def test_what_was_found_when_the_kernel_stopped_telling_is_told_later(monkeypatch):
    host, kernel, guard = guarded()
    host.books.closed(host.register())

    def refuse():
        raise OSError(errno.EPERM, "Operation not permitted")

    everyone = kernel.everyone
    monkeypatch.setattr(kernel, "everyone", refuse)
    with pytest.raises(OSError, match="permitted"):
        guard.check()
    monkeypatch.setattr(kernel, "everyone", everyone)
    assert [each.what for each in Guard.check(guard)] == [
        "1 page still pinned that no open region pinned",
        "1 memory region still in the kernel's list that had been ended",
    ]
    assert guard.check() == []


def test_a_provider_with_regions_of_its_own_is_not_blamed():
    host, kernel, guard = guarded(own_of_queue_pair=2)
    assert "mr only over cases" in guard.describe()
    host.pool.append((QUEUE_PAIR, host.create()))
    assert guard.check(thorough=True) == []
    # Over a case that makes no queue pair it is told all the same.
    kernel.objects[REGION] += 1
    assert [each.whose for each in guard.check(thorough=True)] == [DRIVER]


def test_a_driver_that_pins_for_queue_pairs_is_not_blamed():
    host, kernel, guard = guarded(pinned_by_queue_pair=8)
    assert "pinned memory only over cases" in guard.describe()
    queue_pair = host.create()
    host.destroy(queue_pair)
    kernel.pinned_kb += 4  # a page for doorbells, which other queue pairs share
    assert guard.check() == []
    kernel.pinned_kb += 4
    assert [each.whose for each in guard.check()] == [DRIVER]


def test_a_mapping_that_the_library_leaves_is_the_drivers():
    host, kernel, guard = guarded()
    host.pool.append((QUEUE_PAIR, host.create()))
    host.destroy(host.create())
    assert guard.check(thorough=True) == []
    kernel.mapped += 1
    assert guard.check() == [], "mappings are looked at with the lists"
    [found] = guard.check(thorough=True)
    assert (found.whose, found.cases) == (DRIVER, 2)
    assert found.what == "1 mapping of the device's file that no open object needs"


def test_a_library_that_shares_mappings_is_not_blamed():
    host, kernel, guard = guarded(mapped_by_queue_pair=0)
    assert "mappings only over cases" in guard.describe()
    host.pool.append((QUEUE_PAIR, host.create()))
    kernel.mapped += 1  # a page of doorbells, for many
    assert guard.check(thorough=True) == []


def test_lists_that_a_kernel_lacks_are_told():
    host, kernel, guard = guarded(lacks=("srq",))
    assert guard.describe() == "on, without the kernel's lists of srq (Invalid argument)"
    refused = OSError(errno.EPERM, "Operation not permitted")
    guard = guard_of(host, refused)
    assert guard.describe() == (
        "on, without the kernel's lists of pd, mr, cq, qp, srq (Operation not permitted)"
    )
    kernel.pinned_kb += 4
    assert [each.whose for each in guard.check()] == [DRIVER]
