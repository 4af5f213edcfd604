"""What must be true before a device can be opened; every error names its mend."""

import os
from pathlib import Path

from rdma_conformance.device import DeviceInfo, Port, list_devices
from rdma_conformance.fabric.namespaces import HERE, NAMED, namespace_of, netdev_of
from rdma_conformance.fabric.settings import FabricError

VERBS = Path("/sys/class/infiniband_verbs")
NODES = Path("/dev/infiniband")


def host() -> None:
    """Whether this process sees what it has to read."""
    for path, kind in (("/proc/self/fd", "proc"), ("/sys/class", "sysfs")):
        if not Path(path).is_dir():
            mount = "/" + path.split("/")[1]
            raise FabricError(f"{mount} is not here", f"mount it: mount -t {kind} {kind} {mount}")


def find(name: str, devices: tuple[DeviceInfo, ...]) -> DeviceInfo:
    """The device of that name."""
    for device in devices:
        if device.name == name:
            return device
    if devices:
        mend = "this host has " + ", ".join(device.name for device in devices)
    else:
        mend = (
            "this host has no RDMA device; load its driver (for rxe: modprobe rdma_rxe, then "
            "--setup-rxe), or use lab/run for a VM with a real rxe"
        )
    if spaces := sorted(each.name for each in NAMED.glob("*")):
        mend += (
            f". If it is in a network namespace ({', '.join(spaces)}) and `rdma system` says "
            "exclusive, it is seen only there: ip netns exec NAMESPACE pytest ..."
        )
    raise FabricError(f"there is no RDMA device {name}", mend)


def find_here(name: str) -> DeviceInfo:
    """The device of that name on this host, as far as this network namespace shows it."""
    return find(name, list_devices())


def namespace(name: str | None) -> None:
    """Whether there is a network namespace of that name; None is this process's own."""
    if name is None or (NAMED / name).exists():
        return
    there = ", ".join(sorted(each.name for each in NAMED.glob("*"))) or "none"
    raise FabricError(f"there is no network namespace {name}", f"`ip netns` shows {there}")


def active_port(info: DeviceInfo, number: int) -> Port:
    """The port, if traffic can pass through it."""
    port = info.port(number)
    if port is None:
        there = ", ".join(str(each.number) for each in info.ports)
        raise FabricError(f"{info.name} has no port {number}", f"it has {there}: see --port")
    if info.node_type == "RNIC":
        raise FabricError(
            f"{info.name} is an iWARP device, which connects through rdma_cm only",
            "this suite can't connect it yet: choose an InfiniBand or RoCE device",
        )
    if port.state != "ACTIVE":
        message = f"port {number} of {info.name} is {port.state}, not ACTIVE"
        raise FabricError(message, _raise_port(info, port))
    return port


def _raise_port(info: DeviceInfo, port: Port) -> str:
    if port.link_layer != "Ethernet":
        return "see that it is cabled and that a subnet manager runs (opensm)"
    netdev = netdev_of(info, port.number)
    place = namespace_of(netdev)
    inside = f"-n {place} " if place not in (HERE, None) else ""
    return f"ip {inside}link set dev {netdev or 'NETDEV'} up (and see that its link has a carrier)"


def may_open(name: str, verbs: Path = VERBS, nodes: Path = NODES) -> None:
    """Whether this process may open the device's node."""
    node = None
    if verbs.is_dir():
        for entry in verbs.glob("uverbs*"):
            if (entry / "ibdev").read_text().strip() == name:
                node = nodes / entry.name
    if node is None:
        raise FabricError(f"{name} has no node for user space", "load it: modprobe ib_uverbs")
    if not node.exists():
        raise FabricError(
            f"{node} is missing, though the kernel has it",
            "give this container the device (--device /dev/infiniband), or start udev",
        )
    if not os.access(node, os.R_OK | os.W_OK):
        raise FabricError(
            f"no permission to open {node}",
            f"run as root, join its group ({_group(node)}), or let a udev rule set MODE=0666 "
            "for SUBSYSTEM infiniband_verbs",
        )


def policy(error: str) -> str:
    """The mend for a call that was refused although the device's node may be opened."""
    # Refused the node's path, libibverbs looks for it elsewhere, and does not find it.
    opening = error.startswith("ibv_open_device") and error.endswith("ENOENT")
    if not opening and not error.endswith(("EACCES", "EPERM")):
        return ""
    return (
        "the device's node may be opened, so that a policy must refuse it: SELinux, AppArmor or "
        "seccomp (ausearch -m avc, journalctl -k), a container's device rules, or a file system "
        "mounted nodev"
    )


def _group(node: Path) -> str:
    try:
        return node.group()
    except KeyError:
        return str(node.stat().st_gid)
