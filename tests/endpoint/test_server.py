"""What a worker refuses before it opens a device."""

import pytest

from rdma_conformance.endpoint import privileges, server

OPEN = {"id": 1, "do": "open", "end": "end", "device": "rxe0", "port": 1, "gid_index": 0}


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
