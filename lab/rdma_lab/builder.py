"""Builds the guest root and kernel. Runs as root, first process of its process namespace."""

from __future__ import annotations

import json
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rdma_lab import kernelbuild, rootbuild
from rdma_lab.building import Order
from rdma_lab.cache import Cache, clear_temporary, forget_old, put_in_place
from rdma_lab.errors import LabError
from rdma_lab.progress import say


def main(arguments: list[str]) -> int:
    """Carries out the order in the first argument; exit status 0, or 1 with a message."""
    order = Order(**json.loads(arguments[0]))
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    # Temporary files of the tools lie where the next build removes them if this one is killed.
    cache = Cache(Path(order.cache))
    clear_temporary(cache)
    os.environ["TMPDIR"] = str(cache.temporary)
    try:
        with ThreadPoolExecutor() as pool:
            parts = []
            if order.root:
                parts.append(pool.submit(_root, order, cache))
            if order.kernel:
                parts.append(pool.submit(_kernel, order, cache))
            errors = [error for part in parts if (error := part.exception())]
    finally:
        shutil.rmtree(cache.temporary, ignore_errors=True)
        forget_old(cache)
        _give(Path(order.cache), order.owner)
    for error in errors:
        if not isinstance(error, LabError | OSError):
            raise error
        say(str(error))
    return 1 if errors else 0


def _root(order: Order, cache: Cache) -> None:
    folder = cache.temporary / "root"
    folder.mkdir()
    rootbuild.build(order, folder)
    put_in_place(folder, cache.root(order.root))


def _kernel(order: Order, cache: Cache) -> None:
    folder = cache.temporary / "kernel"
    folder.mkdir()
    kernel = kernelbuild.build(order, cache.package_index, folder)
    put_in_place(folder, cache.kernel(kernel.release, order.kernel_key))


def _give(folder: Path, owner: list[int]) -> None:
    """Makes the cache the asking user's, when that is not root."""
    if owner[0] == 0:
        return
    for parent, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            os.chown(Path(parent) / name, *owner, follow_symlinks=False)


def _end_with_the_asker() -> None:
    """Ends this process, and with it its namespace, when the asking process has gone."""
    while os.read(0, 1):
        pass
    os._exit(1)
