"""Devices, and their completion and receive queues."""

import errno
import os
import re
import select
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyverbs
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError, PyverbsRDMAError
from pyverbs.qp import QP, QPCap, QPEx, QPInitAttr, QPInitAttrEx
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr

from conformance.spec.fault import OFFERED
from conformance.spec.vocabulary import Operation, Status, Transport
from rdma_conformance.endpoint import abi
from rdma_conformance.endpoint.agreement import INLINE, SEGMENTS
from rdma_conformance.endpoint.books import (
    BOOKS,
    COMPLETION_QUEUE,
    CONTEXT,
    QUEUE_PAIR,
    SHARED_QUEUE,
)
from rdma_conformance.endpoint.verbs.errors import VerbsError, refusal
from rdma_conformance.endpoint.verbs.queue_pair import QueuePair

QUEUE_DEPTH = 8  # work requests; a case has at most two outstanding on either queue
CQ_DEPTH = 256  # completions; that of every pooled QP's queues being flushed at once


def rdma_core() -> dict[str, str]:
    """The releases of pyverbs and of the libibverbs that it loaded, such as 65.0."""
    found = re.search(r"libibverbs\.so\.1\.\d+\.(\d[\d.]*\d)", Path("/proc/self/maps").read_text())
    version = str(getattr(pyverbs, "__version__", "unknown"))
    return {"pyverbs": version, "libibverbs": found.group(1) if found else version}


def _event_fds() -> dict[int, str]:
    """The asynchronous event files of this process: pyverbs doesn't show a context's own."""
    found = {}
    for entry in Path("/proc/self/fd").iterdir():
        try:
            name = str(entry.readlink())
        except OSError:  # the descriptor by which the directory was read
            continue
        if "infinibandevent" in name:
            found[int(entry.name)] = name
    return found


# How a provider says that it does not know what a queue pair is to be created with.
NOT_KNOWN = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


class SharedReceives:
    """A shared receive queue."""

    def __init__(self, domain: PD):
        attributes = SrqInitAttr(SrqAttr(max_wr=QUEUE_DEPTH, max_sge=SEGMENTS))
        try:
            with BOOKS.opening(SHARED_QUEUE, SHARED_QUEUE) as opened:
                self.queue = SRQ(domain, attributes)
                opened(self.queue)
        except PyverbsError as error:
            raise refusal(error, "ibv_create_srq") from None

    def post_receive(self, request: Any) -> None:
        try:
            self.queue.post_recv(request)
        except PyverbsError as error:
            raise refusal(error, "ibv_post_srq_recv") from None

    def close(self) -> None:
        try:
            with BOOKS.closing(self.queue):
                self.queue.close()
        except PyverbsError as error:
            raise refusal(error, "ibv_destroy_srq") from None


