"""Fills the lab's cache while the container image is built: its guest is the image's own root.

So the image and the guest that it boots are one environment, and running it needs no network.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from rdma_lab import kernelbuild, suiteinstall
from rdma_lab.building import LAB
from rdma_lab.cache import Cache, put_in_place
from rdma_lab.errors import LabError
from rdma_lab.prepared import kernel_order, names_of_built
from rdma_lab.progress import say, stage

WHEELS = Path("/wheels")
# Of no use in the guest: what a kernel makes or mounts, and what runs or builds the guest.
_LEFT_OUT = (
    r"^(proc|sys|dev|run|tmp|suite|wheels|boot|var/tmp|var/lib/apt/lists|var/cache/apt)/.*",
    r"^var/lib/rdma-conformance.*",
    r"^usr/share/(qemu|seabios|doc|man|locale|info|lintian)/.*",
    r"^usr/bin/qemu-.*",
    r"^usr/lib/(x86_64-linux-gnu/qemu|ipxe|udev)/.*",
)


def main(pip_options: list[str]) -> int:
    """Builds in the image; ``pip_options`` are for the fetching pip. Exit status 0 or 1."""
    try:
        _build(Cache(Path(os.environ["RDMA_CONFORMANCE_CACHE"])), pip_options)
    except LabError as error:
        say(f"failed: {error}")
        return 1
    return 0


def _build(cache: Cache, pip_options: list[str]) -> None:
    if Path("/suite") != LAB.parent:
        raise LabError(f"the image's checkout belongs at /suite, this one is at {LAB.parent}")
    wheels = WHEELS
    if not any(wheels.glob("*.whl")):
        wheels = cache.temporary / "wheels"
        with stage("Python packages"):
            _fetch_wheels(wheels, pip_options)
    with stage("the suite in editable mode"):
        suiteinstall.install(str(wheels), suiteinstall.pip_wheel(wheels), [])
        suiteinstall.collect_bytecode(Path("/"))
    root_key, kernel_key = names_of_built()

    folder = cache.temporary / "root"
    folder.mkdir(parents=True)
    with stage("guest root: disk image"):
        left_out = [f"--exclude-regex={pattern}" for pattern in _LEFT_OUT]
        suiteinstall.run(["mkfs.erofs", "-x-1", *left_out, str(folder / "root.erofs"), "/"])
        shutil.copy2("/usr/bin/busybox", folder / "busybox")
    put_in_place(folder, cache.root(root_key))

    folder = cache.temporary / "kernel"
    folder.mkdir()
    kernel = kernelbuild.build(kernel_order(cache), cache.package_index, folder)
    put_in_place(folder, cache.kernel(kernel.release, kernel_key))
    for left in (cache.temporary, cache.package_index):
        shutil.rmtree(left, ignore_errors=True)


def _fetch_wheels(wheels: Path, pip_options: list[str]) -> None:
    venv = wheels.with_name("venv")
    suiteinstall.run([sys.executable, "-m", "venv", str(venv)])
    pip = [str(venv / "bin" / "python"), "-m", "pip", *pip_options]
    suiteinstall.fetch_wheels(pip, LAB.parent, wheels)
    shutil.rmtree(venv)
