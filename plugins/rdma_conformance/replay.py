"""A session that goes on with an unfinished run: what has a result is reported, not asked again.

So terminal, JUnit file, exit status and `--maxfail` are those of the whole run.
"""

import time
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from conformance.spec.vocabulary import Verdict
from rdma_conformance import allure_results, collection, junit, outcomes, terminal
from rdma_conformance.asking import case_seed, unasked
from rdma_conformance.collection import ANSWERED, is_answered
from rdma_conformance.kernel_trouble import find_trouble
from rdma_conformance.options import Options
from rdma_conformance.resuming import (
    CannotResume,
    blame,
    check,
    read_unfinished,
    resumed,
)
from rdma_conformance.run import Run, again, case_id
from rdma_reports.lines import Header, Result

TWICE = "the machine went down twice while this case was asked, the second time alone"
ONCE = "the kernel died while this case was asked"


def ask_in_one_process(config: pytest.Config) -> None:
    """Take back `-n`: of several cases that run when a kernel dies, one can't tell which it was.

    To be called at pytest_cmdline_main, before or after xdist's own.
    """
    settings = {"dist": "no", "tx": [], "numprocesses": 0, "distload": False}
    for name, value in settings.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)


class Replay:
    """The pytest plugin of such a session. Raises pytest.UsageError for a run that can't go on."""

    def __init__(self, options: Options) -> None:
        try:
            self.left = read_unfinished(options.resume, options.last_words)
        except CannotResume as error:
            raise pytest.UsageError(str(error)) from None
        self._known: frozenset[str] = frozenset()

    def describe(self) -> str:
        """What is gone on with, for the head of a run."""
        was = self.left.run
        return (
            f"resumed: {len(was.results)} of {was.header.selected} cases have their result, "
            "the others are asked in one process"
        )

    def knows(self, case: str) -> bool:
        """Whether a case has its result already, by id."""
        return case in self._known

    def go_on(
        self, session: pytest.Session, run: Run, header: Header
    ) -> tuple[Header, list[Result]]:
        """Put the items into the order in which they are reported or asked: suspects last.

        `header` is that of the run as it would begin now. Returns the header of the run that goes
        on, and the results that it has. Raises pytest.UsageError.
        """
        try:
            check(self.left, header)
        except CannotResume as error:
            raise pytest.UsageError(str(error)) from None
        cases = {case_id(item): item for item in session.items if collection.is_case(item)}
        found = blame(self.left, header.boot)
        crashed = [self._crash(cases[name], run) for name in found.crashed if name in cases]
        records = {name: _record(result) for name, result in self.left.run.results.items()}
        records |= {record["case"]: record for record in crashed}
        for name, record in records.items():
            if name in cases:
                cases[name].stash[ANSWERED] = record
        self._known = frozenset(records)
        last = {id(cases[name]) for name in found.suspects if name in cases}
        session.items.sort(key=lambda item: (not is_answered(item), id(item) in last))
        allure_results.complete(self.left.run.header, records)
        lines = [*self.left.run.lines, *(Result(**record) for record in crashed)]
        return resumed(self.left.run.header, header.boot, found), lines

    def _crash(self, item: pytest.Item, run: Run) -> dict[str, Any]:
        """The record of a case that took the machine down."""
        name = case_id(item)
        words = self.left.words or ()
        trouble = find_trouble("".join(f"{line}\n" for line in words), run.identity["driver"])
        reason = TWICE if name in self.left.suspects() else ONCE
        if trouble is not None:
            reason += f": {trouble.says}"
        record = unasked(name, run.rule(item), item.callspec.params["case"], reason)
        return record | {
            "verdict": Verdict.CRASH.value,
            "seed": case_seed(name, run.options.seed),
            "hazard": item.get_closest_marker("hazard") is not None,
            "kernel": list(words),
            "again": again(item.nodeid, run.typed),
            "duration": 0.0,
        }

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Report what is known of an item in place of running it."""
        record = item.stash.get(ANSWERED, None)
        if record is None:
            return None
        hook = item.ihook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in _reports(item, record):
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def _record(result: Result) -> dict[str, Any]:
    return {each.name: getattr(result, each.name) for each in fields(result)}


def _reports(item: pytest.Item, record: dict[str, Any]) -> Iterator[pytest.TestReport]:
    """The reports of an item's call and teardown, as they were or would have been."""
    junit.tell_case(item, record)
    for when, duration in (("call", record["duration"]), ("teardown", 0.0)):
        report = pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords=dict.fromkeys(item.keywords, 1),
            outcome="passed",
            longrepr=None,
            when=when,
            sections=(),
            duration=duration,
            start=time.time() - duration,
            stop=time.time(),
            user_properties=item.user_properties,
        )
        if when == "call":
            outcomes.apply(report, record, terminal.failure_block(record))
        yield report
