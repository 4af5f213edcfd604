"""Allure results of the suite's cases, one small file each, in place of allure-pytest's own.

allure-pytest gives --alluredir, and goes on serving tests that are no cases of the suites. For a
case its listener is not asked: it would name the case after its function, write a container file
for every fixture, take a known deviation for a skip, and cost more than the case.
"""

import json
import os
import socket
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rdma_conformance.allure_gap import untold
from rdma_conformance.collection import is_answered
from rdma_conformance.kernel_log import KernelLog
from rdma_conformance.stopping import stop
from rdma_conformance.terminal import failure_block
from rdma_reports.allure_model import (
    STATUS,
    Setting,
    Span,
    case_result,
    environment,
    evidence,
    unrecorded_result,
)
from rdma_reports.lines import Header

Hook = Generator[None, Any, None]
IsCase = Callable[[pytest.Item], bool]

_installed: list["CaseListener"] = []  # the last is in force: in-process sessions nest


def is_marked(item: pytest.Item) -> bool:
    """Whether an item names a requirement."""
    return item.get_closest_marker("requirement") is not None


def install(
    config: pytest.Config,
    identity: Mapping[str, Any],
    links: Mapping[str, str] | None = None,
    is_case: IsCase = is_marked,
) -> None:
    """Take the cases of this session over from allure-pytest; nothing without --alluredir.

    `identity` is that of the run file's header; `links` gives the URL of a source by its words in
    a record's `sources`. To be called at pytest_configure or
    pytest_sessionstart, in each process that runs tests and in the controller of xdist. Raises
    pytest.UsageError when the directory cannot be written.
    """
    directory = getattr(config.option, "allure_report_dir", None)
    if not directory or config.option.collectonly:
        return
    worker = getattr(config, "workerinput", {}).get("workerid")
    setting = Setting(identity, socket.gethostname(), worker or "main", links or {})
    listener = CaseListener(config, Path(directory).absolute(), setting, is_case)
    config.pluginmanager.register(listener, "rdma_conformance_allure")
    _installed.append(listener)
    config.add_cleanup(lambda: _installed.remove(listener))
    listener.take_over()
    if worker is None:
        listener.write_environment()


def check_directory(config: pytest.Config) -> None:
    """Raise pytest.UsageError when --alluredir names a place that no directory can be made at.

    To be called at pytest_cmdline_main: allure-pytest makes the directory when it is configured,
    and fails with a traceback.
    """
    directory = getattr(config.option, "allure_report_dir", None)
    if not directory:
        return
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(
            f"--alluredir={directory} cannot be made: {error.strerror}. Name another directory"
        ) from error


def attach_record(nodeid: str, record: Mapping[str, Any]) -> None:
    """Give the record (the JSON form of a run file's result) of a running test; the last counts."""
    if _installed:
        _installed[-1].records[nodeid] = record


def write_crash(record: Mapping[str, Any]) -> None:
    """Write the result of a case whose process or machine died, in the controller."""
    if _installed:
        now = time.time()
        _installed[-1].write(record, Span(now - record.get("duration", 0), now))


