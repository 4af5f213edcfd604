"""What a case costs, as a multiple of the bare verbs that it needs, all measured in one run.

`pytest tests/device/test_cost.py --device rxe0 -s` shows the table. Times are medians in
milliseconds; only the ratios mean something, as machines differ and are noisy.
"""

import mmap
import statistics
import sys
import time
from collections.abc import Callable
from ctypes import addressof, c_char
from importlib import import_module

from conformance.spec.model import ALL_RIGHTS, Region, Transfer
from conformance.spec.transfer import expect
from conformance.spec.vocabulary import Access, Operation
from rdma_conformance.device import list_devices
from rdma_conformance.endpoint.leak_guard import EVERY, watch
from rdma_conformance.fabric.gid import choose
from rdma_conformance.plugin import RUN
from rdma_conformance.run import Run

from .asked import verdicts

ROUNDS = 200
GRANTED = Transfer(Operation.WRITE)
REFUSED = Transfer(Operation.WRITE, remote=Region(Access.LOCAL_WRITE))

# How many times the bare verbs a case may cost, oracle, messages, verdict and record included.
# Measured under emulation: 14 to 25 and 5 to 9, by what else the machine did.
LIMIT = {"granted": 60, "refused": 15}
SHARE = 0.1  # of a granted case without pytest's own cost: what the leak guard may take


class Bare:
    """Two connected queue pairs, and no more than the calls that a case can't do without."""

    def __init__(self, device: str, peer: str, gids: tuple[int, int]):
        # Only where a device is asked is there pyverbs: not where the tests are collected.
        self._verbs = import_module("rdma_conformance.endpoint.verbs")
        self._memory = mmap.mmap(-1, 8192)
        self._address = addressof(c_char.from_buffer(self._memory))
        self._sides = [
            self._side(name, gid) for name, gid in zip((device, peer), gids, strict=True)
        ]
        self.connect()

    def _side(self, name: str, gid: int) -> dict:
        verbs = self._verbs
        device = verbs.Device(name)
        domain = verbs.allocate_domain(device)
        sent, received = verbs.Completions(device), verbs.Completions(device)
        port = device.port(1)
        return {
            "device": device,
            "region": verbs.register(domain, self._address, 8192, ALL_RIGHTS),
            "secret": verbs.register(domain, self._address, 8192, Access.LOCAL_WRITE),
            "sent": sent,
            "received": received,
            "qp": device.create_queue_pair(domain, sent, received, "rc"),
            "own": {**port, "gid": device.gid(1, gid), "gid_index": gid, "port": 1, "rd_atomic": 1},
        }

    def connect(self) -> None:
        for side in self._sides:
            side["qp"].to_init(1, ALL_RIGHTS)
            side["own"] |= {"number": side["qp"].number, "psn": 1}
        for side, peer in (self._sides, self._sides[::-1]):
            side["qp"].to_rts(side["own"], peer["own"], ALL_RIGHTS, 7)

    def write(self, key: str = "region") -> None:
        """A WRITE with a SEND behind it into a posted receive: waits for all completions."""
        here, there = self._sides
        verbs, lkey = self._verbs, here["region"].lkey
        receive = verbs.receive_request([(self._address, 64, there["region"].lkey)])
        receive.wr_id = 3
        there["qp"].post_receive(receive)
        write = verbs.WorkRequest(
            Operation.WRITE,
            1,
            [(self._address, 64, lkey)],
            remote_address=self._address + 4096,
            rkey=there[key].rkey,
        )
        send = verbs.WorkRequest(Operation.SEND, 2, [(self._address, 0, lkey)])
        here["qp"].post([write, send])
        for queue, wanted in ((here["sent"], 2), (there["received"], 1)):
            done = 0
            while done < wanted:
                done += len(queue.poll())

    def refusal(self) -> None:
        """The control, the refused WRITE, and the connection made anew."""
        self.write()
        self.write("secret")
        self.connect()


def median_ms(step: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        step()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


def ends_of(run: Run) -> tuple[tuple[str, str], tuple[int, int]]:
    """The names of both devices, and the index of the GID of each."""
    fabric = run.open()
    devices = {device.name: device.port(1).gids for device in list_devices()}
    peer = fabric.device if fabric.peer == "loopback" else fabric.peer
    gids = choose(devices[fabric.device], devices[peer])
    return (fabric.device, peer), (gids[0].index, gids[1].index)


def test_the_leak_guard_costs_less_than_a_tenth_of_a_case(pytestconfig, capsys):
    run = pytestconfig.stash[RUN]
    names, gids = ends_of(run)
    fabric = run.open()
    case_ms = median_ms(lambda: verdicts(run, fabric, [("cost", GRANTED)], 30.0))
    end = import_module("rdma_conformance.endpoint.end").End
    ends = [end(name, 1, gid) for name, gid in zip(names, gids, strict=True)]
    guard = watch(ends)
    cheap_ms = median_ms(guard.check)
    thorough_ms = median_ms(lambda: guard.check(thorough=True))
    for each in ends:
        each.close()
    share = (cheap_ms + thorough_ms / EVERY) / case_ms
    with capsys.disabled():
        print(
            f"\nleak guard: {cheap_ms:.2f} ms a case, {thorough_ms:.2f} ms with the lists, "
            f"{share:.1%} of a granted case",
            file=sys.stderr,
        )
    assert share < SHARE


def test_a_case_costs_a_small_multiple_of_its_verbs(pytestconfig, capsys):
    run = pytestconfig.stash[RUN]
    fabric = run.open()
    (device, peer), gids = ends_of(run)
    bare = Bare(device, peer, gids)
    rows = []
    for name, case, step in (("granted", GRANTED, bare.write), ("refused", REFUSED, bare.refusal)):
        control = expect(case, fabric.capabilities).control
        cases = [control, case] if control else [case]
        rows.append(
            (
                name,
                median_ms(step),
                median_ms(lambda cases=cases: fabric.perform(cases, 1, 30.0)),
                median_ms(lambda case=case: verdicts(run, fabric, [("cost", case)], 30.0)),
            )
        )
    with capsys.disabled():
        print("\ncase      bare verbs   performed   asked and judged", file=sys.stderr)
        for name, verbs_ms, performed_ms, asked_ms in rows:
            print(
                f"{name:9} {verbs_ms:7.2f} ms  {performed_ms / verbs_ms:8.1f} x"
                f" {asked_ms / verbs_ms:15.1f} x",
                file=sys.stderr,
            )
    for name, verbs_ms, _, asked_ms in rows:
        assert asked_ms / verbs_ms < LIMIT[name]
