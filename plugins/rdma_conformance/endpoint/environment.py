"""What this host has for the suite to ask with: the lack of it is no answer of a driver."""

from pathlib import Path

from conformance.spec.accounting import MEMLOCK_ROOM
from conformance.spec.buffer import HUGE_1G, HUGE_2M, Backing
from rdma_conformance.endpoint import mappings, privileges

# The claims of `probe` that are the host's or its user's, and not the device's.
HOSTS = frozenset(
    {
        *("huge_pages_2m", "huge_pages_1g", "transparent_huge_pages", "device_mapping"),
        *("kernel_data_mapping", "iova", "ipc_lock", "memlock_room", "unlimited_memlock"),
    }
)
_THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def probe(max_mr_size: int, has_iova: bool) -> dict[str, dict[str, str]]:
    """Claims and denials, each with its evidence or its mend."""
    found: dict[str, dict[str, str]] = {"claims": {}, "denials": {}}

    def note(name: str, there: bool, evidence: str, lack: str) -> None:
        found["claims" if there else "denials"][name] = evidence if there else lack

    note(
        "huge_pages_2m",
        _maps(Backing.HUGE_2M, 3 * HUGE_2M),
        "three pages of 2 MiB can be mapped",
        "this host has no three free pages of 2 MiB: sysctl vm.nr_hugepages=32 reserves some",
    )
    note(
        "huge_pages_1g",
        _maps(Backing.HUGE_1G, 3 * HUGE_1G),
        "three pages of 1 GiB can be mapped",
        "this host has no three free pages of 1 GiB: boot it with hugepagesz=1G hugepages=3",
    )
    try:
        enabled = "[never]" not in _THP.read_text()
    except FileNotFoundError:
        enabled = False
    note(
        "transparent_huge_pages",
        enabled,
        f"{_THP} allows them",
        f"transparent huge pages are off: echo madvise >{_THP} allows them",
    )
    note(
        "device_mapping",
        _maps(Backing.DEVICE, 1),
        "the registers of a PCI device can be mapped",
        "no registers of a PCI device can be mapped here: root of the host may",
    )
    note(
        "kernel_data_mapping",
        mappings.kernel_data() is not None,
        "[vvar] is in /proc/self/maps",
        "this process has no [vvar] mapping",
    )
    note(
        "mr_size_limit",
        max_mr_size < (1 << 64) - 1,
        f"max_mr_size is {max_mr_size:#x}",
        f"max_mr_size is {max_mr_size:#x}: no length is over it",
    )
    note(
        "iova",
        has_iova,
        "this pyverbs has MREx, which takes an iova",
        "this pyverbs has no MREx, the only way to an iova: release 60 or later has",
    )
    note(
        "ipc_lock",
        privileges.has(privileges.CAP_IPC_LOCK),
        "the endpoint has CAP_IPC_LOCK",
        "the endpoint has no CAP_IPC_LOCK of the first user namespace: run the suite as root",
    )
    note(
        "memlock_room",
        privileges.may_limit(MEMLOCK_ROOM),
        f"RLIMIT_MEMLOCK can be {MEMLOCK_ROOM} bytes",
        f"RLIMIT_MEMLOCK can not be {MEMLOCK_ROOM} bytes: ulimit -Hl {MEMLOCK_ROOM >> 10}, or root",
    )
    note(
        "unlimited_memlock",
        privileges.may_limit(None),
        "RLIMIT_MEMLOCK can be lifted",
        "RLIMIT_MEMLOCK can not be lifted: ulimit -l unlimited, or run the suite as root",
    )
    return found


def _maps(backing: Backing, size: int) -> bool:
    """Whether memory of that kind can be mapped; it is not touched."""
    try:
        mappings.Mapping(backing, size, b"").close()
    except OSError:
        return False
    return True
