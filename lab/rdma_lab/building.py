"""Asks for a build, in a process that takes all of its mounts and children with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from rdma_lab.death import dying_with_parent
from rdma_lab.errors import LabError
from rdma_lab.hostpackages import as_root

LAB = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Order:
    """What a build is to make; texts, so that it can go to another process as JSON.

    An empty ``mirror`` is mmdebstrap's own default. An empty ``root`` (a cache key) and a
    ``kernel`` of False leave that part out.
    """

    cache: str
    checkout: str
    mirror: str
    suite: str
    packages: list[str]
    root: str
    kernel: bool
    kernel_request: str | None
    kernel_key: str
    pip: list[str]
    owner: list[int]


def build(order: Order) -> None:
    """Carries out ``order``. Raises LabError when the build failed; it has said why.

    The builder is the first process of a process namespace, with mounts of its own: however it
    or this process ends, nothing stays mounted and no process stays.
    """
    namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    keep = [f"{k}={v}" for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_", "http"))]
    command = [
        *as_root(),
        "env",
        *keep,
        *namespaces,
        sys.executable,
        str(LAB / "build"),
        json.dumps(asdict(order)),
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        preexec_fn=dying_with_parent(),  # noqa: PLW1509 - no thread runs here
    ) as builder:
        # The builder watches its standard input: it ends when this process does.
        status = builder.wait()
    if status != 0:
        raise LabError("the guest could not be built (see above)")
