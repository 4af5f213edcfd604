"""Two benches, connected: what performers of cases about objects' lives have in common."""

import sys
from typing import Any

from conformance.spec.effect import LOCAL
from conformance.spec.memory import high, image
from conformance.spec.model import ALL_RIGHTS, GUARD, plain
from conformance.spec.operations import size
from conformance.spec.vocabulary import Access, Operation, Status
from conformance.spec.window import Domain, Region, Through

ADDEND = 0x8080808080808080
LARGE, LARGE_S = 4 << 20, 20.0  # bytes of a large transfer, and how long it may take
RECEIVE_S = 2.0  # how long the responder may take to complete a receive that was refused

RETRIES = 7

SUCCESS = Status.SUCCESS.name


class Stage:
    """The benches of both ends. What was set up is taken down by `clear`."""

    def __init__(self, requester: Any, responder: Any):
        self.requester = requester
        self.responder = responder
        self._connected: set[str] = set()
        self._receiving: set[str] = set()
        self._local: dict[str, Any] = {}

    def connect(self, name: str, domain: str = Domain.OWN, retries: int = RETRIES) -> None:
        """A connected pair of queue pairs `name`; the responder's in `domain`, with every right.

        `retries` is the requester's retry_cnt: how often it repeats what nobody answers.
        """
        if name not in self._connected:
            self.requester.bench.queue_pair(name, Domain.OWN.value)
            self.responder.bench.queue_pair(name, str(domain))
            self._connected.add(name)
        self.reconnect(name, retries)

    def reconnect(self, name: str, retries: int = RETRIES) -> None:
        """Through RESET to RTS on both sides."""
        rights = int(ALL_RIGHTS)
        here = self.requester.bench.init(name, rights)
        there = self.responder.bench.init(name, rights)
        self.responder.bench.connect(name, there, here, rights)
        self.requester.bench.connect(name, here, there, rights, retries)

    def local(self, seed: int, access: int = Access.LOCAL_WRITE) -> dict[str, Any]:
        """The requester's buffer, registered at the first call."""
        if not self._local:
            self._local = self.requester.bench.register("local", _buffer(access), seed)
        return self._local

    def request(
        self, operation: str, seed: int, target: dict[str, Any], old_at: int = 0, region: int = 0
    ) -> dict[str, Any]:
        """A work request as `Bench.begin` takes it; `target` is the address and rkey.

        A compare and swap compares with what the region's image holds `old_at` bytes into it.
        """
        local = self.local(seed)
        word = Operation(operation)
        operands: list[int] = []
        if word is Operation.FETCH_ADD:
            operands = [ADDEND]
        elif word is Operation.CMP_SWAP:
            first = GUARD + old_at
            old = image(seed, "region", region)[first : first + 8]
            new = high(seed, "operand", 8)
            operands = [int.from_bytes(each, sys.byteorder) for each in (old, new)]
        source = image(seed, "local", LOCAL)[GUARD : GUARD + 8]
        return {
            "operation": operation,
            "local_address": local["address"],
            "lkey": local["lkey"],
            "length": size(word),
            "address": target["address"],
            "rkey": target["rkey"],
            "operands": operands,
            "data": source.hex() if word is Operation.ATOMIC_WRITE else "",
        }

    @staticmethod
    def write(source: dict[str, Any], target: dict[str, Any], length: int) -> dict[str, Any]:
        """A WRITE of `length` bytes, as `Bench.begin` takes it, between two registrations."""
        return {
            "operation": Operation.WRITE.value,
            "local_address": source["address"],
            "lkey": source["lkey"],
            "length": length,
            "address": target["address"],
            "rkey": target["rkey"],
            "operands": [],
            "data": "",
        }

    def use(self, through: str, request: dict[str, Any], region: str = "region") -> dict[str, Any]:
        """Post `request` on the requester's queue pair `through`: all that both sides see."""
        if request["operation"] == Operation.WRITE_IMM:
            self.receive(through)
        facts = self.post(through, request)
        changes = {
            "region": self.responder.bench.changes(region),
            "local": self.requester.bench.changes("local"),
        }
        return {**facts, "touched": [name for name, runs in changes.items() if runs], **changes}

    def post(self, through: str, request: dict[str, Any]) -> dict[str, Any]:
        """As `use`, without a look at memory."""
        status = self.requester.bench.post(through, request)
        return {
            "requester": status,
            "requester_qp": self.requester.bench.state(through, status != SUCCESS),
            # What the requester found by itself need not show at the responder.
            "responder_qp": self.responder.bench.state(through, status.startswith("REM_")),
        }

    def receive(self, queue_pair: str, seed: int = 0) -> int:
        """A receive posted by the responder into the queue pair's own buffer; returns its wr_id."""
        bench = self.responder.bench
        name = f"receive-{queue_pair}"
        domain = Domain.OTHER if queue_pair == Through.FOREIGN else Domain.OWN
        if name not in self._receiving:  # a second receive takes the place of the first
            bench.register(name, _buffer(Access.LOCAL_WRITE, domain), seed)
            self._receiving.add(name)
        return bench.post_receive(queue_pair, name)

    def clear(self) -> list[str]:
        """Take down what both sides have: what would not go."""
        left = self.responder.bench.clear() + self.requester.bench.clear()
        self._connected.clear()
        self._receiving.clear()
        self._local = {}
        return left


def _buffer(access: int, domain: Domain = Domain.OWN) -> dict[str, Any]:
    return plain(Region(Access(access), LOCAL, domain=domain))
