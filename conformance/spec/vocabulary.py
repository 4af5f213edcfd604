"""The field's words as enumerations, with the numbers of rdma-core's verbs.h."""

from enum import IntEnum, IntFlag, StrEnum

PAGE = 4096  # bytes: the unit in which memory is mapped, pinned and accounted


class Access(IntFlag):
    """IBV_ACCESS_* flags (ibv_reg_mr(3), rdma-core libibverbs/verbs.h)."""

    LOCAL_WRITE = 1 << 0
    REMOTE_WRITE = 1 << 1
    REMOTE_READ = 1 << 2
    REMOTE_ATOMIC = 1 << 3
    MW_BIND = 1 << 4
    ZERO_BASED = 1 << 5
    ON_DEMAND = 1 << 6
    HUGETLB = 1 << 7
    FLUSH_GLOBAL = 1 << 8
    FLUSH_PERSISTENT = 1 << 9
    RELAXED_ORDERING = 1 << 20


SHORT_NAMES = {
    Access.LOCAL_WRITE: "LW",
    Access.REMOTE_WRITE: "RW",
    Access.REMOTE_READ: "RR",
    Access.REMOTE_ATOMIC: "RA",
    Access.MW_BIND: "MWB",
    Access.ZERO_BASED: "ZB",
    Access.ON_DEMAND: "ODP",
    Access.HUGETLB: "HT",
    Access.FLUSH_GLOBAL: "FG",
    Access.FLUSH_PERSISTENT: "FP",
    Access.RELAXED_ORDERING: "RO",
}

# Bits 20 to 29 are accepted whatever the device does with them (uapi OPTIONAL_RANGE).
OPTIONAL_BITS = range(20, 30)


def short(access: int) -> str:
    """Compact name of an access value for case ids: ``LW+RR``, ``none``, ``LW+bit13``."""
    rest = int(access)
    names = []
    for flag, name in SHORT_NAMES.items():
        if rest & flag:
            names.append(name)
            rest &= ~int(flag)
    names += [f"bit{bit}" for bit in range(32) if rest >> bit & 1]
    return "+".join(names) or "none"


def access_words(access: int) -> str:
    """An access value by the names of its flags: ``LOCAL_WRITE|REMOTE_READ``, ``0``."""

    names = [flag.name for flag in Access if access & flag]
    rest = access & ~sum(Access)
    if rest:
        names.append(hex(rest))
    return "|".join(names) or "0"


class Operation(StrEnum):
    """What the requester posts; the values are the words used in case ids."""

    SEND = "send"
    WRITE = "write"
    WRITE_IMM = "write_imm"
    READ = "read"
    CMP_SWAP = "cmp_swap"
    FETCH_ADD = "fetch_add"
    ATOMIC_WRITE = "atomic_write"
    FLUSH = "flush"


class Transport(StrEnum):
    RC = "rc"
    UC = "uc"
    UD = "ud"


class Status(IntEnum):
    """IBV_WC_* completion statuses (rdma-core verbs.h)."""

    SUCCESS = 0
    LOC_LEN_ERR = 1
    LOC_QP_OP_ERR = 2
    LOC_EEC_OP_ERR = 3
    LOC_PROT_ERR = 4
    WR_FLUSH_ERR = 5
    MW_BIND_ERR = 6
    BAD_RESP_ERR = 7
    LOC_ACCESS_ERR = 8
    REM_INV_REQ_ERR = 9
    REM_ACCESS_ERR = 10
    REM_OP_ERR = 11
    RETRY_EXC_ERR = 12
    RNR_RETRY_EXC_ERR = 13
    LOC_RDD_VIOL_ERR = 14
    REM_INV_RD_REQ_ERR = 15
    REM_ABORT_ERR = 16
    INV_EECN_ERR = 17
    INV_EEC_STATE_ERR = 18
    FATAL_ERR = 19
    RESP_TIMEOUT_ERR = 20
    GENERAL_ERR = 21
    TM_ERR = 22
    TM_RNDV_INCOMPLETE = 23


class QPState(StrEnum):
    """IBV_QPS_*"""

    RESET = "RESET"
    INIT = "INIT"
    RTR = "RTR"
    RTS = "RTS"
    SQD = "SQD"
    SQE = "SQE"
    ERR = "ERR"


class Event(StrEnum):
    """Affiliated asynchronous events that the suites look for (IBV_EVENT_*)."""

    QP_FATAL = "QP_FATAL"
    QP_REQ_ERR = "QP_REQ_ERR"
    QP_ACCESS_ERR = "QP_ACCESS_ERR"


class Level(StrEnum):
    """MUST: documents require it. SHOULD and IMPL are recorded, and never fail a run."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    IMPL = "IMPL"


class Verdict(StrEnum):
    PASS = "PASS"
    FAIL = "FAIL"
    DEVIATION = "DEVIATION"
    FIXED = "FIXED"
    NOT_SUPPORTED = "NOT_SUPPORTED"
    NOTE = "NOTE"
    ERROR = "ERROR"
    CRASH = "CRASH"
