"""Makes the guest root: Debian packages, Python packages, the project in editable mode."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rdma_lab import suiteinstall
from rdma_lab.building import Order
from rdma_lab.debian import run_strictly_first
from rdma_lab.progress import stage

# Never read in a guest, and costly to unpack.
_UNREAD = ("doc", "man", "locale", "info", "lintian", "i18n", "bug")
_NOT_KEPT = ("var/cache/apt", "var/lib/apt/lists", "usr/lib/udev", "var/cache/debconf")


def build(order: Order, folder: Path) -> None:
    """Fills ``folder`` with root.erofs and busybox."""
    root, wheels = folder / "tree", folder / "wheels"
    with ThreadPoolExecutor() as pool:
        fetched = pool.submit(_fetch_wheels, order, wheels)
        with stage(f"guest root: {len(order.packages)} packages of Debian {order.suite}"):
            _install_packages(order, root)
        fetched.result()
    with stage("guest root: the suite in editable mode, and its Python packages"):
        _install_suite(order, root, wheels)
    with stage("guest root: disk image"):
        suiteinstall.collect_bytecode(root)
        for name in _NOT_KEPT:
            shutil.rmtree(root / name, ignore_errors=True)
        shutil.copy2(root / "usr/bin/busybox", folder / "busybox")
        suiteinstall.run(["mkfs.erofs", "-x-1", str(folder / "root.erofs"), str(root)])
    shutil.rmtree(root)
    shutil.rmtree(wheels)


def _install_packages(order: Order, root: Path) -> None:
    def command(apt_option: str | None) -> list[str]:
        shutil.rmtree(root, ignore_errors=True)
        exclude = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _UNREAD]
        return [
            "mmdebstrap",
            "--mode=root",
            "--variant=minbase",
            "--architectures=amd64",
            "--dpkgopt=force-unsafe-io",
            *exclude,
            *([f"--aptopt={apt_option}"] if apt_option else []),
            f"--include={','.join(order.packages)}",
            order.suite,
            str(root),
            *([order.mirror] if order.mirror else []),
        ]

    run_strictly_first("making the guest root", command)


def _fetch_wheels(order: Order, wheels: Path) -> None:
    with stage("guest root: Python packages"):
        suiteinstall.fetch_wheels(order.pip, Path(order.checkout), wheels)


def _install_suite(order: Order, root: Path, wheels: Path) -> None:
    suite, inside = root / "suite", root / "wheels"
    suiteinstall.lay_out_stand_in(Path(order.checkout), suite)
    shutil.copytree(wheels, inside)
    suiteinstall.install("/wheels", suiteinstall.pip_wheel(wheels), ["chroot", str(root)])
    shutil.rmtree(inside)
    shutil.rmtree(suite)
    suite.mkdir()
