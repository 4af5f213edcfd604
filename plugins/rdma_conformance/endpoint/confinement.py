"""What runs in a process of its own limits: programs of registrations, threads, an end.

`keep` answers requests, each in a process that it forks. Nothing here needs pyverbs, whose import
would cost more than all the cases.
"""

import json
import os
import signal
import sys
import threading
from functools import partial
from typing import Any, BinaryIO

from conformance.spec.buffer import Backing
from conformance.spec.memlock import Do, Way
from conformance.spec.model import ALL_RIGHTS
from conformance.spec.vocabulary import PAGE, Access, Operation, Status
from rdma_conformance.endpoint import privileges
from rdma_conformance.endpoint.forks import apart, fork, reap
from rdma_conformance.endpoint.ledger import Ledger
from rdma_conformance.endpoint.libibverbs import Domain, Refused, keys
from rdma_conformance.endpoint.mappings import Mapping
from rdma_conformance.endpoint.outlasting import outlasting
from rdma_conformance.endpoint.restrack import ResourceLists

_ORDINARY = {"offset": 0, "backing": Backing.ANONYMOUS, "access": int(Access.LOCAL_WRITE)}


def keep() -> None:
    """Answer the requests on standard input until it ends."""
    privileges.die_with_parent(os.getppid())
    for line in sys.stdin.buffer:
        request = json.loads(line)
        function, place = _FUNCTIONS[request.pop("what")], request.pop("place")
        if function is live_under_limit:
            request |= place
        answer = apart(function, {**request, "device": place["device"]})
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


def program(
    device: str,
    limit: int | None,
    capable: bool,
    steps: list[dict[str, Any]],
    forgetful: bool,
) -> dict[str, Any]:
    """The facts of a `spec.memlock.Memlock`: what each step returns and how many kB are pinned.

    `forgetful` is a planted fault: deregistration keeps the pages.
    """
    ledger = Ledger(device, limit, capable)
    results, pinned = [], []
    for number, step in enumerate(steps):
        try:
            _step(ledger, number, forgetful=forgetful, **step)
            results.append("OK")
        except Refused as refused:
            results.append(refused.name)
        pinned.append(ledger.pinned_kb())
    return {"results": results, "pinned_kb": pinned}


def _step(
    ledger: Ledger, number: int, *, do: str, length: int, which: int, forgetful: bool, **more: Any
) -> None:
    match Do(do):
        case Do.REGISTER:
            ledger.register(number, length, **more)
        case Do.DEREGISTER:
            (ledger.forget if forgetful else ledger.deregister)(which)
        case Do.LIMIT:
            ledger.limit(length)
        case Do.CLOSE:
            ledger.reopen()


def contention(
    device: str, threads: int, pages: int, rounds: int, forgetful: bool
) -> dict[str, Any]:
    """The facts of a `spec.memlock.Contention`.

    While threads try, one that will be refused has its page counted for a moment, so that another
    may be refused a page too early; the sum of those that succeeded is what the limit limits.
    """
    ledger = Ledger(device, pages * PAGE, capable=False)
    held, pinned, number = "never over the limit", "as held", 0
    for _ in range(rounds):
        taken = _at_once(ledger, threads, pages, number)
        number += threads * pages
        if len(taken) > pages:
            held = f"{len(taken)} of {pages} pages"
        if ledger.pinned_kb() != len(taken) * PAGE // 1024:
            pinned = f"{ledger.pinned_kb()} kB while {len(taken)} pages are held"
        for each in taken:
            ledger.deregister(each)
    filled, then = 0, "OK"
    while then == "OK" and filled <= pages:
        then = _try(ledger, number + filled)
        filled += then == "OK"
    for each in range(filled - forgetful):
        ledger.deregister(number + each)
    facts = {"held": held, "pinned": pinned, "filled": filled, "then": then}
    return {**facts, "left_kb": ledger.pinned_kb()}


