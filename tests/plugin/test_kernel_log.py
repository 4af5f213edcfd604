"""The kernel's log: a record a read, as /dev/kmsg gives them; a FIFO stands in for it."""

import os

import pytest

from rdma_conformance.kernel_log import KernelLog


@pytest.fixture
def device(tmp_path):
    path = tmp_path / "kmsg"
    os.mkfifo(path)
    return path


def test_a_record_is_a_line_with_its_time(device):
    log = KernelLog(device)
    with device.open("wb", buffering=0) as file:
        file.write(b"4,1234,23865597,-;rxe0: qp#18 error; status = 10\n SUBSYSTEM=net\n")
        assert log.read() == "[   23.865597] rxe0: qp#18 error; status = 10\n"
        assert log.read() == ""
        file.write(b"no record\xff")
        assert log.read() == "\n"
    log.close()
    log.close()
    assert log.read() is None


def test_a_log_that_may_not_be_read_tells_none(tmp_path):
    log = KernelLog(tmp_path / "none")
    assert log.read() is None
    log.skip()
    log.close()
