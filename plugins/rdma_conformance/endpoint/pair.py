"""Perform cases on two ends, a requester and a responder, and say all that was seen.

The ends may live in this process or behind proxies: only builtin types go to and from them.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.spec.memory import image, run
from conformance.spec.model import ALL_RIGHTS, GUARD, Region, Transfer, wire
from conformance.spec.transfer import CONSUMING
from conformance.spec.vocabulary import Access, Operation, Status
from rdma_conformance.endpoint.agreement import NONE, RECEIVES, Case
from rdma_conformance.endpoint.crowds import Crowds
from rdma_conformance.endpoint.memlock import accounts
from rdma_conformance.endpoint.registrations import BufferTrials
from rdma_conformance.plants import HONEST, Plant

POOLED = 64  # connected pairs of queue pairs; the least recently used beyond that is closed
PROBE = 64  # bytes that a WRITE carries from a region on trial
REMOTE_FAULT_S = 1.0  # how long the responder may take to show an error that it reported
LOCAL_FAULT_S = 0.02  # what the requester found by itself need not show at the responder at all

SUCCESS = Status.SUCCESS.name


@dataclass(slots=True)
class Link:
    """A pooled pair of queue pairs (handles of both ends) and what the last case left of it."""

    requester: int
    responder: int
    access: int
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
        self._requester = requester
        self._responder = responder
        self._plant = plant
        self._asked = asked
        self._links: OrderedDict[tuple[str, int], Link] = OrderedDict()
        self._performers = {
            "transfer": self.transfer,
            "registration": self.registration,
            "bufferregistration": BufferTrials(requester, self.carry).perform,
            **accounts(requester),
            **Crowds(requester, responder, self.carry, self.reach).performers(),
        }

    def perform(self, cases: list[Case], seed: int) -> list[dict[str, Any]]:
        """The observations of `cases` in order; those behind a control that failed are missing."""
        observations: list[dict[str, Any]] = []
        for case in cases[:-1]:
            observations.append(self._one(case, seed, HONEST))
            if not _good(observations[-1]):
                return observations
        self._asked()
        return [*observations, self._one(cases[-1], seed, self._plant.of(cases[-1]))]

    def _one(self, case: Case, seed: int, plant: Plant) -> dict[str, Any]:
        if plant.misbehave:
            self._requester.misbehave(plant.misbehave)
        performer = self._performers.get(case["kind"])
        if performer is None:
            raise ValueError(f"a case of kind {case['kind']!r} is not known to this endpoint")
        return plant.report(performer(case, seed, plant))

    # Transfers

    def transfer(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        """Everything both sides see of one work request."""
        link = self._link(case["transport"], plant.qp_access(case["qp_access"]))
        performed = plant.performed(case)
        target = self._responder.arm(link.responder, performed, seed)
        asked = self._requester.ask(link.requester, performed, seed, target, link.leftover)
        if plant.stray_byte:
            self._responder.flip(performed, case["remote_offset"] + case["length"])
        facts = self._facts(link, performed, asked)
        self._settle(link, asked, facts)
        return {**asked, **facts}

    def _facts(self, link: Link, case: Case, asked: dict[str, str]) -> dict[str, Any]:
        refused = asked["post"] != "OK"
        failed = not refused and not _both_succeeded(asked)
        expected = 0 if refused else RECEIVES
        if not failed and not refused and case["operation"] not in CONSUMING:
            expected = 1
        remotely = asked["requester"].startswith("REM_") or asked["requester"] in (
            SUCCESS,
            NONE,
            Status.RETRY_EXC_ERR.name,
        )
        patience_s = REMOTE_FAULT_S if remotely else LOCAL_FAULT_S
        there = self._responder.responder_facts(link.responder, case, expected, failed, patience_s)
        here = self._requester.requester_facts(link.requester, case, failed)
        return {**there, **here}

    # Connections

    def _link(self, transport: str, access: int) -> Link:
        """A connected pair of `transport` whose responder grants `access`."""
        key = (transport, int(access))
        link = self._links.get(key)
        if link is None:
            link = Link(
                self._requester.create(transport), self._responder.create(transport), int(access)
            )
            self._links[key] = link
            if len(self._links) > POOLED:
                _, oldest = self._links.popitem(last=False)
                self._requester.destroy(oldest.requester)
                self._responder.destroy(oldest.responder)
        self._links.move_to_end(key)
        if not link.connected:
            self._connect(link)
        link.connected = False  # until the case that is to come has been seen to leave it whole
        return link

    def _connect(self, link: Link) -> None:
        """Through RESET to RTS on both sides, by exchanging attributes."""
        mine = int(ALL_RIGHTS)
        here = self._requester.init(link.requester, mine)
        there = self._responder.init(link.responder, link.access)
        self._responder.connect(link.responder, there, here, link.access)
        self._requester.connect(link.requester, here, there, mine)
        link.leftover = 0

    def _settle(self, link: Link, asked: dict[str, str], facts: dict[str, Any]) -> None:
        """Keep the connection for the next case if this one left it as it should be."""
        receives = facts["receives"]
        whole = all(status == SUCCESS for status in receives) and _both_succeeded(asked)
        states = {facts["requester_qp"], facts["responder_qp"]}
        link.connected = whole and bool(receives) and states == {"RTS"}
        link.leftover = RECEIVES - len(receives)
        if asked["requester"] == Status.REM_INV_REQ_ERR.name:
            self._retire(link)

    def _retire(self, link: Link) -> None:
        """Destroy a connection: some kernels' rxe (6.1) keep an invalid request through RESET."""
        self._links = OrderedDict(
            (key, each) for key, each in self._links.items() if each is not link
        )
        self._requester.destroy(link.requester)
        self._responder.destroy(link.responder)

    # Registrations

    def registration(self, case: Case, seed: int, plant: Plant = HONEST) -> dict[str, Any]:
        """Register, use the region as the source of a WRITE, deregister."""
        access = plant.region_access(case["access"])
        found = self._requester.register({**case, "access": access}, seed)
        addressing = []
        if found["result"] == "OK":
            modes = ["address"]
            if case["access"] & Access.ZERO_BASED:
                modes.append("offset")
            addressing = [mode for mode in modes if self._usable(mode, case["length"], seed)]
        ended = self._requester.deregister(plant.leak)
        return {**found, "addressing": addressing, **ended}

    def _usable(self, mode: str, length: int, seed: int) -> bool:
        """Whether a WRITE from the region on trial brings its bytes to the responder."""
        length = min(length, PROBE)
        rights = Access.LOCAL_WRITE | Access.REMOTE_WRITE
        case = wire(
            Transfer(Operation.WRITE, length=length, remote=Region(rights), qp_access=rights)
        )
        link = self._link(case["transport"], case["qp_access"])
        target = self._responder.arm(link.responder, case, seed)
        asked = self._requester.write_from_trial(
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
        link = self._link(case["transport"], case["qp_access"])
        target = self._responder.arm(link.responder, case, seed)
        asked = self._requester.request(
            link.requester, operation.value, local, target, link.leftover
        )
        facts = self._facts(link, case, asked)
        self._settle(link, asked, facts)
        return {**asked, **facts}

    def reach(self, operation: Operation, target: dict[str, int], seed: int) -> dict[str, Any]:
        """Everything both sides see of an operation between the requester's bystander and a
        `target` (address and rkey) of the responder; `bystander` is what changed in the former."""
        case = wire(Transfer(operation))
        link = self._link(case["transport"], case["qp_access"])
        self._responder.arm(link.responder, case, seed)
        local = self._requester.buffers.fill_bystander(seed)
        asked = self._requester.request(
            link.requester, operation.value, local, target, link.leftover
        )
        facts = self._facts(link, case, asked)
        self._settle(link, asked, facts)
        return {**asked, **facts, "bystander": self._requester.buffers.bystander_changes()}

    def close(self) -> None:
        """Close both ends and all that they hold."""
        self._links.clear()
        self._requester.close()
        self._responder.close()


def _both_succeeded(asked: dict[str, str]) -> bool:
    return asked["requester"] == SUCCESS and asked["follow_up"] == SUCCESS


def _good(observation: dict[str, Any]) -> bool:
    """Whether a control came out well enough for the case behind it to say something."""
    return observation.get("requester", observation.get("result")) in (SUCCESS, "OK")
