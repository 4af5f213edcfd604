"""One side of a connection: an open device with its regions, queues and events.

Every method takes and returns builtin types, so that a proxy in another process can stand in.
Cases are the builtin form that `conformance.spec.model.wire` makes.
"""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from conformance.spec.answer import GRH
from conformance.spec.model import Key
from conformance.spec.vocabulary import PAGE, Access, Operation, Transport, access_words
from conformance.spec.window import Domain
from rdma_conformance.endpoint import environment, verbs
from rdma_conformance.endpoint.agreement import INLINE, SPARE, Case
from rdma_conformance.endpoint.arena import Area
from rdma_conformance.endpoint.bench import Bench
from rdma_conformance.endpoint.books import QUEUE_PAIR, REGION, SHARED_QUEUE
from rdma_conformance.endpoint.buffers import Buffers
from rdma_conformance.endpoint.bursts import Bursts
from rdma_conformance.endpoint.changing import Changing
from rdma_conformance.endpoint.churns import Churns
from rdma_conformance.endpoint.confined import Confined
from rdma_conformance.endpoint.leak_guard import FILES
from rdma_conformance.endpoint.leaving import leave
from rdma_conformance.endpoint.lifetimes import Lifetimes
from rdma_conformance.endpoint.overlaps import Overlaps
from rdma_conformance.endpoint.paging import Paging
from rdma_conformance.endpoint.queues import Queues
from rdma_conformance.endpoint.region import Region, Regions
from rdma_conformance.endpoint.requester import Requester
from rdma_conformance.endpoint.reregistration import Reregistrations
from rdma_conformance.endpoint.responder import Responder
from rdma_conformance.endpoint.trial import Trials
from rdma_conformance.endpoint.verbs import VerbsError, WorkRequest
from rdma_conformance.endpoint.victim import Victims
from rdma_conformance.endpoint.windows import Windows
from rdma_conformance.kernel_log import DEVICE


