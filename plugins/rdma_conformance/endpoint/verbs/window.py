"""Memory windows, and queue pairs that bind and invalidate them."""

import ctypes
from typing import Any

from pyverbs.mr import MR, MW, MWBind, MWBindInfo
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError, PyverbsRDMAError
from pyverbs.qp import QP, QPCap, QPEx, QPInitAttr, QPInitAttrEx
from pyverbs.wr import SGE

from conformance.spec.vocabulary import Operation, Status, Transport
from rdma_conformance.endpoint import abi
from rdma_conformance.endpoint.books import BOOKS, QUEUE_PAIR, WINDOW
from rdma_conformance.endpoint.verbs.commands import Commands
from rdma_conformance.endpoint.verbs.device import NOT_KNOWN, Completions, Device, sets
from rdma_conformance.endpoint.verbs.errors import VerbsError, refusal
from rdma_conformance.endpoint.verbs.queue_pair import QueuePair, WorkRequest

QUEUE_DEPTH = 16  # work requests

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_BINDING_OPS = sum(abi.BINDING_OPS.values())


def allocate_window(pd: PD, number: int) -> MW:
    """ibv_alloc_mw() of a window of type `number` (ibv_mw_type). Raises VerbsError."""
    try:
        with BOOKS.opening(WINDOW) as opened:
            made = MW(pd, number)
            opened(made)
        return made
    except PyverbsError as error:
        raise refusal(error, "ibv_alloc_mw") from None


def deallocate_window(window: MW) -> None:
    try:
        with BOOKS.closing(window):
            window.close()
    except PyverbsError as error:
        raise refusal(error, "ibv_dealloc_mw") from None


class BindingQueuePair(QueuePair):
    """A queue pair that binds and invalidates, besides what every queue pair does."""

    def __init__(self, device: Device, pd: PD, send: Completions, receive: Completions):
        queues = {
            "qp_type": abi.QP_TYPE[Transport.RC],
            "cap": QPCap(QUEUE_DEPTH, QUEUE_DEPTH, 1, 1, 0),
            "scq": send.queue,
            "rcq": receive.queue,
        }
        qp, operations = _created(device, pd, queues)
        super().__init__(qp, pd, Transport.RC, operations)

    @property
    def handle(self) -> int:
        """The kernel's handle, which pyverbs does not show: it lies behind six pointers."""
        return ctypes.c_uint32.from_address(int(self._qp.qp) + 6 * _POINTER).value

    def destroy_by(self, commands: Commands) -> None:
        """End it by the command itself: the library's half stays. Raises VerbsError."""
        try:
            commands.destroy_queue_pair(self.handle)
        except VerbsError:
            BOOKS.stayed(self._qp)
            raise
        BOOKS.ended_without_library(self._qp)

    def bind_by_call(self, window: MW, info: MWBindInfo, wr_id: int) -> int:
        """ibv_bind_mw(), for type 1; returns the rkey that the window is to have."""
        try:
            self._qp.bind_mw(window, MWBind(info, abi.SEND_SIGNALED, wr_id))
        except PyverbsError as error:
            raise refusal(error, "ibv_bind_mw") from None
        return int(window.rkey)

    def bind_by_request(self, window: MW, rkey: int, info: MWBindInfo, wr_id: int) -> None:
        """A bind work request, for type 2, that gives the window `rkey`."""
        self._post_built(wr_id, lambda qp: qp.wr_bind_mw(window, rkey, info), "wr_bind_mw")

    def invalidate(self, rkey: int, wr_id: int) -> None:
        """A LOCAL_INV work request."""
        self._post_built(wr_id, lambda qp: qp.wr_local_inv(rkey), "wr_local_inv")

    def send_invalidate(self, request: WorkRequest, rkey: int) -> None:
        """SEND_WITH_INV of `rkey`, carrying what `request` says."""

        def build(qp: QPEx) -> None:
            qp.wr_send_inv(rkey)
            qp.wr_set_sge(SGE(*request.segments[0]))

        self._post_built(request.wr_id, build, "wr_send_inv")

    def _post_built(self, wr_id: int, build: Any, what: str) -> None:
        qp = self._qp
        if not isinstance(qp, QPEx):
            raise VerbsError("EOPNOTSUPP", f"creating a queue pair for {what}")
        try:
            qp.wr_start()
            qp.wr_id, qp.wr_flags = wr_id, abi.SEND_SIGNALED
            build(qp)
            qp.wr_complete()
        except PyverbsError as error:
            raise refusal(error, what) from None


def bind_info(region: MR, address: int, length: int, access: int) -> MWBindInfo:
    """What a window is to be bound to."""
    return MWBindInfo(region, address, length, access)


def _created(
    device: Device, pd: PD, queues: dict[str, Any]
) -> tuple[QP, frozenset[Operation] | None]:
    """An extended QP for binding and as many remote operations as the provider knows, or a plain.

    A plain one carries all but binds and invalidations, whose posting then says EOPNOTSUPP.
    """
    for operations in sets(Transport.RC):
        flags = sum(abi.SEND_OPS[each] for each in operations) | _BINDING_OPS
        mask = abi.INIT_ATTR_PD | abi.INIT_ATTR_SEND_OPS_FLAGS
        init = QPInitAttrEx(pd=pd, comp_mask=mask, send_ops_flags=flags, **queues)
        try:
            with BOOKS.opening(QUEUE_PAIR, "binding queue pair") as opened:
                made = QPEx(device.context, init)
                opened(made)
            return made, operations
        except PyverbsRDMAError as error:
            if (error.error_code or 0) not in NOT_KNOWN:
                raise refusal(error, "ibv_create_qp_ex") from None
    try:
        with BOOKS.opening(QUEUE_PAIR, "binding queue pair") as opened:
            made = QP(pd, QPInitAttr(**queues))
            opened(made)
        return made, None
    except PyverbsError as error:
        raise refusal(error, "ibv_create_qp") from None


class BindingCompletions(Completions):
    """A completion queue that also tells which rkey a peer invalidated."""

    def poll(self) -> list[dict[str, Any]]:
        """wr_id and status of what completed since, and the rkey that a receive says is dead."""
        return [_completion(each) for each in self.queue.poll(16)[1]]


def _completion(entry: Any) -> dict[str, Any]:
    number = int(entry.status)
    named = number in Status.__members__.values()
    found = {"wr_id": int(entry.wr_id), "status": f"status {number}", "invalidated": None}
    if named:
        found["status"] = Status(number).name
    # On an error only wr_id, status, qp_num and vendor_err are valid (ibv_poll_cq(3)).
    if number == Status.SUCCESS and int(entry.wc_flags) & abi.WC_WITH_INV:
        found["invalidated"] = int(entry.imm_data)  # invalidated_rkey shares its place
    return found
