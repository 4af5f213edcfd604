"""What a host shows of itself, whatever it holds: sysfs, the kernel's log, netlink."""

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rdma_conformance import kernel_log
from rdma_conformance.device import describe, list_devices, plain, restore
from rdma_conformance.endpoint import restrack
from rdma_conformance.kernel_trouble import KEPT, LOST, find_trouble

from .mutations import ANY_TEXT, ODD, bounded, damaged, shows_itself

REAL = {
    "node_type": b"1: CA\n",
    "node_guid": b"5054:00ff:fe12:3456\n",
    "fw_ver": b"28.39.1002\n",
    "board_id": b"MT_0000000010\n",
    "ports/1/state": b"4: ACTIVE\n",
    "ports/1/link_layer": b"Ethernet\n",
    "ports/1/rate": b"100 Gb/sec (4X EDR)\n",
    "ports/1/gids/0": b"fe80:0000:0000:0000:5054:00ff:fe12:3456\n",
    "ports/1/gids/1": b"0000:0000:0000:0000:0000:ffff:c000:0201\n",
    "ports/1/gid_attrs/types/1": b"RoCE v2\n",
    "ports/1/gid_attrs/ndevs/1": b"eth0\n",
}


@bounded(120)
@given(st.sampled_from(sorted(REAL)), st.sampled_from(ODD) | st.binary(max_size=40))
def test_sysfs(tmp_path_factory, name, content):
    root = tmp_path_factory.mktemp("sysfs")
    for each, real in REAL.items():
        path = root / "mlx5_0" / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if each == name else real)
    (root / "mlx5_0" / "ports" / "odd").mkdir()
    found = list_devices(root)
    assert [each.name for each in found] == ["mlx5_0"]
    assert shows_itself(describe(found)), ascii(describe(found))
    assert tuple(restore(plain(each)) for each in found) == found


OOPS = (
    b"[  123.456789] BUG: kernel NULL pointer dereference, address: 0000000000000008\n"
    b"[  123.456790] RIP: 0010:rxe_mr_copy+0x1f/0x2b0 [rdma_rxe]\n"
    b"[  123.456791] ---[ end trace 0000000000000000 ]---\n"
    b"[  124.000000] WARNING: CPU: 0 PID: 1 at drivers/infiniband/core/x.c:1 x+0x1/0x2\n"
    b"[  125.000000] INFO: task pytest:1 blocked on a mutex for more than 120 seconds.\n"
)


@bounded(200)
@given(damaged([OOPS, OOPS[:80] * 40]) | st.binary(max_size=200), ANY_TEXT)
@example(b"a: " * 4000, "rdma_rxe")
@example(b"INFO: task " + b"blocked for more than " * 300, "rdma_rxe")
def test_the_kernels_log(content, driver):
    text = content.decode("utf-8", "replace")
    found = find_trouble(text, driver)
    if found is not None:
        assert len(found.lines) <= KEPT
        assert found.says or LOST in "".join(found.lines)


@bounded(200)
@given(damaged([b"6,1234,123456789,-;rdma_rxe: loaded\n SUBSYSTEM=net\n"]) | st.binary(max_size=60))
@example("6,1,²,-;x".encode())
@example(b"6,1," + b"9" * 5000 + b",-;x")
def test_a_record_of_the_kernels_log(record):
    line = kernel_log._line(record)
    assert "\n" not in line
    assert shows_itself(line)


def _attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value.ljust(len(value) + 3 & ~3, b"\0")


ENTRY = _attribute(restrack.ATTR_RES_PID, struct.pack("=I", 77)) + _attribute(
    restrack.ATTR_RES_MRLEN, struct.pack("=Q", 4096)
)
TABLE = _attribute(restrack.KINDS["mr"][1], _attribute(0, ENTRY) * 2)
MESSAGE = struct.pack("=IHHII", 16 + len(TABLE), 1, 0, 0, 0) + TABLE


def regions(body):
    entries = restrack._owners(body, restrack.KINDS["mr"][1])
    return [(pid, restrack._length(entry)) for pid, entry in entries]


def test_the_made_message_is_understood():
    [(kind, body)] = restrack._messages(MESSAGE)
    assert (kind, regions(body)) == (1, [(77, 4096), (77, 4096)])


@bounded(300)
@given(damaged([MESSAGE]) | st.binary(max_size=80))
@example(b"\0" * 64)
@example(MESSAGE[:16] + b"\0" * 32)
def test_netlink(data):
    try:
        for _, body in restrack._messages(data):
            regions(body)
    except OSError as error:
        assert "netlink" in str(error)


@pytest.mark.parametrize("size", range(0, 16, 3))
def test_a_netlink_message_without_a_length_ends_the_reading(size):
    with pytest.raises(OSError, match="netlink"):
        list(restrack._messages(struct.pack("=IHHII", size, 1, 0, 0, 0)))
