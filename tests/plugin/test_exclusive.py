"""Who waits for whom: a case that takes the whole device, and the others."""

import threading

from rdma_conformance.exclusive import hold


def _waits(device: str, alone: bool) -> bool:
    """Whether another holder has to wait."""
    held = threading.Event()

    def take() -> None:
        with hold(device, alone):
            held.set()

    threading.Thread(target=take, daemon=True).start()
    return not held.wait(0.3)


def test_usual_cases_do_not_wait_for_each_other():
    with hold("test_usual", alone=False):
        assert not _waits("test_usual", alone=False)


def test_one_that_takes_all_waits_for_the_others():
    with hold("test_all", alone=False):
        assert _waits("test_all", alone=True)


def test_the_others_wait_for_one_that_takes_all():
    with hold("test_others", alone=True):
        assert _waits("test_others", alone=False)
        assert not _waits("test_elsewhere", alone=False)
