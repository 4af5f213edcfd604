"""The kernel's log: a record a read, as /dev/kmsg gives them; a FIFO stands in for it."""

import os
from pathlib import Path

import pytest

from rdma_conformance.kernel_log import KernelLog, Recorder


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


def test_the_log_is_kept_as_it_comes(tmp_path, device):
    path = tmp_path / "run.kernel.log"
    path.write_text("of an earlier run")
    recorder = Recorder(path, device)
    with device.open("wb", buffering=0) as file:
        file.write(b"4,1,1000000,-;one")
        recorder.record()
        assert path.read_text() == "[    1.000000] one\n"
        file.write(b"4,2,2000000,-;two")
        assert recorder.close() is None
    assert path.read_text() == "[    1.000000] one\n[    2.000000] two\n"
    assert recorder.close() is None


def test_without_a_log_there_is_no_file(tmp_path):
    path = tmp_path / "run.kernel.log"
    path.write_text("of an earlier run")
    recorder = Recorder(path, tmp_path / "none")
    recorder.record()
    assert recorder.close() is None
    assert not path.exists()


def test_a_full_disk_is_told_once(device, monkeypatch):
    recorder = Recorder(device.parent / "none" / "run.kernel.log", device)
    assert recorder.close() == "the kernel's log is not kept: No such file or directory"
    recorder = Recorder(device.parent / "run.kernel.log", device)
    monkeypatch.setattr(recorder, "_file", Path("/dev/full").open("w"))  # noqa: SIM115
    with device.open("wb", buffering=0) as file:
        file.write(b"4,1,1000000,-;one")
        recorder.record()
        recorder.record()
    assert recorder.close() == "the kernel's log is not kept: No space left on device"