class End:
    """A device of this host, opened at one port and GID index, with its queue pairs."""

    def __init__(self, device: str, port: int, gid_index: int):
        self.name = device
        self._device = verbs.Device(device)
        attributes = self._device.attributes()
        own = self._device.port(port)
        limit = min(attributes["max_qp_rd_atom"], attributes["max_qp_init_rd_atom"])
        self._address = {
            "gid": self._device.gid(port, gid_index),
            "lid": own["lid"],
            "mtu": own["mtu"],
            "link_layer": own["link_layer"],
            "port": port,
            "gid_index": gid_index,
            "rd_atomic": max(1, min(limit, 4)),
        }
        self._domain = verbs.allocate_domain(self._device)
        self._other = verbs.allocate_domain(self._device)
        self.queues = Queues(self._device, self._domain, self._address)
        domains = {Key.OWN: self._domain, Key.OTHER_DOMAIN: self._other}
        self._regions = Regions(domains)
        self._spare = Region(domains, Access.LOCAL_WRITE, SPARE)
        self._header = Region(domains, Access.LOCAL_WRITE, GRH)
        self.requester = Requester(self.queues, self._regions, self._spare)
        self.responder = Responder(self.queues, self._regions, self._spare, self._header)
        self.bursts = Bursts(self.queues, self._regions)
        self._trials = Trials(self._domain, device)
        self.buffers = Buffers(device, self._domain, attributes["max_mr_size"])
        self.confined = Confined(device, port, gid_index)
        self.overlaps = Overlaps(self._domain)
        self.churns = Churns(device, attributes["max_mr"])
        self.changing = Changing(device, self._domain)
        self.bench = Bench(self._device, self._address)
        self.windows = Windows(self.bench)
        self.lifetimes = Lifetimes(self.bench)
        self.reregistrations = Reregistrations(self.bench)
        self.paging = Paging(self.bench)
        self.victims = Victims(device, port, gid_index)

    def attributes(self) -> dict[str, Any]:
        """The device's limits and capability words, with the port's own."""
        port = self._device.port(self._address["port"])
        return {**self._device.attributes(), **verbs.rdma_core(), "port": port, **self._address}

    def probe(self) -> dict[str, dict[str, str]]:
        """Claims and denials that no attribute tells: they are seen by trying."""
        found: dict[str, dict[str, str]] = {"claims": {}, "denials": {}}
        area = Area(1)
        for name, more in (("persistent_region", 0), ("persistent_odp_region", Access.ON_DEMAND)):
            access = Access.FLUSH_PERSISTENT | more
            what = f"registering ordinary memory with {access_words(access)}"
            try:
                made = verbs.register(self._domain, area.address, 1, access)
            except VerbsError as refused:
                found["denials"][name] = f"{what} is refused: {refused.denial()}"
            else:
                verbs.deregister(made)
                found["claims"][name] = f"{what} succeeds"
        area.close()
        for transport in (Transport.UC, Transport.UD):
            what = f"creating a queue pair of transport {transport}"
            try:
                self.queues.destroy(self.queues.create(transport))
            except VerbsError as refused:
                why = f"{what} is refused: {refused.denial()}"
                found["denials"][f"transport_{transport}"] = why
            else:
                found["claims"][f"transport_{transport}"] = f"{what} succeeds"
        handle = self.queues.create(Transport.RC)
        inline = self.queues.of(handle).inline
        self.queues.destroy(handle)
        kind = "claims" if inline >= INLINE else "denials"
        found[kind]["inline"] = f"a queue pair takes {inline} bytes of inline data, of {INLINE}"
        around = environment.probe(self._device.attributes()["max_mr_size"], verbs.HAS_IOVA)
        probed = (found, around, self.reregistrations.probe(), self.paging.probe())
        return {
            told: {name: how for each in probed for name, how in each[told].items()}
            for told in found
        }

    # What is open

    def kept(self) -> Counter[str]:
        """What is held on purpose from one case to the next, as `Guard` takes it."""
        queue_pairs, shared = self.queues.count()
        regions = sum(each.count() for each in (self._regions, self._spare, self._header))
        return Counter(
            {
                QUEUE_PAIR: queue_pairs,
                SHARED_QUEUE: shared,
                REGION: regions + self.buffers.count(),
                FILES: self.confined.descriptors(),
            }
        )

    @contextmanager
    def exercise(self) -> Iterator[None]:
        """One object of every sort that the device has is open meanwhile."""
        made = []
        for transport, shared in (*((each, False) for each in Transport), (Transport.RC, True)):
            with suppress(VerbsError):
                made.append(self.queues.create(transport, shared))
        with suppress(VerbsError):
            self.bench.queue_pair("exercise", Domain.OWN)
        for access in (Access.LOCAL_WRITE, Access.LOCAL_WRITE | Access.ON_DEMAND):
            region = {"access": int(access), "length": 2, "page_offset": PAGE - 1}
            self.bench.register(f"exercise {access}", {**region, "domain": Domain.OWN}, 0)
        try:
            yield
        finally:
            self.bench.clear()
            for handle in made:
                self.queues.destroy(handle)

    # Registrations on trial

    def register(self, case: Case, seed: int) -> dict[str, str]:
        """Register memory of the suite as `case` says, until `deregister`; see `Trials`."""
        return self._trials.register(case["access"], case["length"], case["page_offset"], seed)

    def write_from_trial(
        self, handle: int, by_offset: bool, target: dict[str, int], length: int, leftover: int
    ) -> dict[str, str]:
        """WRITE the first `length` bytes of the region on trial, named by address or offset 0."""
        trial = self._trials
        request = WorkRequest(
            Operation.WRITE,
            self.queues.serial(),
            [(0 if by_offset else trial.area.address, length, trial.lkey)],
            remote_address=target["address"],
            rkey=target["rkey"],
        )
        return self.requester.post(handle, request, leftover)

    def request(
        self,
        handle: int,
        operation: str,
        local: dict[str, int],
        target: dict[str, int],
        leftover: int,
    ) -> dict[str, str]:
        """Post `operation` between memory here (address, length, lkey) and a target there."""
        request = WorkRequest(
            Operation(operation),
            self.queues.serial(),
            [(local["address"], local["length"], local["lkey"])],
            remote_address=target["address"],
            rkey=target["rkey"],
        )
        return self.requester.post(handle, request, leftover)

    def deregister(self, leak: bool) -> dict[str, Any]:
        """End the trial; see `Trials`."""
        return self._trials.deregister(leak)

    def leave(self, what: str) -> None:
        """Leave something behind; see `leaving`."""
        leave(what, self._device, self._domain)

    def log(self, lines: list[str]) -> None:
        """Put lines into the kernel's log; a write is a line."""
        for line in lines:
            with DEVICE.open("wb", buffering=0) as file:
                file.write(line.encode())

    def misbehave(self, how: str) -> None:
        """Never answer, or die as of a driver's bad pointer."""
        if how == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        while True:
            signal.pause()

    def close(self) -> None:
        """Close all in the order that no kernel stumbles over: queue pairs before regions."""
        self.victims.close()
        self.lifetimes.close()
        self.paging.clear()
        self.bench.close()
        self.queues.close()
        self._regions.close()
        self.buffers.close()
        self.confined.close()
        for part in (self.overlaps, self.churns, self.changing):
            part.close()
        self._spare.close()
        self._header.close()
        self._domain.close()
        self._other.close()
        self._trials.close()
        self._device.close()
