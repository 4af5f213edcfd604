"""Fetches a Debian kernel and lays it out for a quick boot."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from rdma_lab import kernels, modules, vmlinux
from rdma_lab.building import Order
from rdma_lab.cache import write_kernel
from rdma_lab.debian import PackageIndex, default_mirror
from rdma_lab.errors import LabError
from rdma_lab.kernels import KernelPackage
from rdma_lab.progress import stage
from rdma_lab.suiteinstall import run


def read_index(folder: Path, mirror: str, all_suites: bool) -> tuple[PackageIndex, list]:
    """A mirror's index, brought up to date, and the kernels in it.

    An empty ``mirror`` is mmdebstrap's own default.
    """
    mirror = mirror or default_mirror(kernels.DEFAULT_SUITE)
    suites = kernels.SUITES if all_suites else (kernels.DEFAULT_SUITE,)
    index = PackageIndex(folder / ("all" if all_suites else kernels.DEFAULT_SUITE), mirror, suites)
    index.update()
    names = [n for n in index.names("linux-image-") if kernels.release_of(n)]
    found = [
        KernelPackage(kernels.release_of(name) or "", version, suite)
        for name, version, suite in index.versions(names)
    ]
    return index, found


def build(order: Order, index_folder: Path, folder: Path) -> KernelPackage:
    """Fills ``folder`` with the requested kernel: vmlinux, modules.erofs, modules/, kernel.json."""
    with stage("kernel: package lists"):
        index, found = read_index(index_folder, order.mirror, order.kernel_request is not None)
        kernel = kernels.choose(order.kernel_request, found)
    with stage(f"kernel: {kernel.release} of {kernel.suite}"):
        tree = folder / "tree"
        downloads = folder / "packages"
        downloads.mkdir()
        names = [f"{part}-{kernel.release}" for part in kernels.PARTS]
        versions = index.versions([n for n in names if n in index.names(n)])
        parts = {(name, version) for name, version, _ in versions if version == kernel.version}
        for package in index.download(sorted(parts), downloads):
            run(["dpkg-deb", "-x", str(package), str(tree)])
        _lay_out(kernel, tree, folder)
        shutil.rmtree(downloads)
        shutil.rmtree(tree)
    return kernel


def _lay_out(kernel: KernelPackage, tree: Path, folder: Path) -> None:
    places = (tree / "boot" / f"vmlinuz-{kernel.release}", *tree.glob("**/vmlinuz"))
    image = next((place for place in places if place.is_file()), None)
    if image is None:
        raise LabError(f"the packages of kernel {kernel.release} hold no vmlinuz")
    (folder / "vmlinux").write_bytes(vmlinux.uncompressed(image.read_bytes()) or image.read_bytes())

    # Debian's merged /usr: older packages still say lib/modules.
    base = tree / "usr" if (tree / "usr/lib/modules").is_dir() else tree
    modules_folder = base / "lib/modules" / kernel.release
    if not modules_folder.is_dir():
        raise LabError(
            f"the mirror has no modules for kernel {kernel.release}, only its image: "
            "choose another kernel, --list-kernels shows them"
        )
    (modules_folder / "vmlinuz").unlink(missing_ok=True)
    run(["depmod", "-b", str(base), kernel.release])
    module_tree = modules.parse_tree(
        modules_folder,
        (modules_folder / "modules.dep").read_text(),
        (modules_folder / "modules.builtin").read_text(),
    )
    boot_extra = modules.available(module_tree, modules.BOOT_OPTIONAL)
    fabric_extra = modules.available(module_tree, modules.FABRIC_OPTIONAL)
    boot = modules.load_order(module_tree, (*boot_extra, *modules.BOOT))
    fabric = modules.load_order(module_tree, (*fabric_extra, *modules.FABRIC))
    order = {"boot": boot, "fabric": [name for name in fabric if name not in boot]}
    (folder / "modules").mkdir()
    for name in (*order["boot"], *order["fabric"]):
        data = modules.read_module(modules_folder / module_tree.paths[name])
        (folder / "modules" / f"{name}.ko").write_bytes(data)
    (folder / "modules" / "order.json").write_text(json.dumps(order) + "\n")
    run(["mkfs.erofs", "-x-1", str(folder / "modules.erofs"), str(modules_folder)])
    write_kernel(folder, kernel)
