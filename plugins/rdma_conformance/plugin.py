"""The pytest plugin: options, collection, and asking. `controller` keeps and reports a run."""

import os
import sys
from collections.abc import Callable, Generator

import pytest

from conformance.spec.model import Case
from conformance.spec.vocabulary import Verdict
from rdma_conformance import allure_results, collection, junit, outcomes, terminal
from rdma_conformance.catalogue import CatalogueError
from rdma_conformance.controller import Controller, no_device
from rdma_conformance.deviations import DeviationError
from rdma_conformance.device import describe, list_devices
from rdma_conformance.endpoint.privileges import die_with_parent
from rdma_conformance.fabric import FabricError
from rdma_conformance.interruption import INTERRUPTIONS
from rdma_conformance.options import add_options, read_options
from rdma_conformance.replay import ask_in_one_process
from rdma_conformance.run import NotConforming, Run, prepare
from rdma_conformance.selection import Selection
from rdma_conformance.stopping import stop

RUN = pytest.StashKey[Run]()


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if config.getoption("--list-devices"):
        print(describe(list_devices()))
        return 0
    allure_results.check_directory(config)
    if config.getoption("--resume"):
        ask_in_one_process(config)
    return None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requirement(id): the rule of the catalogue that it asks")
    config.addinivalue_line(
        "markers", "hazard: can take a broken kernel down; needs --allow-hazard, and runs last"
    )
    config.addinivalue_line("markers", "profile(name): the least --profile that asks it")
    handover = getattr(config, "workerinput", {}).get("rdma_conformance")
    try:
        run = prepare(read_options(config), handover)
    except (CatalogueError, DeviationError) as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[RUN] = run
    if handover is None:
        config.pluginmanager.register(Controller(run), "rdma_conformance_controller")
        return
    config.pluginmanager.register(Selection(handover["selection"]), "rdma_conformance_selection")
    if run.identity:
        # Else it would ask on for seconds when the one that keeps the run is killed.
        die_with_parent(os.getppid())
        allure_results.install(config, run.identity, run.links(), collection.is_case)


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    INTERRUPTIONS.end()
    if (run := config.stash.get(RUN, None)) is None:
        return
    try:
        run.close()
    except FabricError as error:
        sys.stderr.write(f"rdma-conformance: {error}\n")
        if (session := config.pluginmanager.get_plugin("session")) is not None:
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases = [item for item in items if collection.is_case(item)]
    if not cases:
        return
    run = config.stash[RUN]
    collection.check_origin(cases)
    collection.check_requirements(cases, run.catalogue, collection.covers_everything(config))
    # A worker of a distributed run can't end it in one line: its controller does.
    if not (run.identity or config.option.collectonly or hasattr(config, "workerinput")):
        raise no_device()
    if taken_out := collection.beyond(items, run.options.profile):
        config.hook.pytest_deselected(items=taken_out)
    if taken_out := collection.order_hazards(items, run.options.allow_hazard):
        config.hook.pytest_deselected(items=taken_out)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    # In a process of a distributed run: what it hands over goes when this hook is done.
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["rdma_conformance"] = session.config.stash[RUN].end_workers()


def pytest_collection_finish(session: pytest.Session) -> None:
    # Last: -k, -m and --deselect have taken out what is not asked.
    session.config.stash[RUN].draw(filter(collection.is_case, session.items))


@pytest.fixture(scope="session")
def verify(pytestconfig: pytest.Config) -> Callable[[Case], None]:
    """Ask a case of the device under test and judge the answer: the last line of a test."""
    return pytestconfig.stash[RUN].verify


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    item.config.stash[RUN].last_item = nextitem is None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.config.stash[RUN].item = item


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not collection.is_case(item):
        return report
    broke = call.excinfo is not None and not call.excinfo.errisinstance(NotConforming)
    if call.when == "call" or (call.when == "setup" and broke):
        trouble = f"{call.excinfo.typename}: {call.excinfo.value}" if broke else None
        run = item.config.stash[RUN]
        record = run.settle(item, trouble)
        text = terminal.failure_block(record)
        if broke:
            text += f"\n\n{report.longreprtext}"
        outcomes.apply(report, record, text)
        report.rdma_lost = item.config.stash[RUN].lost
        junit.tell_case(item, record)
        if run.stuck():
            outcomes.tell_stuck(report)
            stop(item.config, terminal.stuck_line(record["case"]))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple | None:
    record = outcomes.record_of(report)
    return outcomes.SHOWN[Verdict(record["verdict"])] if record else None
