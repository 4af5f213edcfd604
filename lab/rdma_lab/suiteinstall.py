"""Puts the suite, in editable mode, and its Python packages into a root folder."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

from rdma_lab.errors import LabError

BYTECODE = "var/cache/pycache"
_PACKAGES = ("conformance", "plugins/rdma_conformance", "reports/rdma_reports")


def fetch_wheels(pip: list[str], checkout: Path, wheels: Path) -> None:
    """Downloads the project's dependencies, and what installs them, with the host's ``pip``.

    The host's pip knows the host's index, certificates and proxies. Only wheels that run on any
    Python and machine are taken: the guest's Python is not the host's. What needs more comes from
    Debian: a dependency NAME for which the package list has python3-NAME is left out.
    """
    project = tomllib.loads((checkout / "pyproject.toml").read_text())
    packaged = (checkout / "lab" / "packages").read_text().split()
    dependencies = [
        each
        for each in project["project"]["dependencies"]
        if f"python3-{re.split('[^A-Za-z0-9-]', each)[0]}" not in packaged
    ]
    wanted = [*dependencies, *project["build-system"]["requires"], "pip"]
    anywhere = ["--only-binary=:all:", "--implementation=py", "--abi=none", "--platform=any"]
    run([*pip, "download", "-q", *anywhere, "-d", str(wheels), *wanted])


def install(wheels: str, pip_wheel: str, before: list[str]) -> None:
    """Installs the project at /suite and what it depends on, without a network.

    ``wheels`` is the folder of the wheels as the installing Python sees it, ``pip_wheel`` the name
    of pip's in it, ``before`` the words that choose the root (chroot DIR, or none).
    """
    environment = ["env", "-i", "PATH=/usr/bin:/usr/sbin", "PIP_CONFIG_FILE=/dev/null"]
    options = ["-q", "--no-index", f"--find-links={wheels}", "--no-cache-dir"]
    options += ["--break-system-packages", "--root-user-action=ignore"]
    pip = ["python3", f"{wheels}/{pip_wheel}/pip", "install", *options]
    run([*before, *environment, *pip, "-e", "/suite"])


def pip_wheel(wheels: Path) -> str:
    """The name of pip's own wheel, which runs as it is."""
    return next(wheels.glob("pip-*.whl")).name


def lay_out_stand_in(checkout: Path, suite: Path) -> None:
    """Makes what an editable installation reads of the checkout: its metadata and its packages."""
    suite.mkdir()
    for name in ("pyproject.toml", "LICENSE", "README.md"):
        shutil.copy(checkout / name, suite)
    for package in _PACKAGES:
        (suite / package).mkdir(parents=True)
        (suite / package / "__init__.py").touch()


def collect_bytecode(root: Path) -> None:
    """Moves each __pycache__ to where PYTHONPYCACHEPREFIX makes Python look for it."""
    prefix = root / BYTECODE
    for cache in [*(root / "usr").rglob("__pycache__")]:
        place = prefix / cache.parent.relative_to(root)
        place.mkdir(parents=True, exist_ok=True)
        for file in cache.iterdir():
            shutil.move(file, place / file.name)
        cache.rmdir()
    (prefix / "suite").mkdir(parents=True, exist_ok=True)


def run(command: list[str]) -> None:
    """Runs ``command``; raises LabError with the last of what it said when it fails."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise LabError(f"{command[0]} failed with status {done.returncode}:\n{tail}")
