"""Reading sysfs, on trees made here: what a device is, and which driver it has."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from rdma_conformance.device import describe, list_devices, plain, restore

ZERO = "0000:0000:0000:0000:0000:0000:0000:0000"
MAPPED = "0000:0000:0000:0000:0000:ffff:c000:0201"
LOCAL = "fe80:0000:0000:0000:0000:00ff:fe00:0001"


def make_device(
    root: Path,
    name: str,
    files: Mapping[str, str],
    gids: tuple[tuple[str, str | None, str | None], ...] = (),
    state: str = "4: ACTIVE",
) -> Path:
    folder = root / name
    port = folder / "ports" / "1"
    for each in ("gids", "gid_attrs/types", "gid_attrs/ndevs"):
        (port / each).mkdir(parents=True)
    (folder / "node_guid").write_text("0000:0000:0000:0001\n")
    (folder / "node_type").write_text("1: CA\n")
    (port / "state").write_text(state + "\n")
    (port / "link_layer").write_text("Ethernet\n")
    (port / "rate").write_text("10 Gb/sec (1X FDR10)\n")
    for index, (address, kind, netdev) in enumerate(gids):
        (port / "gids" / str(index)).write_text(address + "\n")
        if kind is not None:
            (port / "gid_attrs" / "types" / str(index)).write_text(kind + "\n")
        if netdev is not None:
            (port / "gid_attrs" / "ndevs" / str(index)).write_text(netdev + "\n")
    for file, text in files.items():
        (folder / file).write_text(text + "\n")
    return folder


def give_driver(folder: Path, module: str) -> None:
    driver = folder / "device" / "driver"
    driver.mkdir(parents=True)
    there = folder.parent.parent / "module" / module
    there.mkdir(parents=True)
    (driver / "module").symlink_to(there)


def test_no_rdma_on_the_host(tmp_path):
    assert list_devices(tmp_path / "infiniband") == ()
    assert describe(()).startswith("no RDMA device on this host (--setup-rxe makes two")


def test_a_device_with_its_ports_and_gids(tmp_path):
    gids = (
        (LOCAL, "RoCE v1", "eth0"),
        (LOCAL, "RoCE v2", "eth0"),
        (ZERO, None, None),
        (MAPPED, "RoCE v2", "eth0"),
    )
    folder = make_device(tmp_path / "ib", "mlx5_0", {"fw_ver": "1.2", "board_id": "B"}, gids)
    give_driver(folder, "mlx5_core")
    (device,) = list_devices(tmp_path / "ib")
    assert (device.name, device.driver, device.fw_ver) == ("mlx5_0", "mlx5_core", "1.2")
    port = device.port(1)
    assert (port.state, port.link_layer) == ("ACTIVE", "Ethernet")
    assert [gid.index for gid in port.gids] == [0, 1, 3]
    assert port.gids[2].text == "::ffff:192.0.2.1"
    assert device.port(2) is None
    assert "GID 3: ::ffff:192.0.2.1, RoCE v2, eth0" in describe((device,))


@pytest.mark.parametrize(
    ("files", "module", "driver"),
    [
        ({"parent": "eth0"}, None, "rdma_rxe"),
        ({"parent": "eth0"}, "ixgbe", "rdma_rxe"),  # old rxe: its card's driver is not its own
        ({"node_type": "4: RNIC"}, None, "siw"),
        ({"node_type": "4: RNIC"}, "irdma", "irdma"),
        ({}, None, "unknown"),
    ],
)
def test_the_driver(tmp_path, files, module, driver):
    folder = make_device(tmp_path / "ib", "dev0", files)
    if module:
        give_driver(folder, module)
    assert list_devices(tmp_path / "ib")[0].driver == driver


def test_devices_come_by_name(tmp_path):
    for name in ("rxe1", "rxe0"):
        make_device(tmp_path, name, {"parent": name})
    assert [device.name for device in list_devices(tmp_path)] == ["rxe0", "rxe1"]


def test_a_device_that_goes_away_is_left_out(tmp_path):
    make_device(tmp_path, "rxe0", {})
    gone = make_device(tmp_path, "rxe1", {})
    (gone / "node_guid").unlink()
    assert [device.name for device in list_devices(tmp_path)] == ["rxe0"]


def test_a_device_survives_the_way_between_hosts(tmp_path):
    make_device(tmp_path, "rxe0", {"parent": "eth0"}, ((MAPPED, "RoCE v2", "eth0"),))
    (device,) = list_devices(tmp_path)
    assert restore(plain(device)) == device
