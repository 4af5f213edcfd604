"""The tools that the lab needs on this machine, and the packages that bring them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rdma_lab.debian import KEYRING
from rdma_lab.errors import HostNeedsPackages, LabError
from rdma_lab.progress import say


@dataclass(frozen=True)
class Tool:
    """A command or file, the Debian package that has it, and what it is for."""

    name: str
    package: str
    purpose: str


RUN = (Tool("qemu-system-x86_64", "qemu-system-x86", "runs the guest"),)
BUILD = (
    Tool("mmdebstrap", "mmdebstrap", "makes the guest root"),
    Tool("apt-get", "apt", "fetches the guest's packages"),
    Tool("dpkg-deb", "dpkg", "unpacks the guest's kernel"),
    Tool("mkfs.erofs", "erofs-utils", "makes the guest root's disk image"),
    Tool("depmod", "kmod", "lists the guest kernel's modules"),
    Tool("zstd", "zstd", "unpacks the guest's kernel image"),
    Tool("unshare", "util-linux", "keeps the build's mounts and processes together"),
    Tool(str(KEYRING), "debian-archive-keyring", "checks the signatures of Debian's packages"),
)
PIP = Tool("pip", "python3-pip", "fetches the Python packages that Debian does not have")
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


def is_there(tool: Tool) -> bool:
    """Whether a tool is installed, also where it is not on a user's PATH."""
    if tool.name.startswith("/"):
        return Path(tool.name).exists()
    if tool is PIP:
        return pip_command() is not None
    return shutil.which(tool.name, path=f"{os.environ.get('PATH', os.defpath)}:{_SBIN}") is not None


def pip_command() -> list[str] | None:
    """How to call pip: this Python's own, or the system's."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        done = subprocess.run(
            [python, "-m", "pip", "--version"], capture_output=True, check=False, cwd="/"
        )
        if done.returncode == 0:
            return [python, "-m", "pip"]
    return None


def provide(tools: tuple[Tool, ...]) -> None:
    """Installs what is missing with apt, saying what and why.

    Raises HostNeedsPackages on machines where it can't.
    """
    missing = [tool for tool in tools if not is_there(tool)]
    if not missing:
        return
    wanted = "\n".join(f"  {tool.package:24} {tool.purpose}" for tool in missing)
    packages = [tool.package for tool in missing]
    if not shutil.which("apt-get"):
        raise HostNeedsPackages(
            f"this machine lacks tools and has no apt-get: install what Debian calls\n{wanted}"
        )
    before = as_root()
    say("installing packages that the lab needs on this machine:")
    print(wanted, file=sys.stderr, flush=True)
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    environment = ["env", "DEBIAN_FRONTEND=noninteractive"]
    for command in (["apt-get", "update", "-q"], install):
        done = subprocess.run(
            [*before, *environment, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.strip().splitlines()[-8:])
        raise HostNeedsPackages(
            f"apt-get could not install {' '.join(packages)}; install them yourself:\n{tail}"
        )


def as_root() -> list[str]:
    """The words before a command that needs root: none for root, else sudo."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        return ["sudo"]
    raise LabError("this step needs root: run lab/run as root once, or install sudo")
