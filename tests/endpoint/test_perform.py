"""A fabric keeps going after a worker is lost; the arrangement of its ends is played here."""

from typing import Any

import pytest

from conformance.spec.model import Capabilities, Registration
from rdma_conformance.endpoint.client import WorkerDied, WorkerError, WorkerHung
from rdma_conformance.fabric import Fabric

CASE = Registration(0)


class PlayedArrangement:
    stuck = False
    guarded = "on"

    def __init__(self, failure: BaseException | None = None) -> None:
        self.failure = failure
        self.closed = False
        self.left: list[dict[str, Any]] = []
        self.performed: list[tuple[int, float]] = []

    def perform(self, cases, seed, bound_s):
        if self.failure:
            raise self.failure
        self.performed.append((seed, bound_s))
        return [{"result": case["access"]} for case in cases]

    def leftovers(self, thorough):
        if self.failure:
            raise self.failure
        return self.left

    def close(self):
        self.closed = True


def make_fabric(*arrangements):
    first, *later = arrangements
    undone = []
    fabric = Fabric(
        arrange=lambda: later.pop(0),
        arrangement=first,
        identity={},
        description="",
        capabilities=Capabilities(),
        device="rxe0",
        peer="loopback",
        undo=lambda: undone.append(True),
    )
    return fabric, undone


@pytest.mark.parametrize(
    "failure",
    [
        WorkerDied("was killed by SIGKILL"),
        WorkerHung("asked", 1.0, "", "was killed by SIGKILL"),
        KeyboardInterrupt(),
    ],
    ids=["died", "hung", "interrupted"],
)
def test_a_lost_worker_is_replaced_when_the_next_case_comes(failure):
    first, second = PlayedArrangement(failure), PlayedArrangement()
    fabric, _ = make_fabric(first, second)
    with pytest.raises(type(failure)):
        fabric.perform([CASE], 1, 2.0)
    assert first.closed
    assert fabric.perform([CASE], 3, 4.0) == [{"result": 0}]
    assert second.performed == [(3, 4.0)]


def test_what_was_left_is_that_of_the_worker_that_is_there():
    only = PlayedArrangement()
    fabric, _ = make_fabric(only)
    assert fabric.leftovers() == []
    only.left = [{"whose": "suite", "what": "a file", "cases": 1}]
    assert fabric.leftovers(thorough=True) == only.left
    only.failure = WorkerDied("was killed by SIGKILL")
    with pytest.raises(WorkerDied):
        fabric.leftovers()
    assert only.closed
    assert fabric.leftovers() == []


def test_an_error_of_the_suite_keeps_the_worker():
    only = PlayedArrangement(WorkerError("no such thing"))
    fabric, _ = make_fabric(only)
    with pytest.raises(WorkerError):
        fabric.perform([CASE], 1, 2.0)
    assert not only.closed


def test_what_was_set_up_is_undone_after_the_workers_ended():
    only = PlayedArrangement()
    fabric, undone = make_fabric(only)
    fabric.close()
    assert (only.closed, undone) == (True, [True])
