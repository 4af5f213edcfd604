"""Finds the guest root and kernel in the cache, or has them built."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from rdma_lab import cache as caching
from rdma_lab import hostpackages, kernels
from rdma_lab.aptsources import host_mirror
from rdma_lab.building import LAB, Order, build
from rdma_lab.cache import Cache
from rdma_lab.errors import LabError
from rdma_lab.kernels import KernelPackage
from rdma_lab.options import Options
from rdma_lab.progress import say

_ROOT_SOURCES = ("rootbuild.py", "suiteinstall.py")
_KERNEL_SOURCES = ("kernelbuild.py", "modules.py", "vmlinux.py")


@dataclass(frozen=True)
class Prepared:
    """What a boot needs from the cache."""

    root: Path
    kernel: KernelPackage
    kernel_folder: Path
    bytecode: Path


def package_list(text: str) -> list[str]:
    """The names in the package list: one a line, # begins a comment."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def cached_kernel(request: str | None, cached: list[KernelPackage]) -> KernelPackage | None:
    """The newest cached kernel that ``request`` means, or None."""
    if request is None:
        fitting = [kernel for kernel in cached if kernel.suite == kernels.DEFAULT_SUITE]
    else:
        fitting = [k for k in cached if kernels.matches(request, k.release, k.version)]
    return max(fitting, key=lambda k: kernels.version_key(k.version), default=None)


def names_of_built() -> tuple[str, str]:
    """The cache keys of this checkout's guest root and kernel."""
    root_key = caching.root_key(
        package_list((LAB / "packages").read_text()),
        (LAB.parent / "pyproject.toml").read_text(),
        kernels.DEFAULT_SUITE,
        [_source(name) for name in _ROOT_SOURCES],
    )
    return root_key, caching.digest([_source(name) for name in _KERNEL_SOURCES])


def kernel_order(cache: Cache, mirror: str | None = None, request: str | None = None) -> Order:
    """The order for a kernel alone, from ``mirror`` or this machine's own."""
    return Order(
        cache=str(cache.folder),
        checkout=str(LAB.parent),
        mirror=mirror or host_mirror() or "",
        suite=kernels.DEFAULT_SUITE,
        packages=package_list((LAB / "packages").read_text()),
        root="",
        kernel=True,
        kernel_request=request,
        kernel_key=names_of_built()[1],
        pip=[],
        owner=[0, 0],
    )


def prepare(options: Options, cache: Cache, owner: tuple[int, int]) -> Prepared:
    """What ``options`` asks for, built first when the cache lacks it.

    ``owner`` is the (uid, gid) that the cache belongs to.
    """
    key, kernel_key = names_of_built()

    def missing() -> tuple[bool, bool]:
        has_root = (cache.root(key) / "root.erofs").exists()
        return not has_root, cached_kernel(options.kernel, cache.kernels(kernel_key)) is None

    root_there = not missing()[0]
    if options.rebuild or any(missing()):
        hostpackages.provide((*hostpackages.BUILD, *hostpackages.RUN, hostpackages.PIP))
        with caching.building(cache):
            # Another run may have built it while this one waited.
            needs_root, needs_kernel = (True, True) if options.rebuild else missing()
            if needs_root or needs_kernel:
                say(f"building in {cache.folder} (once; cached from then on)")
                order = replace(
                    kernel_order(cache, options.mirror, options.kernel),
                    root=key if needs_root else "",
                    kernel=needs_kernel,
                    pip=hostpackages.pip_command() or [],
                    owner=list(owner),
                )
                build(order)
    kernel = cached_kernel(options.kernel, cache.kernels(kernel_key))
    if kernel is None:
        raise LabError(f"{cache.folder} lost the kernel that was built: is it on a full disk?")
    root, kernel_folder = cache.root(key), cache.kernel(kernel.release, kernel_key)
    for used in (root, kernel_folder):
        caching.mark_used(used)
    bytecode = cache.bytecode(key)
    bytecode.mkdir(parents=True, exist_ok=True)
    os.chown(bytecode, *owner)
    say(f"guest root {key} ({'cached' if root_there and not options.rebuild else 'built'})")
    return Prepared(root, kernel, kernel_folder, bytecode)


def _source(name: str) -> bytes:
    return (Path(__file__).parent / name).read_bytes()
