"""One run of the suite in one pytest process: what was asked for, and what there is to ask."""

import shlex
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from conformance.spec.model import Case
from conformance.spec.vocabulary import Verdict
from rdma_conformance import allure_results
from rdma_conformance.asking import Question, ask, case_seed, unasked
from rdma_conformance.catalogue import Catalogue, Requirement, load_catalogue
from rdma_conformance.deviations import Deviation, load_deviations, match
from rdma_conformance.exclusive import DeviceBusy, hold
from rdma_conformance.fabric import Fabric, FabricError, FabricSettings, open_fabric
from rdma_conformance.kernel_log import KernelLog
from rdma_conformance.kernel_watch import AFTER, KernelWatch
from rdma_conformance.leaks import Leaks
from rdma_conformance.options import DEFAULT_PORT, DEFAULT_SEED, Options
from rdma_conformance.outcomes import BAD
from rdma_conformance.presence import Presence, without_device
from rdma_conformance.stopping import stop
from rdma_conformance.suites import root_of
from rdma_conformance.terminal import failure_block
from rdma_conformance.twice import draw

STUCK_AT_THE_END = (
    "an endpoint worker waits in the kernel since the endpoints were closed, and can't be killed: "
    "reboot"
)


class NotConforming(Exception):
    """Ends a test whose case did not conform; the message is the failure block."""


def case_id(item: pytest.Item) -> str:
    """The stable id of a case: its node id counted from the folder of the suites."""
    place = item.path.resolve().relative_to(root_of(item.path)).as_posix()
    return f"{place}::{item.nodeid.partition('::')[2]}"


@dataclass
class Run:
    """The state of this process: the fabric is opened once, and asked by the running item."""

    options: Options
    typed: Options  # as on the command line: a distributed run's workers get other options
    catalogue: Catalogue
    deviations: tuple[Deviation, ...]
    identity: dict[str, Any] = field(default_factory=dict)  # empty: no device was met
    description: str = ""
    guarded: str = ""  # what is watched of what the ends have open
    claims: dict[str, dict[str, str]] = field(default_factory=dict)
    fabric: Fabric | None = None
    watch: KernelWatch | None = None  # as long as there is a fabric
    leaks: Leaks = field(default_factory=Leaks)
    presence: Presence | None = None  # as long, too
    lost: str | None = None  # what of the devices is gone: then nothing more can be asked
    item: pytest.Item | None = None
    last_item: bool = False  # no other follows in this process
    twice: frozenset[str] = frozenset()  # ids of the cases that are asked twice
    records: dict[str, dict[str, Any]] = field(default_factory=dict)

    def open(self) -> Fabric:
        """The fabric, opened at the first call. Raises FabricError with its mend."""
        if self.fabric is None:
            log = KernelLog()  # from here on: what opening leads to is seen with the first case
            self.fabric = self._opened()
            self.identity = dict(self.fabric.identity)
            self.watch = KernelWatch(self.identity["driver"], log)
            self.presence = Presence(self.fabric.ports)
            self.description = self.fabric.description
            self.guarded = self.fabric.guarded
            caps = self.fabric.capabilities
            self.claims = {"claims": dict(caps.claims), "denials": dict(caps.denials)}
        return self.fabric

    def _opened(self) -> Fabric:
        """Opening registers, and sends: it waits for a case that takes the whole device."""
        settings = fabric_settings(self.options)
        if settings.device is None:  # it is made now, and nobody else knows it
            return open_fabric(settings)
        try:
            with hold(settings.device, alone=False, patience_s=settings.bound_s):
                return open_fabric(settings)
        except DeviceBusy as busy:
            raise FabricError(str(busy), "") from None

    def run_file(self) -> Path:
        """Where the run file goes: named after the device, which --setup-rxe may have made."""
        return self.options.run_file or self.options.results / f"{self.identity['device']}.ndjson"

    def handover(self) -> dict[str, Any]:
        """What the workers of a distributed run need to open the same fabric: see `prepare`."""
        if self.fabric is None:
            return {"device": self.options.device, "peer": self.options.peer, "identity": {}}
        return {
            "device": self.fabric.device,
            "peer": self.fabric.peer,
            "identity": self.identity,
        }

    def stuck(self) -> bool:
        """Whether an endpoint worker waits in the kernel for good."""
        return self.fabric is not None and self.fabric.stuck

    def end_workers(self) -> list[tuple[str, str]]:
        """Close both ends: verdict and words of what went wrong since the last case.

        The kernel may have complained, or a worker waits in it for good.
        """
        if self.fabric is None or self.watch is None:
            return []
        was_stuck = self.fabric.stuck
        self.fabric.end_workers()
        found = self.watch.outside(AFTER)
        if self.fabric.stuck and not was_stuck:  # else a case has told it
            words = "\n".join(filter(None, (STUCK_AT_THE_END, self.fabric.waits_in)))
            found.append((Verdict.FAIL.value, words))
        return found

    def close(self) -> None:
        """End the workers and remove what was set up. Raises FabricError when that hangs."""
        if self.fabric is not None:
            fabric, self.fabric = self.fabric, None
            fabric.close()
        if self.watch is not None:
            self.watch.close()
            self.watch = None
        if self.presence is not None:
            self.presence.close()
            self.presence = None

    def verify(self, case: Case) -> None:
        """Ask `case` of the driver and judge the answer. The last line of every suite's test."""
        if self.item is None:
            raise RuntimeError("verify() was called outside of a running test")
        fabric = self.open()
        identity = fabric.identity
        rule = self.rule(self.item)
        name = case_id(self.item)
        deviation = match(
            self.deviations,
            identity["driver"],
            identity["kernel"],
            identity["firmware"],
            rule.id,
            name,
        )
        hazard = self.item.get_closest_marker("hazard") is not None
        seed = case_seed(name, self.options.seed)
        question = Question(name, case, rule, deviation, seed, hazard, name in self.twice)
        started = time.perf_counter()
        record = ask(question, fabric, self.options.bound_s, self.watch, self.leaks, self.last_item)
        # The state of a port is told by the driver, that may wait for the stuck task for ever.
        if not fabric.stuck:
            patience_s = self.presence.patience(record, fabric.without_worker)
            if lost := self.presence.lost(patience_s):
                record = without_device(record, lost)
                self.lost = lost
                stop(self.item.config, lost)
        self.keep(self.item, record, time.perf_counter() - started)
        if Verdict(record["verdict"]) in BAD:
            raise NotConforming(failure_block(record))

    def draw(self, items: Iterable[pytest.Item]) -> None:
        """Draw the cases among `items` that are asked twice; hazards never are."""
        cases = (
            (case_id(item), item.callspec.params["case"])
            for item in items
            if not item.get_closest_marker("hazard")
        )
        self.twice = draw(cases, self.options.twice, self.options.seed)

    def links(self) -> dict[str, str]:
        """The address of each source that has one, by its words in a record, and of deviations."""
        sources = (source for rule in self.catalogue for source in rule.sources)
        links = {str(source): source.url for source in sources if source.url}
        return links | {deviation.id: deviation.url for deviation in self.deviations}

    def rule(self, item: pytest.Item) -> Requirement:
        """The requirement that an item's case asks."""
        return self.catalogue[item.get_closest_marker("requirement").args[0]]

    def keep(self, item: pytest.Item, record: dict[str, Any], duration_s: float) -> None:
        record["again"] = again(item.nodeid, self.typed)
        if record["twice"] and record["twice"]["unstable"]:
            record["again"] += " --twice all"
        record["duration"] = round(duration_s, 6)
        self.records[item.nodeid] = record
        allure_results.attach_record(item.nodeid, record)

    def settle(self, item: pytest.Item, trouble: str | None) -> dict[str, Any]:
        """The record of an item after its call; an ERROR when it asked nothing or broke."""
        record = self.records.pop(item.nodeid, None)
        if record is None:
            reason = trouble or "the test ended without asking the driver anything"
            record = unasked(case_id(item), self.rule(item), item.callspec.params["case"], reason)
        elif trouble is not None:  # the driver answered, and the test broke all the same
            bad = {"verdict": Verdict.ERROR.value, "reason": trouble, "deviation": None}
            record = record | bad
        else:
            return record
        self.keep(item, record, record.get("duration", 0.0))
        self.records.pop(item.nodeid)
        return record


