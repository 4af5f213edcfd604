"""Queue pairs and what is posted to them."""

import socket
from dataclasses import dataclass
from typing import Any

from pyverbs.addr import AH, GID, AHAttr, GlobalRoute
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.qp import QP, QPAttr, QPEx
from pyverbs.wr import SGE, RecvWR, SendWR

from conformance.spec.answer import IMM
from conformance.spec.vocabulary import Operation, Transport
from rdma_conformance.endpoint import abi
from rdma_conformance.endpoint.books import BOOKS
from rdma_conformance.endpoint.verbs.errors import VerbsError, refusal

QKEY = 0x11111111  # of the suite's UD queue pairs


@dataclass(frozen=True, slots=True)
class WorkRequest:
    """One signalled work request; addresses, keys and operands are raw numbers.

    `segments` are the entries of its scatter/gather list: address, length in bytes, lkey;
    `length` is that of a FLUSH, which has no such list.
    `operands` is (compare, swap) or (add,) of an atomic; `data` the 8 bytes of ATOMIC_WRITE.
    """

    operation: Operation
    wr_id: int
    segments: list[tuple[int, int, int]]
    length: int = 0
    remote_address: int = 0
    rkey: int = 0
    operands: tuple[int, ...] = ()
    data: bytes = b""
    placement: str = "global"
    inline: bool = False


def receive_request(segments: list[tuple[int, int, int]]) -> RecvWR:
    """A receive into `segments` (address, length in bytes, lkey); `wr_id` is set before posting."""
    return RecvWR(num_sge=len(segments), sg=_entries(segments))


def _entries(segments: list[tuple[int, int, int]]) -> list[SGE]:
    return [SGE(address, length, lkey) for address, length, lkey in segments]


class QueuePair:
    """A queue pair; `operations` are those its extended interface was created for, or None."""

    def __init__(
        self, qp: QP, pd: PD, transport: Transport, operations: frozenset[Operation] | None
    ):
        self._qp = qp
        self._pd = pd
        self._transport = transport
        self._operations = operations
        self.number = int(qp.qp_num)
        self._peer: tuple[AH, int] | None = None  # of UD: the address and number of the other end

    @property
    def inline(self) -> int:
        """Bytes of data that a send takes inline."""
        _, init = self._qp.query(abi.MASK_CAP)
        return int(init.cap.max_inline_data)

    def _modify(self, attr: QPAttr, state: int, mask: int) -> None:
        attr.qp_state = state
        try:
            self._qp.modify(attr, mask | abi.MASK_STATE)
        except PyverbsError as error:
            raise refusal(error, f"ibv_modify_qp to {abi.QP_STATES[state]}") from None

    def to_init(self, port: int, access: int) -> None:
        """RESET, then INIT with `access` as the rights of remote operations."""
        attr = QPAttr()
        self._modify(attr, abi.RESET, 0)
        attr.pkey_index, attr.port_num = 0, port
        mask = abi.MASK_PKEY_INDEX | abi.MASK_PORT
        if self._transport is Transport.UD:
            attr.qkey = QKEY
            mask |= abi.MASK_QKEY
        else:
            attr.qp_access_flags = access
            mask |= abi.MASK_ACCESS_FLAGS
        self._modify(attr, abi.INIT, mask)

    def to_rts(
        self,
        own: dict[str, Any],
        peer: dict[str, Any],
        access: int,
        rnr_retry: int = 7,
        retries: int = 7,
    ) -> None:
        """INIT to RTS against `peer`: its number, psn, gid, lid, as `Queues.init` gives them."""
        attr = QPAttr()
        if self._transport is Transport.UD:
            self._modify(attr, abi.RTR, 0)
            attr.sq_psn = own["psn"]
            self._modify(attr, abi.RTS, abi.MASK_SQ_PSN)
            self._peer = AH(self._pd, attr=_path(own, peer)), peer["number"]
            return
        reliable = self._transport is Transport.RC
        attr.path_mtu = min(own["mtu"], peer["mtu"])
        attr.dest_qp_num, attr.rq_psn = peer["number"], peer["psn"]
        attr.qp_access_flags = access
        attr.ah_attr = _path(own, peer)
        mask = abi.MASK_AV | abi.MASK_PATH_MTU | abi.MASK_DEST_QPN | abi.MASK_RQ_PSN
        if reliable:
            attr.max_dest_rd_atomic, attr.min_rnr_timer = own["rd_atomic"], 1
            mask |= abi.MASK_MAX_DEST_RD_ATOMIC | abi.MASK_MIN_RNR_TIMER
        self._modify(attr, abi.RTR, mask | abi.MASK_ACCESS_FLAGS)
        attr.sq_psn = own["psn"]
        mask = abi.MASK_SQ_PSN
        if reliable:
            attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, retries, rnr_retry
            attr.max_rd_atomic = min(own["rd_atomic"], peer["rd_atomic"])
            mask |= abi.MASK_TIMEOUT | abi.MASK_RETRY_CNT | abi.MASK_RNR_RETRY
            mask |= abi.MASK_MAX_QP_RD_ATOMIC
        self._modify(attr, abi.RTS, mask | abi.MASK_ACCESS_FLAGS)

    def state(self) -> str:
        try:
            attr, _ = self._qp.query(abi.MASK_STATE)
        except PyverbsError as error:
            raise refusal(error, "ibv_query_qp") from None
        number = int(attr.qp_state)
        return abi.QP_STATES[number] if number < len(abi.QP_STATES) else f"state {number}"

    def post_receive(self, request: RecvWR) -> None:
        try:
            self._qp.post_recv(request)
        except PyverbsError as error:
            raise refusal(error, "ibv_post_recv") from None

    def post(self, requests: list[WorkRequest]) -> None:
        """Post `requests` in order, each signalled; nothing behind a refused one is posted."""
        try:
            # The lkey of inline data is no part of the extended interface; and what the transport
            # has not, the queue pair was not created for.
            if any(request.inline or not self._extends(request) for request in requests):
                self._post_plain(requests)
            else:
                self._post_extended(requests)
        except PyverbsError as error:
            raise refusal(error, "posting the work request") from None

    def _extends(self, request: WorkRequest) -> bool:
        return self._operations is not None and request.operation in self._operations

    def _post_extended(self, requests: list[WorkRequest]) -> None:
        qp = self._qp
        qp.wr_start()
        try:
            for request in requests:
                qp.wr_id, qp.wr_flags = request.wr_id, abi.SEND_SIGNALED
                _build(qp, request)
                if self._peer:
                    qp.wr_set_ud_addr(*self._peer, QKEY)
        except BaseException:
            qp.wr_abort()
            raise
        qp.wr_complete()

    def _post_plain(self, requests: list[WorkRequest]) -> None:
        for request in requests:
            if request.operation not in abi.WR_OPCODE:
                raise VerbsError("EOPNOTSUPP", f"ibv_post_send of {request.operation}")
        for request in requests:
            built = _send_request(request)
            if self._peer:
                built.set_wr_ud(*self._peer, QKEY)
            self._qp.post_send(built)

    def close(self) -> None:
        try:
            if self._peer:
                self._peer[0].close()
            with BOOKS.closing(self._qp):
                self._qp.close()
        except PyverbsError as error:
            raise refusal(error, "ibv_destroy_qp") from None


