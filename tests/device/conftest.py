"""These tests ask a real device: they are collected only when --device names one.

On a host without a device the lab runs them: tests/lab/test_main_job.py.
"""


def pytest_ignore_collect(config):
    return True if config.getoption("--device") is None else None
