"""Who may use a device at the same time: one case that takes all of it, or any number of others.

The lock is a file, so that it holds across the processes of a distributed run and other runs of
this host.
"""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold(device: str, alone: bool) -> Iterator[None]:
    """Wait until the device can be used, `alone` or with others, and keep it so."""
    path = Path(tempfile.gettempdir()) / f"rdma-conformance-{device}.lock"
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
