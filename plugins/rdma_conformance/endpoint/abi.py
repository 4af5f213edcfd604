"""Numbers of the verbs ABI (rdma-core libibverbs/verbs.h), which never change.

pyverbs keeps its enumerations flat in some releases and nested in others; it takes and returns
plain numbers in all of them, so that these need no look at its version.
"""

from conformance.spec.vocabulary import Operation, Transport

QP_TYPE = {Transport.RC: 2, Transport.UC: 3, Transport.UD: 4}

# ibv_qp_state
RESET, INIT, RTR, RTS = range(4)
QP_STATES = ("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR")

# ibv_qp_attr_mask
MASK_CAP = 1 << 19
MASK_STATE = 1 << 0
MASK_ACCESS_FLAGS = 1 << 3
MASK_PKEY_INDEX = 1 << 4
MASK_PORT = 1 << 5
MASK_QKEY = 1 << 6
MASK_AV = 1 << 7
MASK_PATH_MTU = 1 << 8
MASK_TIMEOUT = 1 << 9
MASK_RETRY_CNT = 1 << 10
MASK_RNR_RETRY = 1 << 11
MASK_RQ_PSN = 1 << 12
MASK_MAX_QP_RD_ATOMIC = 1 << 13
MASK_MIN_RNR_TIMER = 1 << 15
MASK_SQ_PSN = 1 << 16
MASK_MAX_DEST_RD_ATOMIC = 1 << 17
MASK_DEST_QPN = 1 << 20

# ibv_qp_init_attr_mask
INIT_ATTR_PD = 1 << 0
INIT_ATTR_SEND_OPS_FLAGS = 1 << 6

# ibv_qp_create_send_ops_flags
SEND_OPS = {
    Operation.WRITE: 1 << 0,
    Operation.WRITE_IMM: 1 << 1,
    Operation.SEND: 1 << 2,
    Operation.READ: 1 << 4,
    Operation.CMP_SWAP: 1 << 5,
    Operation.FETCH_ADD: 1 << 6,
    Operation.FLUSH: 1 << 11,
    Operation.ATOMIC_WRITE: 1 << 12,
}

# the same, of binding and invalidating memory windows
BINDING_OPS = {"local_inv": 1 << 7, "bind_mw": 1 << 8, "send_with_inv": 1 << 9}

# ibv_wr_opcode, of the operations that ibv_post_send() knows
WR_OPCODE = {
    Operation.WRITE: 0,
    Operation.WRITE_IMM: 1,
    Operation.SEND: 2,
    Operation.READ: 4,
    Operation.CMP_SWAP: 5,
    Operation.FETCH_ADD: 6,
}

SEND_SIGNALED = 1 << 1

SEND_INLINE = 1 << 3

# ibv_wc_opcode and ibv_wc_flags
SEND_OPCODES = {
    0: "SEND",
    1: "RDMA_WRITE",
    2: "RDMA_READ",
    3: "COMP_SWAP",
    4: "FETCH_ADD",
    8: "FLUSH",
    9: "ATOMIC_WRITE",
}
COUNTED = frozenset({"RDMA_READ", "COMP_SWAP", "FETCH_ADD"})  # byte_len is defined of them
RECEIVE_OPCODES = {128: "RECV", 129: "RECV_RDMA_WITH_IMM"}
WC_WITH_IMM = 1 << 1
WC_WITH_INV = 1 << 3

# ibv_placement_type and ibv_selectivity_level of a FLUSH
PLACEMENT = {"global": 1, "persistent": 2}
FLUSH_RANGE = 0

# ibv_event_type, in the order of verbs.h
EVENTS = (
    "CQ_ERR",
    "QP_FATAL",
    "QP_REQ_ERR",
    "QP_ACCESS_ERR",
    "COMM_EST",
    "SQ_DRAINED",
    "PATH_MIG",
    "PATH_MIG_ERR",
    "DEVICE_FATAL",
    "PORT_ACTIVE",
    "PORT_ERR",
    "LID_CHANGE",
    "PKEY_CHANGE",
    "SM_CHANGE",
    "SRQ_ERR",
    "SRQ_LIMIT_REACHED",
    "QP_LAST_WQE_REACHED",
    "CLIENT_REREGISTER",
    "GID_CHANGE",
    "WQ_FATAL",
)
# Every QP that works or ends may raise these; they say nothing about a case.
USUAL_EVENTS = frozenset({"COMM_EST", "SQ_DRAINED", "QP_LAST_WQE_REACHED"})

# ibv_device_cap_flags and ibv_device_attr_ex.device_cap_flags_ex: capability, bits of which one
# is enough
DEVICE_CAPS = {
    "memory_window": (17, 23, 24),
    "memory_window_type_1": (17,),
    "memory_window_type_2": (23, 24),
    "memory_window_type_2b": (24,),
    "flush_global": (38,),
    "flush_persistent": (39,),
    "atomic_write": (40,),
}
ATOMIC_CAPS = ("NONE", "HCA", "GLOB")

# ibv_odp_general_caps and ibv_odp_transport_cap_bits
ODP_SUPPORT = 1 << 0
ODP_IMPLICIT = 1 << 1
ODP_TRANSPORT = {
    "send": 0,
    "receive": 1,
    "write": 2,
    "read": 3,
    "atomic": 4,
    "srq_receive": 5,
    "flush": 6,
    "atomic_write": 7,
}

LINK_LAYERS = {0: "InfiniBand", 1: "InfiniBand", 2: "Ethernet"}
PORT_STATES = ("NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER")
MTU_BYTES = {1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
