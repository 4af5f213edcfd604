"""The virtual machine: its archive of first files, and qemu's command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rdma_lab import cpio
from rdma_lab.accelerator import Accelerator
from rdma_lab.job import Job, command_script, settings

_FOLDERS = ("dev", "proc", "sys", "lower", "upper", "root", "lab", "lab/modules", "lab/job")
# Measured under TCG: what a guest without disks, keyboard and secrets need not look for.
_KERNEL_OPTIONS = (
    "console=ttyS0",
    "quiet",
    "panic=-1",
    "mitigations=off",
    "nokaslr",
    "no_timer_check",
    "apparmor=0",
    "audit=0",
    "cryptomgr.notests",
    "random.trust_cpu=on",
    "i8042.nokbd",
    "i8042.noaux",
    "hugepages=32",
)


@dataclass(frozen=True)
class Sockets:
    """Connected sockets, one for each stream of the guest."""

    terminal: int
    control: int
    stdin: int
    stdout: int
    stderr: int


@dataclass(frozen=True)
class Machine:
    """What is booted; paths are host paths, ``memory`` is in MiB, the sockets are file numbers."""

    accelerator: Accelerator
    cpus: int
    memory: int
    kernel: Path
    initramfs: Path
    root: Path
    modules: Path
    checkout: Path
    bytecode: Path
    tickets: Path
    console: Path
    sockets: Sockets


def first_files(
    busybox: bytes, boot: dict[str, bytes], fabric: dict[str, bytes]
) -> list[cpio.Entry]:
    """The part of the initramfs that every run of one kernel shares.

    ``boot`` and ``fabric`` are the modules to load, name to ELF image, in loading order.
    """
    entries = [cpio.directory(name) for name in ("bin", *_FOLDERS)]
    entries.append(cpio.character_device("dev/console", 5, 1))
    entries.append(cpio.regular("bin/busybox", busybox, 0o755))
    for name, image in (boot | fabric).items():
        entries.append(cpio.regular(f"lab/modules/{name}.ko", image))
    order = f"boot_modules='{' '.join(boot)}'\nfabric_modules='{' '.join(fabric)}'\n"
    entries.append(cpio.regular("lab/boot", order.encode()))
    return entries


def run_files(job: Job, scripts: dict[str, bytes]) -> list[cpio.Entry]:
    """The part of the initramfs that belongs to one run; ``scripts`` maps name to text."""
    places = {"init": "init"}  # the others lie in the lab's folder
    entries = [
        cpio.regular(places.get(name, f"lab/{name}"), text, 0o755) for name, text in scripts.items()
    ]
    entries.append(cpio.regular("lab/job/settings", settings(job)))
    entries.append(cpio.regular("lab/job/command", command_script(job), 0o755))
    return entries


def qemu_command(machine: Machine) -> list[str]:
    """qemu's command line for ``machine``."""
    if machine.accelerator is Accelerator.KVM:
        accelerator = ["-accel", "kvm", "-cpu", "host"]
    else:
        accelerator = ["-accel", machine.accelerator.value, "-cpu", "max"]
    return [
        "qemu-system-x86_64",
        *("-name", "rdma-conformance-lab"),
        *("-machine", "pc,usb=off,vmport=off"),
        *accelerator,
        *("-smp", str(machine.cpus), "-m", f"{machine.memory}M"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-kernel", str(machine.kernel), "-initrd", str(machine.initramfs)),
        *("-append", " ".join(_KERNEL_OPTIONS)),
        *("-chardev", f"file,id=serial,path={_escaped(machine.console)},append=on"),
        *("-serial", "chardev:serial"),
        *_disk("root", machine.root),
        *_disk("modules", machine.modules),
        *_shared_folder("suite", machine.checkout),
        *_shared_folder("pycache", machine.bytecode),
        *_shared_folder("tickets", machine.tickets),
        *_ports(machine.sockets),
    ]


def _disk(name: str, image: Path) -> list[str]:
    return [
        "-drive",
        f"if=none,id={name},file={_escaped(image)},format=raw,readonly=on",
        "-device",
        f"virtio-blk-pci,drive={name}",
    ]


def _shared_folder(name: str, folder: Path) -> list[str]:
    options = "security_model=none,multidevs=remap"
    return [
        "-fsdev",
        f"local,id={name},path={_escaped(folder)},{options}",
        "-device",
        f"virtio-9p-pci,fsdev={name},mount_tag={name}",
    ]


def _ports(sockets: Sockets) -> list[str]:
    words = ["-device", "virtio-serial-pci,max_ports=8"]
    ports = ("terminal", "control", "stdin", "stdout", "stderr")
    for number, name in enumerate(ports):
        words += ["-chardev", f"socket,id={name},fd={getattr(sockets, name)}"]
        kind = "virtconsole" if name == "terminal" else "virtserialport"
        words += ["-device", f"{kind},chardev={name},nr={number},name=lab.{name}"]
    return words


def _escaped(path: Path) -> str:
    return str(path).replace(",", ",,")
