"""Perform cases on two ends, a requester and a responder, and say all that was seen.

The ends may live in this process or behind proxies: only builtin types go to and from them.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from conformance.spec.memory import image, run
from conformance.spec.model import ALL_RIGHTS, GUARD, Posted, Region, Topology, Transfer, wire
from conformance.spec.operations import CONSUMING
from conformance.spec.vocabulary import Access, Operation, Status, Transport
from rdma_conformance.endpoint.agreement import NONE, RECEIVES, Case
from rdma_conformance.endpoint.contention import contend
from rdma_conformance.endpoint.crowds import Crowds
from rdma_conformance.endpoint.lifetime_cases import LifetimeCases
from rdma_conformance.endpoint.memlock import accounts
from rdma_conformance.endpoint.paging_cases import PagingCases
from rdma_conformance.endpoint.registrations import BufferTrials
from rdma_conformance.endpoint.rereg_cases import ReregistrationCases
from rdma_conformance.endpoint.window_cases import WindowCases
from rdma_conformance.plants import HONEST, Plant

POOLED = 64  # connected pairs of queue pairs; the least recently used beyond that is closed
PROBE = 64  # bytes that a WRITE carries from a region on trial
REMOTE_FAULT_S = 1.0  # how long the responder may take to show an error that it reported
LOCAL_FAULT_S = 0.02  # what the requester found by itself need not show at the responder at all

SUCCESS = Status.SUCCESS.name


class Route(NamedTuple):
    """What a pair of queue pairs is made for: cases that differ in it need another one."""

    transport: str
    access: int  # that the responder's queue pair grants
    loopback: bool = False
    shared: bool = False  # the responder's receives are in a shared queue
    rnr_retry: int = 7  # 7 is for ever
    lane: int = 0  # counts connections that are otherwise the same


@dataclass(slots=True)
class Link:
    """A pooled pair of queue pairs (handles of both ends) and what the last case left of it."""

    route: Route
    requester: int
    responder: int
    there: Any  # the end of the responder
    connected: bool = False
    leftover: int = 0  # receives that are still posted


class Pair:
    """Performs cases with `requester` and `responder`, which are `End`s or stand in for them.

    `asked` is called when the last case of a `perform` comes up: what hangs from then on is
    the driver's answer, what hangs before is not. `plant` is a planted fault: it strikes only
    that last case, never a positive control.
    """

    def __init__(
        self,
        requester: Any,
        responder: Any,
        plant: Plant = HONEST,
        asked: Callable[[], None] = lambda: None,
    ):
        self.requester = requester
        self._responder = responder
        self.planted = plant
        self._asked = asked
        self._met = 0  # cases so far that trigger the planted fault
        self._links: OrderedDict[Route, Link] = OrderedDict()
        self._performers = {
            "transfer": self.transfer,
            "registration": self.registration,
            "concurrentatomics": lambda case, seed, plant: contend(self, plant.altered(case)),
            "bufferregistration": BufferTrials(requester, self.carry).perform,
            **accounts(requester),
            **Crowds(requester, responder, self.carry, self.reach).performers(),
            **WindowCases(requester, responder).performers,
            **LifetimeCases(requester, responder).performers,
            **ReregistrationCases(requester, responder).performers,
            **PagingCases(requester, responder).performers,
        }

    def perform(self, cases: list[Case], seed: int) -> list[dict[str, Any]]:
        """The observations of `cases` in order; those behind a control that failed are missing."""
        observations: list[dict[str, Any]] = []
        for case in cases[:-1]:
            observations.append(self._one(case, seed, HONEST))
            if not _good(observations[-1]):
                return observations
        self._asked()
        case = cases[-1]
        plant = self.planted.of(case, self._met)
        self._met += self.planted.when(case)
        found = self._one(case, seed, plant)
        if plant.leaves:
            self.requester.leave(plant.leaves)
        if plant.says:
            self.requester.log(list(plant.says))
        if case.get("recover"):
            control = {**cases[0], "rkey_xor": 0xFF} if plant.ends_early else cases[0]
            found["recovery"] = self._recovery(control, seed, observations[0])
        return [*observations, plant.report(found)]

    def _recovery(self, control: Case, seed: int, before: dict[str, Any]) -> str:
        """How the control comes out on new queue pairs, against how it did before."""
        self._discard(_route(control))
        again = self._one(control, seed, HONEST)
        changed = sorted(fact for fact in before if again.get(fact) != before[fact])
        return f"changed: {', '.join(changed)}" if changed else "as before"

    def _one(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        if plant.misbehave:
            self.requester.misbehave(plant.misbehave)
        performer = self._performers.get(case["kind"])
        if performer is None:
            raise ValueError(f"a case of kind {case['kind']!r} is not known to this endpoint")
        return performer(case, seed, plant)

    # Transfers

    def transfer(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        """Everything both sides see of one work request."""
        performed = plant.transfer(case)
        link = self._link(_route(performed))
        here, there = self.requester.requester, link.there.responder
        target = there.arm(link.responder, performed, seed)
        late = case["posted"] == Posted.LATE
        asked = here.ask(link.requester, performed, seed, target, link.leftover)
        if late and asked["requester"] == NONE:
            there.post(link.responder, performed)
            asked = here.completions()
        if plant.stray_byte:
            there.flip(performed, case["remote_offset"] + case["length"])
        facts = self._facts(link, performed, asked)
        self._settle(link, asked, facts)
        return {**asked, **facts}

    def _facts(self, link: Link, case: Case, asked: dict[str, str]) -> dict[str, Any]:
        refused = asked["post"] != "OK"
        failed = not refused and not _both_succeeded(asked)
        expected = 0 if refused else RECEIVES
        if not failed and not refused and case["operation"] not in CONSUMING:
            expected = 1
        if failed and case["shared"]:
            expected = 1  # a shared queue is not flushed
        remotely = asked["requester"].startswith("REM_") or asked["requester"] in (
            SUCCESS,
            NONE,
            Status.RETRY_EXC_ERR.name,
        )
        patience_s = REMOTE_FAULT_S if remotely else LOCAL_FAULT_S
        there = link.there.responder.facts(link.responder, case, expected, failed, patience_s)
        here = self.requester.requester.facts(link.requester, case, failed)
        return {**there, **here}

    # Connections

    def lane(self, number: int, loopback: bool) -> Link:
        """A connection of its own for each `number`, with every right and no receives."""
        return self._link(Route(Transport.RC.value, int(ALL_RIGHTS), loopback, lane=number + 1))

    def _link(self, route: Route) -> Link:
        """A connected pair of queue pairs for `route`."""
        link = self._links.get(route)
        if link is None:
            there = self.requester if route.loopback else self._responder
            link = Link(
                route,
                self.requester.queues.create(route.transport),
                there.queues.create(route.transport, route.shared),
                there,
            )
            self._links[route] = link
            if len(self._links) > POOLED:
                self._discard(next(iter(self._links)))
        self._links.move_to_end(route)
        if not link.connected:
            self._connect(link)
        link.connected = False  # until the case that is to come has been seen to leave it whole
        return link

    def _discard(self, route: Route) -> None:
        """Destroy the queue pairs of `route`, if there are any."""
        link = self._links.pop(route, None)
        if link:
            self.requester.queues.destroy(link.requester)
            link.there.queues.destroy(link.responder)

    def _connect(self, link: Link) -> None:
        """Through RESET to RTS on both sides, by exchanging attributes."""
        mine, granted = int(ALL_RIGHTS), link.route.access
        requester, responder = self.requester.queues, link.there.queues
        here = requester.init(link.requester, mine)
        there = responder.init(link.responder, granted)
        responder.connect(link.responder, there, here, granted)
        requester.connect(link.requester, here, there, mine, link.route.rnr_retry)
        link.leftover = 0

    def _settle(self, link: Link, asked: dict[str, str], facts: dict[str, Any]) -> None:
        """Keep the connection for the next case if this one left it as it should be."""
        receives = facts["receives"]
        whole = all(status == SUCCESS for status in receives) and _both_succeeded(asked)
        states = {facts["requester_qp"], facts["responder_qp"]}
        link.connected = whole and bool(receives) and states == {"RTS"}
        link.leftover = RECEIVES - len(receives)
        # Some kernels' rxe (6.1) keep an invalid request through RESET, and what is left in a
        # shared queue would be the next case's.
        invalid = asked["requester"] == Status.REM_INV_REQ_ERR.name
        if invalid or (link.route.shared and not link.connected):
            self._discard(link.route)

    # Registrations

    def registration(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        """Register, use the region as the source of a WRITE, deregister."""
        access = plant.region_access(case["access"])
        found = self.requester.register({**case, "access": access}, seed)
        addressing = []
        if found["result"] == "OK":
            modes = ["address"]
            if case["access"] & Access.ZERO_BASED:
                modes.append("offset")
            addressing = [mode for mode in modes if self._usable(mode, case["length"], seed)]
        ended = self.requester.deregister(plant.leak)
        return {**found, "addressing": addressing, **ended}

    def _usable(self, mode: str, length: int, seed: int) -> bool:
        """Whether a WRITE from the region on trial brings its bytes to the responder."""
        length = min(length, PROBE)
        rights = Access.LOCAL_WRITE | Access.REMOTE_WRITE
        case = wire(
            Transfer(Operation.WRITE, length=length, remote=Region(rights), qp_access=rights)
        )
        link = self._link(_route(case))
        target = self._responder.responder.arm(link.responder, case, seed)
        asked = self.requester.write_from_trial(
            link.requester, mode == "offset", target, length, link.leftover
        )
        facts = self._facts(link, case, asked)
        self._settle(link, asked, facts)
        source = image(seed, "local", length)[GUARD : GUARD + length]
        return facts["region"] == [run(0, source)] and asked["requester"] == SUCCESS

    def carry(self, operation: Operation, local: dict[str, int], seed: int) -> dict[str, Any]:
        """Everything both sides see of an operation between `local` (address, length and lkey of
        the requester's memory) and an ordinary region of the responder that has every right."""
        remote = Region(ALL_RIGHTS, length=max(local["length"], PROBE))
        case = wire(Transfer(operation, length=local["length"], remote=remote))
        link = self._link(_route(case))
        target = self._responder.responder.arm(link.responder, case, seed)
        asked = self.requester.request(
            link.requester, operation.value, local, target, link.leftover
        )
        facts = self._facts(link, case, asked)
        self._settle(link, asked, facts)
        return {**asked, **facts}

    def reach(self, operation: Operation, target: dict[str, int], seed: int) -> dict[str, Any]:
        """Everything both sides see of an operation between the requester's bystander and a
        `target` (address and rkey) of the responder; `bystander` is what changed in the former."""
        case = wire(Transfer(operation))
        link = self._link(_route(case))
        self._responder.responder.arm(link.responder, case, seed)
        local = self.requester.buffers.fill_bystander(seed)
        asked = self.requester.request(
            link.requester, operation.value, local, target, link.leftover
        )
        facts = self._facts(link, case, asked)
        self._settle(link, asked, facts)
        return {**asked, **facts, "bystander": self.requester.buffers.bystander_changes()}

    def close(self) -> None:
        """Close both ends and all that they hold."""
        self._links.clear()
        self.requester.close()
        self._responder.close()


def _route(case: Case) -> Route:
    return Route(
        case["transport"],
        int(case["qp_access"]),
        case["topology"] == Topology.LOOPBACK,
        case["shared"],
        1 if case["posted"] == Posted.NEVER else 7,
    )


def _both_succeeded(asked: dict[str, str]) -> bool:
    return asked["requester"] == SUCCESS and asked["follow_up"] == SUCCESS


def _good(observation: dict[str, Any]) -> bool:
    """Whether a control came out well enough for the case behind it to say something."""
    answer = observation.get("requester", observation.get("result"))
    answers = observation.get("results", [answer])  # a program of several steps
    return all(each in (SUCCESS, "OK") for each in answers)
