"""Memory windows of one end: allocated, bound, invalidated and deallocated by name."""

from typing import Any

from conformance.spec.vocabulary import Operation
from conformance.spec.window import Domain
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.bench import COMPLETION_S, Bench
from rdma_conformance.endpoint.verbs import VerbsError, WorkRequest

TYPE_1 = 1
REGION = "region"


class Windows:
    """The windows of a `Bench`. A status is that of a completion, `post ERRNO`, or none."""

    def __init__(self, bench: Bench):
        self._bench = bench
        self._types: dict[str, int] = {}

    def allocate(self, name: str, number: int, domain: str) -> dict[str, Any]:
        """ibv_alloc_mw(): result is OK or the errno; rkey."""
        try:
            made = verbs.allocate_window(self._bench.domains[domain], number)
        except VerbsError as refused:
            return {"result": refused.name, "rkey": 0}
        self._bench.windows[name] = made
        self._types[name] = number
        return {"result": "OK", "rkey": int(made.rkey)}

    def allocate_by_number(self, number: int) -> dict[str, Any]:
        """Two windows of type `number`, any byte, by the command itself; they are gone after.

        result is OK or the errno of the first that fails; rkeys says whether the keys are apart.
        """
        commands, domain = self._bench.commands, int(self._bench.domains[Domain.OWN].handle)
        made: list[tuple[int, int]] = []
        result = "OK"
        try:
            made = [commands.allocate_window(domain, number) for _ in range(2)]
        except VerbsError as refused:
            result = refused.name
        for handle, _ in made:
            commands.deallocate_window(handle)
        keys = {rkey for _, rkey in made}
        apart = len(keys) == len(made) and 0 not in keys
        listed = ", ".join(f"{key:#x}" for key in sorted(keys))
        return {"result": result, "rkeys": "distinct, not 0" if apart else listed}

    def bind(self, name: str, queue_pair: str, place: dict[str, int]) -> dict[str, Any]:
        """Bind to a place in the region named region, the way of the window's type.

        `place`: `length` bytes from `at` bytes into the region, access, and the rkey that a
        window of type 2 is to have; one of type 1 gets its own. Returns the status and the
        rkey that holds when that is SUCCESS.
        """
        return self._bind(name, queue_pair, place, self._types[name] == TYPE_1)

    def bind_other_way(self, name: str, queue_pair: str, place: dict[str, int]) -> dict[str, Any]:
        """Bind by the call that is for windows of the other type."""
        return self._bind(name, queue_pair, place, self._types[name] != TYPE_1)

    def _bind(
        self, name: str, queue_pair: str, place: dict[str, int], by_call: bool
    ) -> dict[str, Any]:
        bench = self._bench
        made, rkey = bench.windows[name], place["rkey"]
        address = (bench.areas[REGION].address + place["at"]) & (1 << 64) - 1
        region = bench.regions[REGION]
        info = verbs.bind_info(region, address, place["length"], place["access"])
        wr_id = bench.serial()
        poster = bench.queue_pairs[queue_pair]
        try:
            if by_call:
                rkey = poster.bind_by_call(made, info, wr_id)
            else:
                poster.bind_by_request(made, rkey, info, wr_id)
        except VerbsError as refused:
            return {"status": f"post {refused.name}", "rkey": rkey}
        return {"status": bench.await_sent(wr_id), "rkey": rkey}

    def invalidate(self, queue_pair: str, rkey: int) -> str:
        """LOCAL_INV: its status."""
        wr_id = self._bench.serial()
        try:
            self._bench.queue_pairs[queue_pair].invalidate(rkey, wr_id)
        except VerbsError as refused:
            return f"post {refused.name}"
        return self._bench.await_sent(wr_id)

    def send_invalidate(self, queue_pair: str, rkey: int, region: str) -> str:
        """SEND_WITH_INV of the peer's `rkey` with a byte of `region`: its status."""
        bench = self._bench
        area, lkey = bench.areas[region], int(bench.regions[region].lkey)
        request = WorkRequest(Operation.SEND, bench.serial(), [(area.address, 1, lkey)])
        try:
            bench.queue_pairs[queue_pair].send_invalidate(request, rkey)
        except VerbsError as refused:
            return f"post {refused.name}"
        return bench.await_sent(request.wr_id, COMPLETION_S)

    def deallocate(self, name: str) -> str:
        """OK or the errno."""
        try:
            verbs.deallocate_window(self._bench.windows[name])
        except VerbsError as refused:
            return refused.name
        del self._bench.windows[name]
        return "OK"
