"""Makes the guest root: Debian packages, Python packages, the project in editable mode."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rdma_lab.building import Order
from rdma_lab.debian import run_strictly_first
from rdma_lab.errors import LabError
from rdma_lab.progress import stage

BYTECODE = "var/cache/pycache"
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
        _install_project(order, root, wheels)
    with stage("guest root: disk image"):
        _collect_bytecode(root)
        for name in _NOT_KEPT:
            shutil.rmtree(root / name, ignore_errors=True)
        shutil.copy2(root / "usr/bin/busybox", folder / "busybox")
        _run(["mkfs.erofs", "-x-1", str(folder / "root.erofs"), str(root)])
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
    """Downloads the project's dependencies, and what installs them, with the host's pip.

    The host's pip knows the host's index, certificates and proxies. Only wheels that run on any
    Python and machine are taken: the guest's Python is not the host's.
    """
    project = tomllib.loads((Path(order.checkout) / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"], "pip"]
    anywhere = ["--only-binary=:all:", "--implementation=py", "--abi=none", "--platform=any"]
    with stage("guest root: Python packages"):
        _run([*order.pip, "download", "-q", *anywhere, "-d", str(wheels), *wanted])


def _install_project(order: Order, root: Path, wheels: Path) -> None:
    """Installs the project without a network, its checkout being at /suite."""
    checkout, suite = Path(order.checkout), root / "suite"
    suite.mkdir()
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        if (checkout / name).is_file():
            shutil.copy(checkout / name, suite)
    # A README that is not written yet is no reason not to build.
    (suite / "README.md").touch()
    for package in ("conformance", "plugins/rdma_conformance", "reports/rdma_reports"):
        (suite / package).mkdir(parents=True)
        (suite / package / "__init__.py").touch()
    shutil.copytree(wheels, root / "wheels")
    pip = next(wheels.glob("pip-*.whl")).name
    install = ["install", "-q", "--no-index", "--find-links=/wheels", "--no-cache-dir"]
    options = ["--break-system-packages", "--root-user-action=ignore"]
    environment = ["env", "-i", "PATH=/usr/bin:/usr/sbin", "PIP_CONFIG_FILE=/dev/null"]
    python = ["python3", f"/wheels/{pip}/pip", *install, *options, "-e", "/suite"]
    _run(["chroot", str(root), *environment, *python])
    shutil.rmtree(root / "wheels")
    shutil.rmtree(suite)
    suite.mkdir()


def _collect_bytecode(root: Path) -> None:
    """Moves each __pycache__ to where PYTHONPYCACHEPREFIX makes Python look for it."""
    prefix = root / BYTECODE
    for cache in [*(root / "usr").rglob("__pycache__")]:
        place = prefix / cache.parent.relative_to(root)
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            for file in cache.iterdir():
                file.rename(place / file.name)
            cache.rmdir()
        else:
            cache.rename(place)
    (prefix / "suite").mkdir(parents=True, exist_ok=True)


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise LabError(f"{command[0]} failed with status {done.returncode}:\n{tail}")
