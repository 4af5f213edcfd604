"""What was left behind reaches the case that was performed last. The workers are played."""

import pytest

from rdma_conformance.endpoint.client import WorkerError
from rdma_conformance.fabric import arrangement
from rdma_conformance.fabric.arrangement import Apart, Place, Together

PLACES = (Place("rxe0", 1, 1, None), Place("rxe1", 1, 1, None))


class PlayedWorker:
    """Answers with what it is asked for, and counts that."""

    def __init__(self, *_):
        self.asked = []
        self.counted = []
        self.fails = False
        self.silent = False  # by the kernel

    def call(self, do, timeout, **payload):
        self.asked.append((do, payload.get("thorough")))
        if do == "perform" and self.fails:
            raise WorkerError("no such thing")
        left = [{"what": len(self.asked)}]
        if do == "leftovers":
            self.counted.append(payload.get("performed", 0))
            if self.silent:
                raise WorkerError("Operation not permitted")
        answers = {"guard": "on", "leftovers": left}
        told = None if self.silent else left
        return answers.get(do, {"observations": ["seen"], "leftovers": told})

    def close(self):
        pass


@pytest.fixture(autouse=True)
def played(monkeypatch):
    monkeypatch.setattr(arrangement, "Worker", PlayedWorker)


def test_with_the_answer_comes_what_was_left_once():
    together = Together(*PLACES, None)
    assert together.guarded == "on"
    together.perform([{}], 1, 1.0)
    number = len(together._worker.asked)
    assert together.leftovers(thorough=False) == [{"what": number}]
    assert together.leftovers(thorough=False) == []
    assert len(together._worker.asked) == number, "no second message for it"
    assert together.leftovers(thorough=True) == [{"what": number + 1}]
    assert together._worker.asked[-1] == ("leftovers", True)


def test_what_a_case_left_that_broke_off_is_asked_for():
    together = Together(*PLACES, None)
    together._worker.fails = True
    with pytest.raises(WorkerError):
        together.perform([{}], 1, 1.0)
    assert len(together.leftovers(thorough=False)) == 1
    assert together._worker.asked[-1] == ("leftovers", False)
    assert together.leftovers(thorough=False) == []


def test_an_answer_is_kept_when_nobody_tells_what_was_left():
    together = Together(*PLACES, None)
    together._worker.silent = True
    assert together.perform([{}], 1, 1.0) == ["seen"]
    with pytest.raises(WorkerError, match="permitted"):
        together.leftovers(thorough=False)
    assert together.leftovers(thorough=False) == []
    # It may have been for once.
    together.perform([{}], 1, 1.0)
    together._worker.silent = False
    assert len(together.leftovers(thorough=False)) == 1


def test_two_workers_are_both_asked_and_only_after_a_case():
    apart = Apart(*PLACES, None)
    assert apart.leftovers(thorough=False) == []
    with pytest.raises(ValueError, match="unheard-of"):
        apart.perform([{"kind": "unheard-of"}], 1, 1.0)
    assert len(apart.leftovers(thorough=False)) == 2
    assert apart.leftovers(thorough=False) == []
    assert len(apart.leftovers(thorough=True)) == 2
    assert [worker.counted for worker in apart._workers] == [[1, 0]] * 2


def test_of_two_workers_the_other_is_asked_when_one_says_nothing():
    apart = Apart(*PLACES, None)
    first, second = apart._workers
    first.silent = True
    with pytest.raises(WorkerError, match="permitted"):
        apart.leftovers(thorough=True)
    assert second.counted == [0]
