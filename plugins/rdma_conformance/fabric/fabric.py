"""A fabric: two opened ends, what they are, and cases performed on them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from conformance.spec.model import Capabilities, Case, Observation, wire
from rdma_conformance.endpoint.client import WorkerDied, WorkerError, WorkerHung
from rdma_conformance.fabric.arrangement import Arrangement, Leftovers


class Fabric:
    """Performs cases; `open_fabric` makes it.

    `identity` and `description` say what was opened, `guarded` what is watched of it; `device` and
    `peer` are the values of --device and --peer that open the same again, `ports` the devices of
    this host with their ports. Once `stuck` is true a worker waits in the kernel for good: nothing
    that is asked on this machine can be trusted. `waits_in` shows where, if that can be seen.
    """

    def __init__(
        self,
        *,
        arrange: Callable[[], Arrangement],
        arrangement: Arrangement,
        identity: dict[str, Any],
        description: str,
        capabilities: Capabilities,
        device: str,
        peer: str,
        ports: Sequence[tuple[str, int]] = (),
        undo: Callable[[], None],
    ):
        self._arrange = arrange
        self._arrangement: Arrangement | None = arrangement
        self._undo = undo
        self.guarded = arrangement.guarded
        self.identity = identity
        self.description = description
        self.capabilities = capabilities
        self.device = device
        self.peer = peer
        self.ports = tuple(ports)
        self.stuck = False
        self.waits_in = ""

    def perform(self, cases: Sequence[Case], seed: int, bound_s: float) -> list[Observation]:
        """The observations of `cases`, performed in order on one connection, within `bound_s`.

        Those behind a control that failed are missing. Raises WorkerDied, WorkerHung (both end
        the worker: the next call starts another) or WorkerError.
        """
        arrangement = self._arranged()
        with self._dropped_if_lost():
            return arrangement.perform([wire(case) for case in cases], seed, bound_s)

    def leftovers(self, thorough: bool = False) -> Leftovers:
        """What was left behind since this was asked last, as builtin `leak_guard.Leftover`s.

        Nothing of a worker that is gone. With `thorough` all is looked at, else what is cheap or
        has moved. Raises as `perform` does.
        """
        if self._arrangement is None:
            return []
        with self._dropped_if_lost():
            return self._arrangement.leftovers(thorough)

    @contextmanager
    def _dropped_if_lost(self) -> Iterator[None]:
        try:
            yield
        except WorkerError:  # an answer, too: the worker goes on
            raise
        except BaseException:  # dead, or what it is at is unknown: no other case may meet it
            self._drop()
            raise

    @property
    def without_worker(self) -> bool:
        """Whether the last case took the worker with it."""
        return self._arrangement is None

    def plant(self, name: str) -> None:
        """Plant the fault `name` in place of another, until a worker is lost."""
        self._arranged().plant(name)

    def _arranged(self) -> Arrangement:
        if self._arrangement is None:
            try:
                self._arrangement = self._arrange()
            except (WorkerDied, WorkerHung) as trouble:  # of a case that was never asked
                self.stuck |= trouble.stuck
                raise WorkerError(f"no new endpoint worker could be had: {trouble}") from None
        return self._arrangement

    def _drop(self) -> None:
        arrangement, self._arrangement = self._arrangement, None
        if arrangement is not None:
            arrangement.close()
            if arrangement.stuck:
                self.stuck, self.waits_in = True, arrangement.waits_in

    def end_workers(self) -> None:
        """Close both ends; another case would start them anew."""
        self._drop()

    def close(self) -> None:
        """End the workers and remove what was set up."""
        try:
            self._drop()
        finally:
            self._undo()
