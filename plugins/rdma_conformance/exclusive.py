"""Who may use a device at the same time: one case that takes all of it, or any number of others.

The lock is on a file of the device in sysfs (flock(2)), so that it holds across the processes of
a distributed run and across runs on this host, and leaves nothing behind.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rdma_conformance.device import SYSFS


@contextmanager
def hold(device: str, alone: bool, root: Path = SYSFS) -> Iterator[None]:
    """Wait until the device can be used, `alone` or with others, and keep it so."""
    path = root / device / "node_guid"
    if not path.exists():  # it is gone: asking it will say so
        yield
        return
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
