"""Chooses KVM only where a guest really comes up on it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from enum import Enum
from pathlib import Path

from rdma_lab.death import dying_with_parent

PROBE_SECONDS = 10.0
_PARALLEL_SINCE = (8, 1)
_DEVICE = Path("/dev/kvm")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Accelerator(Enum):
    """How qemu runs the guest's CPUs; the value of the emulating ones is its option's."""

    KVM = "kvm"
    TCG_PARALLEL = "tcg,thread=multi"
    TCG = "tcg,thread=single"

    @property
    def label(self) -> str:
        return self.value.partition(",")[0].upper()


def choose(memory_of_probes: Path, kernel: Path, user: tuple[int, int] | None) -> Accelerator:
    """KVM if it works, else emulation: parallel where this qemu does that right.

    Whether KVM works is kept in the file ``memory_of_probes`` for this host's boot; ``kernel`` is
    the image that the probe boots, ``user`` the (uid, gid) that qemu gets, None for this one's.
    """
    if os.access(_DEVICE, os.R_OK | os.W_OK):
        asked = {"boot": _BOOT_ID.read_text().strip(), "user": user[0] if user else os.geteuid()}
        if (works := _remembered(memory_of_probes, asked)) is None:
            works = kvm_boots(kernel, user)
            _remember(memory_of_probes, asked | {"kvm": works})
        if works:
            return Accelerator.KVM
    done = subprocess.run(
        ["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=False
    )
    return emulation(done.stdout)


def emulation(version: str) -> Accelerator:
    """Emulation with one host thread a CPU, or one for all, by the text of ``qemu --version``.

    Before 8.1 qemu could run code that another CPU had just changed: with several threads a
    guest kernel, which patches its own code, now and then died of a stray int3.
    """
    found = re.search(r"version (\d+)\.(\d+)", version)
    new = found is not None and (int(found[1]), int(found[2])) >= _PARALLEL_SINCE
    return Accelerator.TCG_PARALLEL if new else Accelerator.TCG


def default_cpus(accelerator: Accelerator, host: int) -> int:
    """Two, but one where one thread runs them all: a second CPU would only slow the first."""
    return 1 if accelerator is Accelerator.TCG else min(2, host)


def kvm_boots(kernel: Path, user: tuple[int, int] | None, seconds: float = PROBE_SECONDS) -> bool:
    """Whether a kernel gets as far as missing its root (and so reboots) on KVM in ``seconds``."""
    command = [
        *("qemu-system-x86_64", "-machine", "pc", "-accel", "kvm", "-cpu", "host"),
        *("-smp", "2", "-m", "512M", "-nodefaults", "-no-user-config", "-display", "none"),
        *("-no-reboot", "-kernel", str(kernel), "-serial", "stdio"),
        *("-append", "console=ttyS0 panic=-1"),
    ]
    try:
        probe = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            preexec_fn=dying_with_parent(user),
        )
    except subprocess.TimeoutExpired:
        return False
    return b"Kernel panic" in probe.stdout


def _remembered(file: Path, asked: dict[str, object]) -> bool | None:
    try:
        kept = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    if any(kept.get(name) != value for name, value in asked.items()):
        return None
    return kept.get("kvm")


def _remember(file: Path, answer: dict[str, object]) -> None:
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    fresh.write_text(json.dumps(answer) + "\n")
    fresh.replace(file)