def complete(header: Header, records: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the results that a run which goes on lacks; `records` are all that it has, by case id.

    Where --clean-alluredir has removed the others they are all written.
    """
    if _installed:
        listener = _installed[-1]
        for case in untold(listener.directory, header, records):
            write_crash(records[case])


class CaseListener:
    """The pytest plugin that stands in for allure-pytest's listener and passes on what is not ours.

    The other listener stays in allure_commons, so that allure.attach and its like work in tests
    that are no cases.
    """

    def __init__(
        self, config: pytest.Config, directory: Path, setting: Setting, is_case: IsCase
    ) -> None:
        self.records: dict[str, Mapping[str, Any]] = {}
        self._config = config
        self.directory = directory
        self._setting = setting
        self._is_case = is_case
        self._theirs: Any = None
        self._item: pytest.Item | None = None  # the running case
        self._reports: list[pytest.TestReport] = []
        self._kernel_log = KernelLog()
        config.add_cleanup(self._kernel_log.close)

    def take_over(self) -> None:
        """Put this listener in the place of allure-pytest's, if that is there already."""
        if self._theirs is None:
            self._theirs = self._config.pluginmanager.unregister(name="allure_listener")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        self.take_over()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Hook:
        if is_answered(item):
            yield
            return
        if not self._is_case(item):
            yield from self._theirs.pytest_runtest_protocol(item, nextitem)
            return
        self._item = item
        self._reports.clear()
        self._kernel_log.skip()
        start = time.time()
        outcome = yield
        self._item = None
        if outcome.excinfo is None or item.nodeid in self.records:  # else it was interrupted
            self._finish(item.nodeid, Span(start, time.time()))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Hook:
        yield from self._pass_on("pytest_runtest_setup", item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Hook:
        yield from self._pass_on("pytest_runtest_call", item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Hook:
        yield from self._pass_on("pytest_runtest_teardown", item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Hook:
        yield from self._pass_on("pytest_fixture_setup", fixturedef, request)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> Hook:
        yield from self._theirs.pytest_fixture_post_finalizer(fixturedef)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> Hook:
        yield from self._theirs.pytest_runtest_logfinish(nodeid, location)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Hook:
        if self._item is None:
            yield from self._theirs.pytest_runtest_makereport(item, call)
            return
        outcome = yield
        if not outcome.excinfo:
            self._reports.append(outcome.get_result())

    def _pass_on(self, hook: str, *args: Any) -> Hook:
        if self._item is None:
            yield from getattr(self._theirs, hook)(*args)
        else:
            yield

    def _finish(self, nodeid: str, span: Span) -> None:
        record = self.records.pop(nodeid, None)
        last = self._reports[-1] if self._reports else None
        if record is None:
            self._write_unrecorded(nodeid, span)
            return
        trouble = None
        if last is not None and last.when == "teardown" and last.failed:
            trouble = f"after the answer, in teardown:\n{last.longreprtext}"
        captured = last.capstdout + last.capstderr + last.caplog if last else ""
        self.write(record, span, trouble, captured)

    def _write_unrecorded(self, nodeid: str, span: Span) -> None:
        ended = {report.outcome: report for report in self._reports}
        status, report = "broken", ended.get("failed")
        if report is None and "skipped" in ended:
            status, report = "skipped", ended["skipped"]
        message = report.longreprtext if report else "the test left no record of what it asked"
        name = _new_name()
        data = unrecorded_result(
            nodeid, status, message, setting=self._setting, span=span, uuid=name
        )
        self._put(f"{name}-result.json", json.dumps(data, separators=(",", ":")))

    def write(
        self,
        record: Mapping[str, Any],
        span: Span,
        trouble: str | None = None,
        captured: str = "",
    ) -> None:
        """Write the result of `record`, with a text attachment if it is failed or broken."""
        name = _new_name()
        bad = STATUS[record["verdict"]] in ("failed", "broken")
        block = failure_block(record) if bad else None
        data = case_result(record, self._setting, span, uuid=name, block=block, trouble=trouble)
        if block:
            source = f"{name}-attachment.txt"
            self._put(source, evidence(record, block, captured, self._kernel_log.read()))
            data["attachments"] = [{"name": "evidence", "source": source, "type": "text/plain"}]
        self._put(f"{name}-result.json", json.dumps(data, separators=(",", ":")))

    def write_environment(self) -> None:
        """Write environment.properties, keeping what runs on other devices wrote there."""
        path = self.directory / "environment.properties"
        try:
            present = path.read_text("utf-8", "replace") if path.is_file() else ""
            _write_file(path, environment(self._setting.identity, present), os.O_TRUNC)
        except OSError as error:
            raise pytest.UsageError(self._mend(error)) from error

    def _put(self, name: str, text: str) -> None:
        """Write a file; if that fails, end the run: a report with holes would look better."""
        try:
            _write_file(self.directory / name, text, os.O_EXCL)
        except OSError as error:
            stop(self._config, self._mend(error))

    def _mend(self, error: OSError) -> str:
        return (
            f"Allure results cannot be written to {self.directory}: {error.strerror}. "
            "Make room or leave --alluredir out"
        )


def _write_file(path: Path, text: str, flag: int) -> None:
    # Three system calls, and no temporary name: nothing reads before the run has ended, and on the
    # shared directory of a VM each call is a round trip.
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flag, 0o666)
    try:
        _write_whole(fd, text.encode("utf-8", "backslashreplace"))
    except OSError:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)


def _write_whole(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _new_name() -> str:
    return str(uuid.uuid4())
