"""How a driver tells that memory could not be pinned.

ib_umem_get() (drivers/infiniband/core/umem.c) answers with an errno for each cause, and most
drivers pass it on. No document demands that of a driver: some answer with one errno for every cause
(in Linux 7.2 hns_roce with ENOMEM, qedr and ocrdma with EFAULT). Such a refusal is as safe, and
sends its reader astray: it is recorded as a NOTE.
"""

from collections.abc import Iterable

SAYS_ALL = ("ENOMEM", "EFAULT")
_CAUSES = (*SAYS_ALL, "EPERM")


def untold(cause: str) -> tuple[str, ...]:
    """The errnos of a driver that does not pass `cause` on."""
    return tuple(errno for errno in SAYS_ALL if errno != cause)


def all_told_by(errno: str, results: Iterable[str]) -> list[str]:
    """`results` as a driver gives them that answers each failure to pin with `errno`."""
    return [errno if result in _CAUSES else result for result in results]
