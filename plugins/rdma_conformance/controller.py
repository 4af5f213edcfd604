"""The one process that keeps a run: it meets the device, writes the run file, and says the end.

Under xdist this is the process that starts the others; else it is the only one.
"""

import importlib.metadata
import shlex
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest

from conformance.spec import oracle
from rdma_conformance import allure_results, collection, junit, outcomes, terminal, twice
from rdma_conformance.asking import unasked
from rdma_conformance.closing import Closing, Tally, close
from rdma_conformance.deviations import digest
from rdma_conformance.device import list_devices
from rdma_conformance.fabric import FabricError
from rdma_conformance.interruption import INTERRUPTIONS
from rdma_conformance.kernel_log import Recorder
from rdma_conformance.kernel_watch import OPENING
from rdma_conformance.replay import Replay
from rdma_conformance.resuming import boot_id, selection_digest
from rdma_conformance.run import Run, again, case_id
from rdma_conformance.running import Running
from rdma_conformance.selection import TOLD_S, Selection
from rdma_conformance.stopping import stop
from rdma_conformance.suites import all_cases, case_of, names_case
from rdma_conformance.summary import summary
from rdma_conformance.ticket import Ticket
from rdma_reports.lines import Header, Result, as_dict
from rdma_reports.places import kernel_log_of, running_of
from rdma_reports.runfile import RunFileError, RunWriter, discard

DIED = "???"  # xdist's word for the phase of a report on a process that is gone


def no_device() -> pytest.UsageError:
    """The error for cases without a device to ask them of."""
    found = ", ".join(device.name for device in list_devices())
    there = f"this host has {found}" if found else "this host has no RDMA device"
    return pytest.UsageError(
        f"name the device to test: --device NAME ({there}; see --list-devices, --setup-rxe, "
        "or lab/run for a VM with a real rxe)"
    )


