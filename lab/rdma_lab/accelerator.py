"""Chooses KVM only where a guest really comes up on it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from rdma_lab.death import dying_with_parent

PROBE_SECONDS = 10.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def choose(memory_of_probes: Path, kernel: Path, device: Path = Path("/dev/kvm")) -> str:
    """"kvm" or "tcg". The answer is kept in the file ``memory_of_probes`` for this host's boot.

    ``kernel`` is the image that the probe boots.
    """
    if not os.access(device, os.R_OK | os.W_OK):
        return "tcg"
    asked = {"boot": _BOOT_ID.read_text().strip(), "user": os.geteuid()}
    if (answer := _remembered(memory_of_probes, asked)) is None:
        answer = kvm_boots(kernel)
        _remember(memory_of_probes, asked | {"kvm": answer})
    return "kvm" if answer else "tcg"


def kvm_boots(kernel: Path, seconds: float = PROBE_SECONDS) -> bool:
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
            preexec_fn=dying_with_parent(),  # noqa: PLW1509 - no threads run here
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