class Device:
    """An open device context."""

    def __init__(self, name: str):
        before = _event_fds()
        try:
            with BOOKS.opening(CONTEXT) as opened:
                self.context = Context(name=name)
                opened(self.context)
        except PyverbsError as error:
            raise refusal(error, f"ibv_open_device({name})") from None
        fresh = _event_fds().keys() - before.keys()
        if len(fresh) != 1:
            self.close()
            raise VerbsError("ENOENT", f"the asynchronous event file of {name} was not found")
        self._events = fresh.pop()
        self._extended = {transport: sets(transport) for transport in Transport}
        self._inline = INLINE
        self._segments = min(SEGMENTS, self.attributes()["max_sge"])

    def attributes(self) -> dict[str, Any]:
        """Limits and capability words of the device (ibv_query_device_ex(3))."""
        extended = self.context.query_device_ex()
        plain = extended.orig_attr
        odp = extended.odp_caps
        return {
            "device_cap_flags_ex": int(extended.device_cap_flags_ex) | int(plain.device_cap_flags),
            "atomic_cap": int(plain.atomic_caps),
            "odp_general_caps": int(odp.general_caps),
            "odp_rc_caps": int(odp.rc_odp_caps),
            "odp_uc_caps": int(odp.uc_odp_caps),
            "max_mr": int(plain.max_mr),
            "max_mr_size": int(plain.max_mr_size),
            "max_mw": int(plain.max_mw),
            "max_sge": int(plain.max_sge),
            "max_srq": int(plain.max_srq),
            "page_size_cap": int(plain.page_size_cap),
            "fw_ver": str(plain.fw_version),
            "vendor_id": int(plain.vendor_id),
            "part_id": int(plain.vendor_part_id),
            "max_qp_rd_atom": int(plain.max_qp_rd_atom),
            "max_qp_init_rd_atom": int(plain.max_qp_init_rd_atom),
        }

    def port(self, number: int) -> dict[str, Any]:
        """State, link layer, LID and active MTU (the number of ibv_mtu) of a port."""
        try:
            port = self.context.query_port(number)
        except PyverbsError as error:
            raise refusal(error, f"ibv_query_port({number})") from None
        return {
            "state": abi.PORT_STATES[int(port.state)],
            "link_layer": abi.LINK_LAYERS.get(int(port.link_layer), "unknown"),
            "lid": int(port.lid),
            "mtu": int(port.active_mtu),
        }

    def gid(self, port: int, index: int) -> str:
        try:
            return str(self.context.query_gid(port, index))
        except PyverbsError as error:
            raise refusal(error, f"ibv_query_gid({port}, {index})") from None

    def events(self, wait_s: float = 0.0) -> list[str]:
        """Names of the asynchronous events there are, after up to `wait_s` for a first one.

        ibv_get_async_event() would block with the interpreter's lock, so the file is asked first.
        """
        names = []
        while select.select([self._events], [], [], wait_s)[0]:
            event = self.context.get_async_event()
            number = int(event.event_type)
            event.ack()  # an event that is not acknowledged would block the end of its QP
            name = abi.EVENTS[number] if number < len(abi.EVENTS) else f"event {number}"
            # What happens to ports, GIDs or the device is no answer to a case.
            if name.startswith("QP_") and name not in abi.USUAL_EVENTS:
                names.append(name)
                wait_s = 0.0
        return names

    def create_queue_pair(
        self,
        pd: PD,
        send: "Completions",
        receive: "Completions",
        kind: str,
        shared: SharedReceives | None = None,
    ) -> QueuePair:
        """A QP of transport `kind` with as many extended operations as the provider knows.

        Its receives are in a queue of its own, or in `shared`.
        """
        transport = Transport(kind)
        try:
            return self._created(pd, send, receive, transport, shared)
        except VerbsError as refused:
            if refused.name != "EINVAL" or not self._inline:
                raise
        self._inline = 0  # more than the provider takes: no queue pair is to fail for that
        self._extended[transport] = sets(transport)
        return self._created(pd, send, receive, transport, shared)

    def _created(
        self,
        pd: PD,
        send: "Completions",
        receive: "Completions",
        transport: Transport,
        shared: SharedReceives | None,
    ) -> QueuePair:
        entries = self._segments + (transport is Transport.UD)  # the header has one of its own
        cap = QPCap(QUEUE_DEPTH, QUEUE_DEPTH, self._segments, entries, self._inline)
        queues = {"qp_type": abi.QP_TYPE[transport], "cap": cap}
        queues |= {"scq": send.queue, "rcq": receive.queue}
        if shared:
            queues["srq"] = shared.queue
        sort = f"{transport} queue pair{' with shared receives' if shared else ''}"
        known = self._extended[transport]
        while known:
            operations = known[0]
            flags = sum(abi.SEND_OPS[each] for each in operations)
            mask = abi.INIT_ATTR_PD | abi.INIT_ATTR_SEND_OPS_FLAGS
            init = QPInitAttrEx(pd=pd, comp_mask=mask, send_ops_flags=flags, **queues)
            try:
                with BOOKS.opening(QUEUE_PAIR, sort) as opened:
                    made = QPEx(self.context, init)
                    opened(made)
                return QueuePair(made, pd, transport, operations)
            except PyverbsRDMAError as error:
                if (error.error_code or 0) not in NOT_KNOWN:
                    raise refusal(error, "ibv_create_qp_ex") from None
                known.pop(0)  # the provider never knows that set: don't ask again
        try:
            with BOOKS.opening(QUEUE_PAIR, sort) as opened:
                made = QP(pd, QPInitAttr(**queues))
                opened(made)
            return QueuePair(made, pd, transport, None)
        except PyverbsError as error:
            raise refusal(error, "ibv_create_qp") from None

    def close(self) -> None:
        with BOOKS.closing(self.context):
            self.context.close()


