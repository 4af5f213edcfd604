"""Cases about objects' own lives leave nothing behind, however they end. The ends are played."""

from typing import Any

import pytest

from conformance.spec.lifetime import Busy, InUse, Retired, Side
from conformance.spec.model import wire
from conformance.spec.vocabulary import Operation
from conformance.spec.window import Window, WindowType
from rdma_conformance.endpoint.lifetime_cases import LifetimeCases
from rdma_conformance.endpoint.window_cases import WindowCases
from rdma_conformance.plants import HONEST, PLANTS

ANSWERS: dict[str, Any] = {
    "bench.register": {"result": "OK", "address": 4096, "lkey": 1, "rkey": 2},
    "bench.init": {"number": 1, "psn": 1},
    "bench.post": "SUCCESS",
    "bench.state": "RTS",
    "bench.changes": [],
    "bench.deregister": "OK",
    "bench.clear": [],
    "lifetimes.end_mapping": [],
    "windows.allocate": {"result": "OK", "rkey": 0x100},
    "windows.bind": {"status": "SUCCESS", "rkey": 0x101},
}


class Played:
    """An end or a part of one: answers as a driver that does what it is asked."""

    def __init__(self, calls: list[str], path: str = "", answers: dict[str, Any] = ANSWERS):
        self._calls, self._path, self._answers = calls, path, answers

    def __getattr__(self, name: str) -> "Played":
        path = f"{self._path}.{name}".lstrip(".")
        return Played(self._calls, path, self._answers)

    def __call__(self, *_: Any) -> Any:
        self._calls.append(self._path)
        answer = self._answers.get(self._path)
        if isinstance(answer, Exception):
            raise answer
        return answer


def played(**answers: Any) -> tuple[list[str], Played, Played]:
    calls: list[str] = []
    return calls, Played(calls), Played(calls, answers={**ANSWERS, **answers})


def test_a_window_is_bound_and_used_and_all_is_taken_down():
    calls, requester, responder = played()
    case = wire(Window(WindowType.TYPE_2))
    facts = WindowCases(requester, responder).performers["window"](case, 1)
    assert (facts["bind"], facts["requester"], facts["left"]) == ("SUCCESS", "SUCCESS", [])
    assert calls.index("windows.bind") < calls.index("bench.post")
    assert calls[-2:] == ["bench.clear", "bench.clear"]


def test_what_would_not_go_is_told():
    _, requester, responder = played(**{"bench.clear": ["window window: EBUSY"]})
    case = wire(Window(WindowType.TYPE_1))
    facts = WindowCases(requester, responder).performers["window"](case, 1)
    assert facts["left"] == ["window window: EBUSY"]


@pytest.mark.parametrize(
    ("cases", "case"),
    [
        (WindowCases, Window(WindowType.TYPE_2)),
        (LifetimeCases, Retired(Side.REMOTE, Operation.WRITE)),
    ],
)
def test_a_case_that_breaks_leaves_nothing(cases, case):
    calls, requester, responder = played(**{"bench.changes": ZeroDivisionError()})
    with pytest.raises(ZeroDivisionError):
        cases(requester, responder).performers[wire(case)["kind"]](wire(case), 1)
    assert calls.count("bench.clear") == 2


def test_a_region_that_ends_under_its_window_is_seen():
    _, requester, responder = played()
    case = wire(InUse(Busy.WINDOW_1))
    facts = LifetimeCases(requester, responder).performers["inuse"](case, 1)
    assert (facts["ended"], facts["alive"]) == ("OK", "SUCCESS")


def test_a_planted_fault_performs_another_case():
    plant = PLANTS["key-outlives-region"]
    case = wire(Retired(Side.REMOTE, Operation.WRITE))
    calls, requester, responder = played()
    perform = LifetimeCases(requester, responder).performers["retired"]
    assert perform(case, 1, plant.of(case))["dereg"] == "none"
    assert "bench.deregister" not in calls
    assert perform(case, 1, HONEST)["dereg"] == "OK"