def again(nodeid: str, options: Options) -> str:
    """The command line that asks one case again, of the same device and with the same bytes."""
    words = ["pytest", f"'{nodeid}'"]
    words += ["--setup-rxe"] if options.setup_rxe else ["--device", str(options.device)]
    if options.peer:
        words += ["--peer", options.peer]
    if options.port != DEFAULT_PORT:
        words += ["--port", str(options.port)]
    if options.gid_index is not None:
        words += ["--gid-index", str(options.gid_index)]
    if options.endpoint_python:
        words += ["--endpoint-python", shlex.quote(options.endpoint_python)]
    for path in options.deviations:
        words += ["--deviations", shlex.quote(str(path))]
    if options.allow_hazard:
        words += ["--allow-hazard"]
    if options.profile == "exhaustive":
        words += ["--profile", "exhaustive"]
    if options.seed != DEFAULT_SEED:
        words += ["--seed", str(options.seed)]
    return " ".join(words)


def fabric_settings(options: Options) -> FabricSettings:
    return FabricSettings(
        device=options.device,
        peer=options.peer,
        port=options.port,
        gid_index=options.gid_index,
        endpoint_python=options.endpoint_python,
        plant=options.plant,
        setup_rxe=options.setup_rxe,
        bound_s=options.bound_s,
    )


def prepare(options: Options, handover: Mapping[str, Any] | None = None) -> Run:
    """Load catalogue and deviations, both strictly: their errors name file, entry and mend.

    `handover` is what the controller of a distributed run tells its workers.
    """
    catalogue = load_catalogue()
    deviations = load_deviations(options.deviations, catalogue)
    if handover is None:
        return Run(options, options, catalogue, deviations)
    found = replace(options, device=handover["device"], peer=handover["peer"], setup_rxe=False)
    return Run(found, options, catalogue, deviations, identity=handover["identity"])