class Controller:
    """A pytest plugin of its own, as some hooks know nothing but their arguments."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.tally = Tally()
        self.writer: RunWriter | None = None
        self.kernel_log: Recorder | None = None
        self.running: Running | None = None
        self.closing: Closing | None = None
        self.lost: str | None = None
        self.xml = junit.Written()
        self.trouble: str | None = None  # why the run is not whole
        self.ending: list[Sequence[str]] = []
        self.workers = 0
        self.selected = 0
        self.selection = Selection()
        self.told: dict[str, Any] = {}  # of xdist's processes: where their selection is told
        self.argv: Sequence[str] = ()
        self.replay: Replay | None = None
        self.ticket: Ticket | None = None
        self.stuck: Mapping[str, Any] | None = None  # the case that left a stuck task

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        config = session.config
        options = self.run.options
        if config.option.collectonly or not (options.device or options.setup_rxe):
            return
        if config.getoption("dist", "no") == "each":
            raise pytest.UsageError(
                "--dist each asks every case once in each process, and a run has one answer to a "
                "case: choose another, like --dist load"
            )
        INTERRUPTIONS.watch()
        config.add_cleanup(INTERRUPTIONS.restore)
        if options.resume is not None:
            self.replay = Replay(options)
            config.pluginmanager.register(self.replay, "rdma_conformance_replay")
        self.config = config
        config.pluginmanager.register(self.selection, "rdma_conformance_selection")
        self.argv = list(config.invocation_params.args)
        self.workers = len(getattr(config.option, "tx", None) or ())
        try:
            self.run.open()
        except FabricError as error:
            raise pytest.UsageError(str(error)) from None
        if options.run_file is not None and options.resume is None:
            # A run that ends before its first case must not leave the last one's verdict; what
            # was no run, as its device was mistyped, leaves the file alone.
            try:
                discard(options.run_file)
            except RunFileError as error:
                raise pytest.UsageError(str(error)) from None
        if self.workers:  # it asks no case that would be told of it
            self.ending += self.run.watch.outside(OPENING)
        allure_results.install(config, self.run.identity, self.run.links(), collection.is_case)

    def pytest_report_header(self) -> list[str]:
        if not self.run.identity:
            return []
        lines = terminal.header(
            self.run.identity,
            self.run.description,
            self.run.watch.describe(self.run.options.peer),
            self.run.guarded,
        )
        if self.replay is not None:
            lines.append(self.replay.describe())
        lines.append(f"asked twice: {self._twice()}")
        if self.run.options.plant:
            lines.append(f"PLANTED FAULT: {self.run.options.plant}; this run can't be CONFORMING")
        return lines

    def _peer(self) -> str | None:
        """The other end as --peer would name it again; None of a device made for this run."""
        if self.run.options.setup_rxe:
            return self.run.typed.peer
        return self.run.handover()["peer"]

    def _twice(self) -> str:
        return twice.describe(self.run.options.twice, self.run.options.seed)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """xdist: hand a new process what this one found out about device and peer."""
        channel = self.told[node.gateway.id] = node.gateway.newchannel()
        node.workerinput["rdma_conformance"] = self.run.handover() | {"selection": channel}

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Sequence[str]) -> None:
        selected = sum(map(names_case, ids))
        if selected and not self.run.identity:
            raise no_device()
        if selected and self.writer is None:
            self.selection.deselected = self.told[node.gateway.id].receive(TOLD_S)
        self._start(selected, filter(None, map(case_of, ids)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> None:
        if not session.config.option.collectonly:
            ids = [case_id(item) for item in session.items if collection.is_case(item)]
            self._start(len(ids), ids, session)

    def _start(
        self, selected: int, ids: Iterable[str], session: pytest.Session | None = None
    ) -> None:
        """Begin the run file, once the cases are known."""
        if self.writer or not selected or not self.run.identity:
            return
        self.selected = selected
        header = Header(
            suite=importlib.metadata.version("rdma-conformance"),
            catalogue=self.run.catalogue.digest,
            device=self.run.identity,
            fabric=self.run.description,
            capabilities=self.run.claims,
            seed=self.run.options.seed,
            argv=self.argv,
            selected=selected,
            deselected=self.selection.deselected,
            workers=self.workers,
            planted=self.run.options.plant,
            kernel_watch=self.run.watch.describe(self.run.options.peer),
            selection=selection_digest(ids),
            boot=boot_id(),
            leak_guard=self.run.guarded,
            twice=self._twice(),
            peer=self._peer(),
            port=self.run.options.port,
            deviations=digest(self.run.deviations),
        )
        lines: Sequence[Result] = ()
        if self.replay is not None and session is not None:
            header, lines = self.replay.go_on(session, self.run, header)
        path = self.run.run_file()
        with suppress(OSError):  # the writer says what is wrong with the place
            path.parent.mkdir(parents=True, exist_ok=True)
        writer = RunWriter(path, header, lines)
        try:
            writer.__enter__()
        except RunFileError as error:
            raise pytest.UsageError(str(error)) from None
        self.writer = writer
        self.kernel_log = Recorder(
            kernel_log_of(path), last_words=self.replay and (self.replay.left.words or ())
        )
        self.config.add_cleanup(self.kernel_log.close)
        self.running = Running(running_of(path))
        self.config.add_cleanup(self.running.close)
        self.ticket = Ticket(self.argv, path, len(header.resumed))
        junit.tell_run(self.config, as_dict(header))
        self.xml = junit.guard(self.config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        INTERRUPTIONS.check()
        if self.running is None or (case := case_of(nodeid)) is None:
            return
        if self.replay is None or not self.replay.knows(case):
            self.running.start(case)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        with INTERRUPTIONS.held():
            self._keep(report)

    def _keep(self, report: pytest.TestReport) -> None:
        record = outcomes.record_of(report)
        if self.writer is None:
            return
        if record is None:
            if report.when != DIED or (record := self._lost(report)) is None:
                return
            if record["case"] in self.tally.records:  # the driver is not to blame, but somebody is
                self.trouble = f"a pytest process died when {record['case']} had been answered"
                return
            outcomes.apply(report, record, terminal.failure_block(record))
            allure_results.write_crash(record)
        if self.lost is None and (lost := getattr(report, "rdma_lost", None)):
            self.lost = lost
            stop(self.config, lost)  # the other processes of a distributed run, too
        self.tally.add(record)
        if self.replay is not None and self.replay.knows(record["case"]):
            return
        self.kernel_log.record()
        try:
            self.writer.result(Result(**record))
        except RunFileError as error:
            self.trouble = str(error)
            if self.writer.failed:  # all that is asked from now on would be lost
                stop(self.config, self.trouble)
        self.running.end(record["case"])
        if outcomes.is_stuck(report) and self.stuck is None:
            self.stuck = record
            stop(self.config, terminal.stuck_line(record["case"]))

    def _lost(self, report: pytest.TestReport) -> dict[str, Any] | None:
        """The record of a case that took a process of a distributed run with it."""
        for name, case in all_cases().items():
            if report.nodeid.endswith(name):
                rule = self.run.catalogue[oracle.requirement(case)]
                reason = f"the pytest process that asked this case died: {report.longrepr}"
                record = unasked(name, rule, case, reason)
                return record | {"again": again(report.nodeid, self.run.typed), "duration": 0.0}
        return None

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """xdist: a process has ended, and says what came after its last case."""
        self.ending += getattr(node, "workeroutput", {}).get("rdma_conformance", [])

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        INTERRUPTIONS.end()

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(
        self, session: pytest.Session, exitstatus: int
    ) -> Generator[None, None, None]:
        """After all other reports but the terminal's: it is green only if they are whole."""
        INTERRUPTIONS.end()
        if self.writer is None:
            return (yield)
        trouble = None
        try:
            yield
        except OSError as error:  # pytest's own cache, on a full disk
            trouble = f"pytest could not write all that it keeps: {error}"
        self._finish(session, int(exitstatus), trouble or self.xml.trouble)
        return None

    def _finish(self, session: pytest.Session, exitstatus: int, trouble: str | None) -> None:
        if self.workers:  # they watched while they asked; this process only holds the device open
            self.run.watch.skip()
        self.ending += self.run.end_workers()
        interrupted = self.stuck is None and exitstatus in (
            pytest.ExitCode.INTERRUPTED,
            pytest.ExitCode.INTERNAL_ERROR,
        )
        self.trouble = self.trouble or self.kernel_log.close() or trouble
        self.closing = self._close(exitstatus, interrupted)
        try:
            self.writer.finish(
                self.closing.verdict,
                exit_status=self.closing.exit_status,
                interrupted=interrupted,
                unasked=self.tally.unasked(self.run.catalogue),
                stuck=self.stuck and self.stuck["case"],
                checks=self.tally.checks(),
            )
        except RunFileError as error:
            self.trouble = str(error)
            self.closing = self._close(exitstatus, interrupted)
        session.exitstatus = self.closing.exit_status
        self.ticket.end(stuck=self.stuck is not None and self._lacks_results())

    def _lacks_results(self) -> bool:
        return len(self.tally.records) < self.selected

    def _shown_path(self) -> str:
        """The run file as one types it: from where pytest was started, if it lies there."""
        path, base = self.writer.path, self.config.invocation_params.dir
        return shlex.quote(str(path.relative_to(base) if path.is_relative_to(base) else path))

    def _close(self, exit_status: int, interrupted: bool) -> Closing:
        return close(
            self.tally.counts(),
            selected=self.selected,
            planted=self.run.options.plant,
            interrupted=interrupted,
            exit_status=exit_status,
            unwritten=self.trouble,
            lost=self.lost,
            stuck=self.stuck and terminal.stuck_line(self.stuck["case"]),
            ending=self.ending,
        )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.closing is None:
            return
        terminalreporter.section("RDMA conformance", bold=True)
        whole = not self._lacks_results()
        for line, markup in summary(
            self.run, self.tally, self.closing, self._shown_path(), self.stuck, whole
        ):
            terminalreporter.write_line(line, **markup)