def _at_once(ledger: Ledger, threads: int, pages: int, number: int) -> list[int]:
    """The numbers of the pages that so many threads could register, each trying for all."""
    taken: list[int] = []
    together = threading.Barrier(threads)

    def take(first: int) -> None:
        together.wait()
        taken.extend(each for each in range(first, first + pages) if _try(ledger, each) == "OK")

    workers = [
        threading.Thread(target=take, args=(number + each * pages,)) for each in range(threads)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return taken


def _try(ledger: Ledger, number: int) -> str:
    try:
        ledger.register(number, PAGE, same=True, **_ORDINARY)
    except Refused as refused:
        return refused.name
    return "OK"


def _wait_for_holder(pid: int, pipe: BinaryIO) -> None:
    """Until the child says that it holds its regions. Raises RuntimeError when it ended."""
    if not pipe.read(1):
        raise RuntimeError(f"the process that was to hold regions ended with {reap(pid)}")


def ending(device: str, way: str, regions: int, forgetful: bool) -> dict[str, Any]:
    """The facts of a `spec.memlock.Ending`: the regions that the kernel lists of the process
    while it lives, how many more there are of nobody after it ended, and whether another process
    can register then.

    `forgetful` is a planted fault: a process that nobody sees holds its device open over its end.
    """
    lists = ResourceLists([device])
    before = _regions(lists)
    until = os.pipe() if forgetful else ()  # whoever outlives it does so until this process ends
    pid, reading = fork(partial(_hold, device, way, regions, until))
    with os.fdopen(reading, "rb") as pipe:
        _wait_for_holder(pid, pipe)
        listed = len(lists.lengths(pid))
        if way == Way.KILL:
            os.kill(pid, signal.SIGKILL)
        else:
            os.kill(pid, signal.SIGTERM)  # its handler exits
        os.waitpid(pid, 0)
    after = _outlasting(lists, before)
    ledger = Ledger(device, PAGE, capable=False)
    return {"listed": listed, "after": after, "next": _try(ledger, 0)}


def _hold(device: str, way: str, regions: int, until: tuple[int, ...], writing: int) -> None:
    """Register and hold that until it is ended. With `until`, a pipe, another one has it, too."""
    if way == Way.EXIT:
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    ledger = Ledger(device, regions * PAGE, capable=False)
    for number in range(regions):
        ledger.register(number, PAGE, same=False, **_ORDINARY)
    if until and os.fork() == 0:
        os.close(until[1])
        os.read(until[0], 1)  # ends when nobody has the other end any more
        os._exit(0)
    os.write(writing, b"h")
    while True:
        signal.pause()


def _regions(lists: ResourceLists) -> dict[str, int]:
    """How many regions this process has, or nobody any more."""
    return {"mr": lists.among("mr", {os.getpid()})}


def _outlasting(lists: ResourceLists, before: dict[str, int]) -> int:
    """How many more regions than `before` stay of processes that have ended."""
    return outlasting(lambda: _regions(lists), before).get("mr", before["mr"]) - before["mr"]


def live_under_limit(
    device: str, limit: int, forgetful: bool, port: int, gid_index: int
) -> dict[str, Any]:
    """The facts of a `spec.memlock.LiveUnderLimit`: the device in loopback, as it is opened here.

    Raises RuntimeError when it does not reach itself.
    """
    # The credentials must not change once a device is open: it would take no call any more.
    privileges.drop(privileges.CAP_IPC_LOCK)
    # Only here is pyverbs needed, and its import costs seconds.
    from rdma_conformance.endpoint.end import End  # noqa: PLC0415
    from rdma_conformance.endpoint.pair import Pair  # noqa: PLC0415

    near, far = End(device, port, gid_index), End(device, port, gid_index)
    pair, buffers = Pair(near, far), near.buffers

    def carried() -> dict[str, str]:
        return {
            each.value: pair.carry(each, buffers.bystander(), 1)["requester"]
            for each in (Operation.WRITE, Operation.READ)
        }

    before = carried()  # a connection that is made under the limit could be refused for it
    if set(before.values()) != {Status.SUCCESS.name}:
        raise RuntimeError(f"{device} does not reach itself in loopback: {before}")
    old = privileges.memlock()
    privileges.limit_memlock(limit)
    found = {"new": buffers.attempt_ordinary(), **carried()}
    privileges.limit_memlock(old)
    return {**found, "restored": buffers.attempt_ordinary()}


def crowd(device: str, processes: int, threads: int, count: int, forgetful: bool) -> dict[str, Any]:
    """The facts of a `spec.crowd.Crowd`: keys that all processes hold at once, and how many more
    regions there are of nobody when they have ended.

    `forgetful` is a planted fault: the last region of two of the processes is one and the same.
    """
    lists = ResourceLists([device])
    shared: list[Any] = []
    if forgetful:
        address = Mapping(Backing.ANONYMOUS, PAGE, b"").address
        shared.append(Domain(device).register(address, PAGE, ALL_RIGHTS))
    before = _regions(lists)
    started = [
        fork(partial(_join, device, threads, count, shared if number < 2 else []))
        for number in range(processes)
    ]
    answers = []
    for _, reading in started:
        with os.fdopen(reading, "rb") as pipe:
            answers.append(json.loads(pipe.readline()))
    for pid, _ in started:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    given = [tuple(key) for answer in answers for key in answer["keys"]]
    return {
        "errors": sorted({error for answer in answers for error in answer["errors"]}),
        "regions": len(given),
        "lkeys": len({lkey for lkey, _ in given}),
        "rkeys": len({rkey for _, rkey in given}),
        "after": _outlasting(lists, before),
    }


def _join(device: str, threads: int, count: int, shared: list[Any], writing: int) -> None:
    """Register with so many threads, tell the keys, and hold all until SIGTERM.

    What is `shared` comes in place of as many of the regions.
    """
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    domain, mapping = Domain(device), Mapping(Backing.ANONYMOUS, PAGE, b"")
    held: list[Any] = []
    errors: set[str] = set()

    def work() -> None:
        for _ in range(count):
            try:
                # Some churn in between, so that keys are given, taken back and given again.
                domain.deregister(domain.register(mapping.address, PAGE, ALL_RIGHTS))
                held.append(domain.register(mapping.address, PAGE, ALL_RIGHTS))
            except Refused as refused:
                errors.add(refused.name)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    told = [*shared, *held[len(shared) :]]
    answer = {"keys": [keys(each) for each in told], "errors": sorted(errors)}
    with os.fdopen(writing, "wb", closefd=False) as pipe:
        pipe.write(json.dumps(answer).encode() + b"\n")
    while True:
        signal.pause()


_FUNCTIONS = {
    "crowd": crowd,
    "memlock": program,
    "contention": contention,
    "ending": ending,
    "liveunderlimit": live_under_limit,
}
