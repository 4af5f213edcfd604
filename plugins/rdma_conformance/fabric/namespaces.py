"""Network namespaces: where a device's network interface lives."""

import subprocess
from pathlib import Path

from rdma_conformance.device import DeviceInfo

HERE = ""
NAMED = Path("/run/netns")


def netdev_of(info: DeviceInfo, port: int) -> str | None:
    """The network interface below a port, from its GID table."""
    found = info.port(port)
    gids = found.gids if found else ()
    return next((gid.netdev for gid in gids if gid.netdev), None)


def namespace_of(netdev: str | None) -> str | None:
    """The name of the namespace that `netdev` is in; HERE for this process's own, None unknown."""
    if netdev is None:
        return None
    if (Path("/sys/class/net") / netdev).exists():
        return HERE
    if NAMED.is_dir():
        for entry in sorted(NAMED.iterdir()):
            if _has(entry.name, netdev):
                return entry.name
    return None


def home_of(info: DeviceInfo, port: int) -> str | None:
    """The namespace of the interface below a device's port; HERE or None as `namespace_of`."""
    return namespace_of(netdev_of(info, port))


def _has(namespace: str, netdev: str) -> bool:
    command = ["ip", "-n", namespace, "link", "show", "dev", netdev]
    try:
        return subprocess.run(command, capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
