"""The RDMA devices of a host, as sysfs shows them: no verb is called, no library needed."""

import re
from dataclasses import asdict, dataclass
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

from rdma_conformance.visible import visible

SYSFS = Path("/sys/class/infiniband")

_NUMBER = re.compile(r"[0-9]{1,9}")
# A GID table can have a thousand entries, filled from its start: so many empty ones end it.
EMPTY_ENTRIES = 32


@dataclass(frozen=True, slots=True)
class Gid:
    """An entry of a port's GID table. `type` is None where the kernel doesn't tell."""

    index: int
    address: IPv6Address
    type: str | None  # "RoCE v1", "RoCE v2", "IB/RoCE v1"
    netdev: str | None

    @property
    def text(self) -> str:
        """The address in short form, an IPv4-mapped one as ::ffff:192.0.2.1."""
        mapped = self.address.ipv4_mapped
        return f"::ffff:{mapped}" if mapped else str(self.address)


@dataclass(frozen=True, slots=True)
class Port:
    number: int
    state: str  # ACTIVE, DOWN, INIT, ARMED
    link_layer: str  # Ethernet or InfiniBand
    rate: str
    gids: tuple[Gid, ...]


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """`driver` is the kernel module; `node_type` is CA, or RNIC for iWARP."""

    name: str
    driver: str
    node_type: str
    node_guid: str
    fw_ver: str
    board_id: str
    ports: tuple[Port, ...]

    def port(self, number: int) -> Port | None:
        return next((port for port in self.ports if port.number == number), None)


def list_devices(root: Path = SYSFS) -> tuple[DeviceInfo, ...]:
    """All devices under `root`, by name. A device that goes away meanwhile is left out."""
    if not root.is_dir():
        return ()
    found = []
    for folder in sorted(root.iterdir()):
        try:
            found.append(_read_device(folder))
        except FileNotFoundError:
            continue
    return tuple(found)


def _read_device(folder: Path) -> DeviceInfo:
    node_type = _text(folder / "node_type").partition(":")[2].strip()
    names = (each.name for each in (folder / "ports").iterdir())
    numbers = sorted(int(name) for name in names if _NUMBER.fullmatch(name))
    return DeviceInfo(
        name=folder.name,
        driver=_driver(folder, node_type),
        node_type=node_type,
        node_guid=_text(folder / "node_guid"),
        fw_ver=_text(folder / "fw_ver", ""),
        board_id=_text(folder / "board_id", ""),
        ports=tuple(_read_port(folder / "ports" / str(number), number) for number in numbers),
    )


def _driver(folder: Path, node_type: str) -> str:
    """The kernel module. A software device has none of its own, or that of the card below it."""
    if (folder / "parent").exists():  # only rxe tells the network device that it runs on
        return "rdma_rxe"
    module = folder / "device" / "driver" / "module"
    if module.exists():
        return module.resolve().name
    return "siw" if node_type == "RNIC" else "unknown"


def _read_port(folder: Path, number: int) -> Port:
    return Port(
        number=number,
        state=_text(folder / "state").partition(":")[2].strip(),
        link_layer=_text(folder / "link_layer", "InfiniBand"),
        rate=_text(folder / "rate", ""),
        gids=tuple(_read_gids(folder)),
    )


def _read_gids(folder: Path) -> list[Gid]:
    found: list[Gid] = []
    index = empty = 0
    while empty < EMPTY_ENTRIES:
        text = _text(folder / "gids" / str(index), "")
        if not text:
            break  # the table's end
        address = _address(text)
        if int(address):
            attributes = folder / "gid_attrs"
            kind = _text(attributes / "types" / str(index), "") or None
            netdev = _text(attributes / "ndevs" / str(index), "") or None
            found.append(Gid(index, address, kind, netdev))
            empty = 0
        else:
            empty += 1
        index += 1
    return found


def _address(text: str) -> IPv6Address:
    """The address of an entry; what is none is as good as an empty one."""
    try:
        return IPv6Address(text)
    except ValueError:
        return IPv6Address(0)


def _text(path: Path, default: str | None = None) -> str:
    """The file's text. Without a `default` a file that is missing raises FileNotFoundError."""
    try:
        return visible(" ".join(path.read_text(errors="replace").split()))
    except FileNotFoundError:
        if default is None:
            raise
        return default
    except OSError:  # an empty entry of gid_attrs answers EINVAL
        return "" if default is None else default


def plain(info: DeviceInfo) -> dict[str, Any]:
    """The device as builtin types, for the way between hosts; `restore` takes it back."""
    found = asdict(info)
    for port in found["ports"]:
        port["gids"] = [{**gid, "address": str(gid["address"])} for gid in port["gids"]]
    return found


def restore(found: dict[str, Any]) -> DeviceInfo:
    ports = []
    for port in found["ports"]:
        gids = (Gid(**{**gid, "address": IPv6Address(gid["address"])}) for gid in port["gids"])
        ports.append(Port(**{**port, "gids": tuple(gids)}))
    return DeviceInfo(**{**found, "ports": tuple(ports)})


def describe(devices: tuple[DeviceInfo, ...]) -> str:
    """The devices for a person: a line each, with a line for every port and GID."""
    if not devices:
        return "no RDMA device on this host (--setup-rxe makes two; lab/run boots a VM with two)"
    lines = []
    for device in devices:
        firmware = f", firmware {device.fw_ver}" if device.fw_ver else ""
        board = f", board {device.board_id}" if device.board_id else ""
        lines.append(f"{device.name}: driver {device.driver}{firmware}{board}")
        for port in device.ports:
            rate = f", {port.rate}" if port.rate else ""
            lines.append(f"  port {port.number}: {port.state}, {port.link_layer}{rate}")
            lines += [f"    GID {gid.index}: {_described(gid)}" for gid in port.gids]
    return "\n".join(lines)


def _described(gid: Gid) -> str:
    return ", ".join(each for each in (gid.text, gid.type, gid.netdev) if each)
