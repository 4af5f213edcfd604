"""How two ends are brought together: in one worker where both devices are visible, else in two."""

import time
from dataclasses import dataclass
from typing import Any, Protocol

from rdma_conformance.endpoint.client import START_S, Worker, WorkerDied, WorkerError, WorkerHung
from rdma_conformance.endpoint.pair import Pair
from rdma_conformance.endpoint.remote import RemoteEnd
from rdma_conformance.endpoint.stopped import STOPPED
from rdma_conformance.plants import HONEST, PLANTS

Observations = list[dict[str, Any]]
Leftovers = list[dict[str, Any]]  # `leak_guard.Leftover`, as builtin types

CHECK_S = 10.0  # to read what is open takes milliseconds


@dataclass(frozen=True, slots=True)
class Place:
    """A device, port and GID index, and the command of the Python that opens it there."""

    device: str
    port: int
    gid_index: int
    python: str | None
    ssh: str | None = None


class Arrangement(Protocol):
    """Two opened ends. After WorkerDied or WorkerHung it is closed.

    `guarded` says what is watched of what they have open.
    """

    guarded: str

    @property
    def stuck(self) -> bool:
        """Whether a worker of it waits in the kernel and can't be ended."""

    @property
    def waits_in(self) -> str:
        """Where in the kernel, if that can be seen."""

    def identify(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What requester and responder are and claim, as the worker's `identify` says."""

    def perform(self, cases: list[dict[str, Any]], seed: int, bound_s: float) -> Observations:
        """Raises WorkerDied, WorkerHung or WorkerError."""

    def leftovers(self, thorough: bool) -> Leftovers:
        """What was left behind since this was asked last; see `leak_guard.Guard.check`.

        Raises WorkerDied, WorkerHung or WorkerError.
        """

    def plant(self, name: str) -> None:
        """Plant the fault `name` from now on."""

    def settle(self) -> None: ...

    def close(self) -> None: ...


class Together:
    """Both ends in one worker: one message to and from it for a case."""

    def __init__(self, requester: Place, responder: Place, plant: str | None):
        self._left: Leftovers = []
        self._unchecked = False
        self._worker = Worker(requester.python)
        try:
            for name, place in (("requester", requester), ("responder", responder)):
                _open(self._worker, name, place)
            self._worker.call("pair", START_S, plant=plant)
            self.guarded = self._worker.call("guard", START_S)
        except BaseException:
            self.close()
            raise

    @property
    def stuck(self) -> bool:
        return self._worker.stuck

    @property
    def waits_in(self) -> str:
        return self._worker.waits_in

    def identify(self) -> tuple[dict[str, Any], dict[str, Any]]:
        ask = self._worker.call
        return (
            ask("identify", START_S, end="requester"),
            ask("identify", START_S, end="responder"),
        )

    def perform(self, cases: list[dict[str, Any]], seed: int, bound_s: float) -> Observations:
        self._unchecked = True
        answer = self._worker.call("perform", bound_s, cases=cases, seed=seed)
        if answer["leftovers"] is not None:
            self._unchecked = False
            self._left += answer["leftovers"]
        return answer["observations"]

    def settle(self) -> None:
        """Its one worker looks by itself after what it performs."""

    def leftovers(self, thorough: bool) -> Leftovers:
        if thorough or self._unchecked:
            self._unchecked = False
            self._left += self._worker.call("leftovers", CHECK_S, thorough=thorough)
        found, self._left = self._left, []
        return found

    def plant(self, name: str) -> None:
        self._worker.call("plant", START_S, name=name)

    def close(self) -> None:
        self._worker.close()


class Apart:
    """Each end in a worker of its own, in another namespace or on another host."""

    def __init__(self, requester: Place, responder: Place, plant: str | None):
        self._workers: list[Worker] = []
        ends = []
        try:
            for place in (requester, responder):
                worker = Worker(place.python, place.ssh)
                self._workers.append(worker)
                _open(worker, "end", place)
                ends.append(RemoteEnd(worker))
            told = [worker.call("guard", START_S) for worker in self._workers]
        except BaseException:
            self.close()
            raise
        self._ends = ends
        self.guarded = told[0] if told[0] == told[1] else "; the peer: ".join(told)
        self._left: Leftovers = []
        self._unchecked = 0
        self._phase = "control"
        fault = PLANTS[plant] if plant else HONEST
        self._pair = Pair(*ends, fault, self._asked)

    @property
    def stuck(self) -> bool:
        return any(worker.stuck for worker in self._workers)

    @property
    def waits_in(self) -> str:
        return "\n".join(filter(None, (worker.waits_in for worker in self._workers)))

    def _asked(self) -> None:
        self._phase = "asked"

    def identify(self) -> tuple[dict[str, Any], dict[str, Any]]:
        first, second = (worker.call("identify", START_S, end="end") for worker in self._workers)
        return first, second

    def perform(self, cases: list[dict[str, Any]], seed: int, bound_s: float) -> Observations:
        self._phase = "control"
        for end in self._ends:
            end.deadline = time.monotonic() + bound_s
        self._unchecked += 1
        try:
            return self._pair.perform(cases, seed)
        except WorkerHung as hung:
            self.close()
            phase = hung.phase if hung.phase.startswith(STOPPED) else self._phase
            raise WorkerHung(phase, bound_s, hung.kernel_stack, hung.end, hung.stuck) from None
        except WorkerDied:
            self.close()
            raise

    def settle(self) -> None:
        """Look now: what was performed is no case, and none is to share its leftovers' blame."""
        self._left += self.leftovers(thorough=False)

    def leftovers(self, thorough: bool) -> Leftovers:
        if thorough or self._unchecked:
            performed, self._unchecked = self._unchecked, 0
            trouble: WorkerError | None = None
            for worker in self._workers:  # all: what one has is not of the case that comes next
                try:
                    self._left += worker.call(
                        "leftovers", CHECK_S, thorough=thorough, performed=performed
                    )
                except WorkerError as error:
                    trouble = error
            if trouble:  # what was found is kept: it is told of once
                raise trouble
        found, self._left = self._left, []
        return found

    def plant(self, name: str) -> None:
        self._pair.planted = PLANTS[name]

    def close(self) -> None:
        for worker in self._workers:
            worker.close()


def _open(worker: Worker, name: str, place: Place) -> None:
    worker.call(
        "open",
        START_S,
        end=name,
        device=place.device,
        port=place.port,
        gid_index=place.gid_index,
    )
