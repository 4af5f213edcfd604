"""What a pair does with its ends: connections, controls, faults. The ends are played here."""

from dataclasses import replace
from typing import Any

import pytest

from conformance.remote.operations import granted
from conformance.spec.model import ALL_RIGHTS, Region, Registration, wire
from conformance.spec.vocabulary import Access, Operation
from rdma_conformance.endpoint.pair import POOLED, Pair
from rdma_conformance.plants import HONEST, Plant

SUCCESS = {"post": "OK", "requester": "SUCCESS", "follow_up": "SUCCESS"}
REFUSED = {"post": "OK", "requester": "REM_ACCESS_ERR", "follow_up": "WR_FLUSH_ERR"}


class PlayedEnd:
    """Answers as a driver that does what it is asked, and remembers what that was."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.answers = SUCCESS
        self.result = "OK"

    def named(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for call, arguments in self.calls if call == name]

    def __getattr__(self, name: str) -> Any:
        if name in ("queues", "requester", "responder"):
            return PlayedPart(self, name)

        def call(*arguments: Any) -> Any:
            self.calls.append((name, arguments))
            played = vars(PlayedEnd).get(f"_{name}", lambda *_: None)
            return played(self, *arguments)

        return call

    def _create(self, transport, shared=False):
        return len(self.named("create"))

    def _init(self, handle, access):
        return {"number": handle, "psn": 1}

    def _arm(self, handle, case, seed):
        return {"address": 4096, "rkey": 1}

    def _ask(self, handle, case, seed, target, leftover):
        return self.answers

    def _responder_facts(self, handle, case, expected, failed, patience_s):
        failing = self.answers is not SUCCESS
        return {
            "receives": ["WR_FLUSH_ERR" if failing else "SUCCESS"] * expected,
            "responder_qp": "ERR" if failing else "RTS",
            "region": [],
        }

    def _requester_facts(self, handle, case, failed):
        return {"requester_qp": "ERR" if failed else "RTS"}

    def _register(self, case, seed):
        return {"result": self.result, "reported": "as asked"}

    def _write_from_trial(self, *_):
        return self.answers

    def _deregister(self, leak):
        return {"dereg": "OK", "pinned_left": 0}


class PlayedPart:
    """A part of an end; both sides' `facts` are told apart by it."""

    def __init__(self, end: PlayedEnd, name: str) -> None:
        self._end = end
        self._name = name

    def __getattr__(self, method: str) -> Any:
        return getattr(self._end, f"{self._name}_facts" if method == "facts" else method)


@pytest.fixture
def ends():
    return PlayedEnd(), PlayedEnd()


SEND, WRITE = (wire(granted(operation)) for operation in (Operation.SEND, Operation.WRITE))
UNWRITABLE = wire(replace(granted(Operation.WRITE), remote=Region(Access.LOCAL_WRITE)))


def test_a_connection_is_used_again(ends):
    requester, responder = ends
    pair = Pair(*ends)
    assert pair.perform([SEND, SEND], 1)[1]["receives"] == ["SUCCESS", "SUCCESS"]
    assert len(requester.named("connect")) == len(responder.named("connect")) == 1


def test_a_receive_that_is_left_over_is_used_up_by_the_next_case(ends):
    pair = Pair(*ends)
    pair.perform([WRITE, SEND, SEND], 1)
    assert [arguments[-1] for arguments in ends[0].named("ask")] == [0, 1, 0]


def test_a_connection_that_failed_is_made_anew(ends):
    requester, responder = ends
    pair = Pair(*ends)
    requester.answers = responder.answers = REFUSED
    pair.perform([UNWRITABLE], 1)
    requester.answers = responder.answers = SUCCESS
    pair.perform([SEND], 1)
    assert len(requester.named("connect")) == 2
    assert len(requester.named("create")) == 1


def test_a_connection_that_met_an_invalid_request_is_not_used_again(ends):
    requester, responder = ends
    pair = Pair(*ends)
    requester.answers = responder.answers = {**REFUSED, "requester": "REM_INV_REQ_ERR"}
    pair.perform([UNWRITABLE], 1)
    assert requester.named("destroy") == responder.named("destroy") == [(1,)]
    requester.answers = responder.answers = SUCCESS
    pair.perform([SEND], 1)
    assert len(requester.named("create")) == 2


def test_the_responder_grants_exactly_what_the_case_says(ends):
    Pair(*ends).perform([wire(replace(granted(Operation.SEND), qp_access=Access(0)))], 1)
    assert [access for _, access in ends[1].named("init")] == [0]
    assert [access for _, access in ends[0].named("init")] == [ALL_RIGHTS]


def test_the_oldest_connections_are_closed(ends):
    pair = Pair(*ends)
    for access in range(POOLED + 2):
        pair.perform([{**SEND, "qp_access": access}], 1)
    assert [handle for (handle,) in ends[0].named("destroy")] == [1, 2]


def test_nothing_is_asked_behind_a_control_that_failed(ends):
    asked = []
    pair = Pair(*ends, asked=lambda: asked.append(True))
    for end in ends:
        end.answers = REFUSED
    assert [seen["requester"] for seen in pair.perform([WRITE, UNWRITABLE], 1)] == [
        "REM_ACCESS_ERR"
    ]
    assert not asked
    for end in ends:
        end.result = "EINVAL"
    control = wire(Registration(Access.LOCAL_WRITE))
    assert len(pair.perform([control, wire(Registration(1 << 13))], 1)) == 1


def test_a_refused_registration_is_not_used(ends):
    ends[0].result = "EINVAL"
    [seen] = Pair(*ends).perform([wire(Registration(1 << 13))], 1)
    assert seen["addressing"] == []
    assert not ends[0].named("write_from_trial")
    assert ends[0].named("deregister")


def test_a_zero_based_region_is_tried_both_ways(ends):
    Pair(*ends).perform([wire(Registration(Access.ZERO_BASED))], 1)
    assert [by_offset for _, by_offset, *_ in ends[0].named("write_from_trial")] == [False, True]


def test_a_fault_strikes_the_case_and_not_its_control(ends):
    plant = replace(HONEST, when=lambda case: True, adds=Access.REMOTE_READ, reports={"post": "X"})
    control, seen = Pair(*ends, plant=plant).perform([WRITE, UNWRITABLE], 1)
    assert (control["post"], seen["post"]) == ("OK", "X")
    armed = [case["remote"]["access"] for _, case, _ in ends[1].named("arm")]
    assert armed == [ALL_RIGHTS, Access.LOCAL_WRITE | Access.REMOTE_READ]


def test_a_hang_comes_when_the_driver_is_asked(ends):
    plant = Plant("hangs", "", "", lambda case: True, misbehave="hang")
    order = ends[0].calls
    Pair(*ends, plant=plant, asked=lambda: order.append(("asked", ()))).perform([SEND, SEND], 1)
    names = [name for name, _ in order if name in ("ask", "asked", "misbehave")]
    assert names == ["ask", "asked", "misbehave", "ask"]


def test_a_case_of_another_release(ends):
    with pytest.raises(ValueError, match="'unheard-of' is not known"):
        Pair(*ends).perform([{"kind": "unheard-of"}], 1)
