"""Which kernel modules the guest takes along, in the order in which they can be loaded."""

from __future__ import annotations

import lzma
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rdma_lab.errors import LabError

# Needed before the root and the checkout can be mounted.
BOOT = (
    "virtio_pci",
    "virtio_console",
    "virtio_blk",
    "erofs",
    "overlay",
    "9pnet_virtio",
    "9p",
)
# Needed for two rxe devices joined by a veth pair.
FABRIC = ("veth", "ib_uverbs", "rdma_ucm", "rdma_rxe")
# Up to kernel 6.18 rxe asks for this checksum, and a guest without udev would not find it.
FABRIC_OPTIONAL = ("crc32_generic",)
# Likewise for the root's file system: up to 6.12 erofs asks for this one.
BOOT_OPTIONAL = ("crc32c_generic",)


@dataclass(frozen=True)
class ModuleTree:
    """The modules of one kernel: name to path below ``folder``, and name to what it needs first."""

    folder: Path
    paths: dict[str, str]
    needs: dict[str, tuple[str, ...]]
    builtin: frozenset[str]


def module_name(path: str) -> str:
    """``kernel/net/9p/9pnet-x.ko.xz`` -> ``9pnet_x``, as the kernel names it."""
    return PurePosixPath(path).name.split(".ko", 1)[0].replace("-", "_")


def parse_tree(folder: Path, modules_dep: str, modules_builtin: str) -> ModuleTree:
    """Reads depmod's ``modules.dep`` and ``modules.builtin`` texts of ``folder``."""
    paths, needs = {}, {}
    for line in modules_dep.splitlines():
        path, _, after = line.partition(":")
        name = module_name(path)
        paths[name] = path
        # depmod lists dependencies with the nearest first; they load in reverse.
        needs[name] = tuple(module_name(item) for item in reversed(after.split()))
    builtin = frozenset(module_name(line) for line in modules_builtin.splitlines())
    return ModuleTree(folder, paths, needs, builtin)


def load_order(tree: ModuleTree, names: tuple[str, ...]) -> tuple[str, ...]:
    """``names`` and what they need, each once, dependencies first; built-in ones left out.

    Raises LabError when the kernel has a module neither as a file nor built in.
    """
    order: dict[str, None] = {}
    for name in names:
        if name in tree.builtin:
            continue
        if name not in tree.paths:
            raise LabError(
                f"the kernel in {tree.folder} has no module {name}: choose another kernel"
                " (lab/run --list-kernels)"
            )
        for item in (*tree.needs[name], name):
            order.setdefault(item)
    return tuple(order)


def available(tree: ModuleTree, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of ``names`` that the kernel has as files."""
    return tuple(name for name in names if name in tree.paths)


def read_module(path: Path) -> bytes:
    """A module's ELF image, decompressed: unpacking xz under emulation would cost the boot.

    Raises LabError for a compression other than none, .xz, .gz and .zst.
    """
    data = path.read_bytes()
    if data.startswith(b"\x7fELF"):
        return data
    if path.suffix == ".xz":
        return lzma.decompress(data)
    tool = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix)
    if tool is None:
        raise LabError(f"{path}: not a kernel module (no ELF file, nor .xz, .gz or .zst)")
    return subprocess.run([tool, "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout


def vermagic(image: bytes) -> str:
    """The ``vermagic`` of a module's ELF image, or "" when it carries none."""
    found = re.search(rb"(?:^|\0)vermagic=([^\0]*)", image)
    return found.group(1).decode().strip() if found else ""


def check_vermagic(path: Path, image: bytes, reference: bytes) -> None:
    """Raises LabError, saying both, when a built module is not for the kernel of ``reference``."""
    built, wanted = vermagic(image), vermagic(reference)
    if built != wanted:
        raise LabError(
            f"{path}: built for kernel '{built or 'unknown'}', the guest runs '{wanted}':"
            " build the module against that kernel's headers, or give --kernel the one it is for"
        )