def sets(transport: Transport) -> list[frozenset[Operation]]:
    """Sets of operations to ask ibv_create_qp_ex() for, the richest first."""
    if transport in OFFERED:
        return [OFFERED[transport]]
    everything = frozenset(abi.SEND_OPS)
    flush, atomic_write = {Operation.FLUSH}, {Operation.ATOMIC_WRITE}
    atomics = {Operation.CMP_SWAP, Operation.FETCH_ADD}
    plain = everything - flush - atomic_write
    return [everything, everything - flush, everything - atomic_write, plain, plain - atomics]


class Completions:
    """A completion queue, read in the order of the completions."""

    def __init__(self, device: Device):
        try:
            with BOOKS.opening(COMPLETION_QUEUE) as opened:
                self.queue = CQ(device.context, CQ_DEPTH)
                opened(self.queue)
        except PyverbsError as error:
            raise refusal(error, "ibv_create_cq") from None

    def poll(self) -> list[dict[str, Any]]:
        """What completed since: wr_id and status, and of a receive that succeeded the rest."""
        return [_completion(each) for each in self.queue.poll(16)[1]]

    def close(self) -> None:
        with BOOKS.closing(self.queue):
            self.queue.close()


def _completion(entry: Any) -> dict[str, Any]:
    number = int(entry.status)
    found = {"wr_id": int(entry.wr_id), "status": _status_name(number)}
    found |= {"received": None, "sent": None}
    # On an error only wr_id, status, qp_num and vendor_err are valid (ibv_poll_cq(3)).
    if number != Status.SUCCESS:
        return found
    opcode = int(entry.opcode)
    if opcode in abi.SEND_OPCODES:
        name = abi.SEND_OPCODES[opcode]
        fetched = int(entry.byte_len) if name in abi.COUNTED else None
        found["sent"] = {"opcode": name, "byte_len": fetched}
    elif opcode in abi.RECEIVE_OPCODES:
        with_imm = int(entry.wc_flags) & abi.WC_WITH_IMM
        found["received"] = {
            "byte_len": int(entry.byte_len),
            "imm": socket.ntohl(int(entry.imm_data)) if with_imm else None,
            "opcode": abi.RECEIVE_OPCODES[opcode],
        }
    return found


def _status_name(number: int) -> str:
    try:
        return Status(number).name
    except ValueError:
        return f"status {number}"


def collect(
    completions: Completions,
    wanted: list[int],
    number: int,
    deadline: float,
    last: Callable[[dict[str, Any]], bool] = lambda each: False,
) -> list[dict[str, Any]]:
    """Completions of the `wanted` work requests in their order, until `number` or `deadline`.

    `deadline` is on the clock of time.monotonic(); nothing is awaited behind one that is `last`.
    """
    found: list[dict[str, Any]] = []
    while True:
        found += [each for each in completions.poll() if each["wr_id"] in wanted]
        if len(found) >= number or time.monotonic() > deadline or any(map(last, found)):
            return found
        os.sched_yield()
