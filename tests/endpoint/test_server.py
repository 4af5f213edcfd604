"""What a worker refuses before it opens a device."""

from unittest.mock import Mock

import pytest

from rdma_conformance.endpoint import privileges, server

OPEN = {"id": 1, "do": "open", "end": "end", "device": "rxe0", "port": 1, "gid_index": 0}


def test_what_the_kernel_refuses_to_tell_takes_no_answer_with_it():
    session = server.Session()
    session._pair, session._guard = Mock(), Mock()
    session._pair.perform.return_value = [{"result": "OK"}]
    session._guard.check.side_effect = OSError(1, "Operation not permitted")
    perform = {"id": 1, "do": "perform", "cases": [{}], "seed": 1}
    assert session.answer(perform)["result"] == {
        "observations": [{"result": "OK"}],
        "leftovers": None,
    }
    look = {"id": 2, "do": "leftovers", "thorough": False}
    assert "Operation not permitted" in session.answer(look)["error"]["message"]
    assert sum(call.args[0] for call in session._guard.count.call_args_list) == 1


@pytest.mark.parametrize("room", [0, 65536, server.PIN_ROOM - 1])
def test_a_process_that_may_pin_little_opens_nothing(monkeypatch, room):
    monkeypatch.setattr(privileges, "may_pin", lambda: room)
    error = server.Session().answer(OPEN)["error"]
    assert error["kind"] == "suite"
    assert f"may pin {room >> 10} kB" in error["message"]
    assert error["message"].endswith("ulimit -Hl unlimited, or run as root")


@pytest.mark.parametrize("room", [None, server.PIN_ROOM])
def test_one_that_may_goes_on(monkeypatch, room):
    monkeypatch.setattr(privileges, "may_pin", lambda: room)
    message = server.Session().answer(OPEN)["error"]["message"]  # here is no rxe0, or no pyverbs
    assert "RLIMIT_MEMLOCK" not in message
