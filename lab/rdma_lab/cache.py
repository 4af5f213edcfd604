"""Where built things are kept: complete or not at all, and shared by runs at the same time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from rdma_lab.kernels import KernelPackage
from rdma_lab.progress import say

_KEY_LENGTH = 12
_ROOTS_KEPT = 3
_KERNELS_KEPT = 6


@dataclass(frozen=True)
class Cache:
    """The folder ``folder`` and the names in it."""

    folder: Path

    @property
    def temporary(self) -> Path:
        return self.folder / "building"

    @property
    def package_index(self) -> Path:
        return self.folder / "package-index"

    @property
    def kvm_probe(self) -> Path:
        return self.folder / "kvm.json"

    def root(self, key: str) -> Path:
        return self.folder / "roots" / key

    def kernel(self, release: str, key: str) -> Path:
        return self.folder / "kernels" / f"{release}.{key}"

    def bytecode(self, key: str) -> Path:
        return self.folder / "bytecode" / key

    def kernels(self, key: str) -> list[KernelPackage]:
        """The kernels that are there, complete."""
        found = []
        for file in sorted(self.folder.glob(f"kernels/*.{key}/kernel.json")):
            found.append(KernelPackage(**json.loads(file.read_text())))
        return found


def choose_folder(option: Path | None, environment: Mapping[str, str], home: Path) -> Path:
    """The cache's folder: the option, RDMA_CONFORMANCE_CACHE, or the user's cache folder."""
    if option:
        return option.absolute()
    if given := environment.get("RDMA_CONFORMANCE_CACHE"):
        return Path(given).absolute()
    base = environment.get("XDG_CACHE_HOME") or home / ".cache"
    return Path(base) / "rdma-conformance" / "lab"


def root_key(packages: list[str], pyproject: str, suite: str, sources: list[bytes]) -> str:
    """The name of a guest root's content.

    ``pyproject`` is the text of pyproject.toml, of which only what an installation sees counts;
    ``sources`` are the files that say how the root is built.
    """
    project = tomllib.loads(pyproject)
    installed = {
        "build": project.get("build-system"),
        "setuptools": project.get("tool", {}).get("setuptools"),
        "project": {
            name: project.get("project", {}).get(name)
            for name in ("name", "version", "dependencies", "entry-points", "scripts")
        },
    }
    text = json.dumps([sorted(packages), installed, suite], sort_keys=True)
    return digest([text.encode(), *sources])


def digest(parts: list[bytes]) -> str:
    """A short name for the content of ``parts``."""
    state = hashlib.sha256()
    for part in parts:
        state.update(len(part).to_bytes(8, "big") + part)
    return state.hexdigest()[:_KEY_LENGTH]


@contextmanager
def building(cache: Cache) -> Iterator[None]:
    """Held by the one run that builds; the others wait for it, and say so."""
    cache.folder.mkdir(parents=True, exist_ok=True)
    with (cache.folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another lab/run is building: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def clear_temporary(cache: Cache) -> None:
    """Removes what dead builders left; only for the one that is building."""
    shutil.rmtree(cache.temporary, ignore_errors=True)
    cache.temporary.mkdir(parents=True)


def put_in_place(built: Path, place: Path) -> None:
    """Moves a complete folder to its name in one step; an older one of that name goes."""
    place.parent.mkdir(parents=True, exist_ok=True)
    os.sync()
    if place.exists():
        place.rename(built.with_name(f"{built.name}.old"))
    built.rename(place)


def mark_used(folder: Path) -> None:
    """Counts as the newest from now on."""
    os.utime(folder)


def forget_old(cache: Cache) -> None:
    """Keeps the roots and kernels last used; a guest that runs from a removed one can go on."""
    for old in _but_the_newest(cache.folder / "roots", _ROOTS_KEPT):
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(cache.bytecode(old.name), ignore_errors=True)
    for old in _but_the_newest(cache.folder / "kernels", _KERNELS_KEPT):
        shutil.rmtree(old, ignore_errors=True)


def _but_the_newest(folder: Path, kept: int) -> list[Path]:
    return sorted(folder.glob("*"), key=lambda path: path.stat().st_mtime)[:-kept]


def write_kernel(folder: Path, kernel: KernelPackage) -> None:
    (folder / "kernel.json").write_text(json.dumps(asdict(kernel)) + "\n")