def _path(own: dict[str, Any], peer: dict[str, Any]) -> AHAttr:
    if own["link_layer"] == "InfiniBand":
        return AHAttr(dlid=peer["lid"], is_global=0, port_num=own["port"])
    route = GlobalRoute(dgid=GID(peer["gid"]), sgid_index=own["gid_index"], hop_limit=64)
    return AHAttr(gr=route, is_global=1, port_num=own["port"])


def _build(qp: QPEx, request: WorkRequest) -> None:
    """One work request between ibv_wr_start() and ibv_wr_complete()."""
    rkey, remote = request.rkey, request.remote_address
    match request.operation:
        case Operation.ATOMIC_WRITE:
            qp.wr_atomic_write(rkey, remote, request.data)
            return  # the 8 bytes travel in the request: there is no local buffer
        case Operation.FLUSH:
            placement = abi.PLACEMENT[request.placement]
            qp.wr_flush(rkey, remote, request.length, placement, abi.FLUSH_RANGE)
            return
        case Operation.SEND:
            qp.wr_send()
        case Operation.WRITE:
            qp.wr_rdma_write(rkey, remote)
        case Operation.WRITE_IMM:
            qp.wr_rdma_write_imm(rkey, remote, IMM)  # pyverbs takes it in host order here
        case Operation.READ:
            qp.wr_rdma_read(rkey, remote)
        case Operation.CMP_SWAP:
            qp.wr_atomic_cmp_swp(rkey, remote, *request.operands)
        case Operation.FETCH_ADD:
            qp.wr_atomic_fetch_add(rkey, remote, *request.operands)
    if len(request.segments) == 1:
        qp.wr_set_sge(SGE(*request.segments[0]))
    else:
        qp.wr_set_sge_list(len(request.segments), _entries(request.segments))


def _send_request(request: WorkRequest) -> SendWR:
    """A work request for ibv_post_send()."""
    built = SendWR(
        wr_id=request.wr_id,
        opcode=abi.WR_OPCODE[request.operation],
        num_sge=len(request.segments),
        # and in network order here
        imm_data=socket.htonl(IMM) if request.operation is Operation.WRITE_IMM else 0,
        sg=_entries(request.segments),
        send_flags=abi.SEND_SIGNALED | (abi.SEND_INLINE if request.inline else 0),
    )
    if request.operands:
        compare_add, swap = (*request.operands, 0)[:2]
        built.set_wr_atomic(request.rkey, request.remote_address, compare_add, swap)
    elif request.operation is not Operation.SEND:
        built.set_wr_rdma(request.rkey, request.remote_address)
    return built
