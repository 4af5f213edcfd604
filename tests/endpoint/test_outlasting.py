"""What dead processes still have: waited for, counted, and told of nobody where nobody knows."""

from itertools import chain, repeat
from pathlib import Path

import pytest

from rdma_conformance.endpoint import confinement, outlasting

HERE = Path("/proc/self/ns/pid").readlink()


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(outlasting, "GONE_S", 0.2)
    monkeypatch.setattr(outlasting, "FIRST_PIDS", HERE)


def counting(*numbers):
    """Counts that end with the last of `numbers`."""
    told = chain(numbers, repeat(numbers[-1]))
    return lambda *_: next(told)


def test_what_goes_late_does_not_outlast():
    count = counting({"mr": 9}, {"mr": 7}, {"mr": 4})
    assert outlasting.outlasting(count, {"mr": 5}) == {}


def test_what_stays_is_told():
    before = {"mr": 5, "pd": 2}
    more = outlasting.outlasting(counting({"mr": 7, "pd": 1}), before)
    assert more == {"mr": 7}
    assert outlasting.in_words(more, before) == ["mr 5 to 7"]


def test_what_may_be_of_another_living_process_is_no_answer(monkeypatch):
    monkeypatch.setattr(outlasting, "FIRST_PIDS", Path("pid:[1]"))
    with pytest.raises(RuntimeError, match=r"mr 5 to 7: in a PID namespace .* --pid=host"):
        outlasting.outlasting(counting({"mr": 7}), {"mr": 5})


class PlayedLedger:
    """A device without any regions."""

    def __init__(self, *_, **__):
        pass

    def register(self, *_, **__):
        pass


def play(monkeypatch, *nobodys):
    class Lists:
        def __init__(self, _):
            self.among = counting(*nobodys)

        def lengths(self, _):
            return [1, 1, 1]

    monkeypatch.setattr(confinement, "ResourceLists", Lists)
    monkeypatch.setattr(confinement, "Ledger", PlayedLedger)


@pytest.mark.parametrize(("nobodys", "after"), [((2, 5, 2), 0), ((2, 5), 3), ((2, 1), 0)])
@pytest.mark.parametrize("way", ["exit", "kill"])
def test_the_regions_of_a_process_that_ended_are_counted_as_nobodys(
    monkeypatch, way, nobodys, after
):
    play(monkeypatch, *nobodys)
    found = confinement.ending("rxe0", way, 3, forgetful=False)
    assert found == {"listed": 3, "after": after, "next": "OK"}


@pytest.mark.parametrize(("nobodys", "after"), [((2, 5, 2), 0), ((2, 5), 3)])
def test_so_are_those_of_a_crowd(monkeypatch, nobodys, after):
    play(monkeypatch, *nobodys)
    monkeypatch.setattr(confinement, "Domain", PlayedLedger)
    assert confinement.crowd("rxe0", 2, 1, 0, forgetful=False)["after"] == after
