"""The choices of a fabric, and that every obstacle names its mend."""

import os
import time
from dataclasses import replace
from ipaddress import IPv6Address

import pytest

from rdma_conformance.device import DeviceInfo, Gid, Port
from rdma_conformance.fabric import (
    checks,
    gid,
    opening,
    planning,
    python,
    setup_rxe,
    telling,
)
from rdma_conformance.fabric.planning import Plan
from rdma_conformance.fabric.settings import FabricError, FabricSettings, Peer, parse_peer


def gids(*rows: tuple[str, str | None]) -> tuple[Gid, ...]:
    return tuple(
        Gid(index, IPv6Address(address), kind, "eth0") for index, (address, kind) in enumerate(rows)
    )


V1, V2 = "IB/RoCE v1", "RoCE v2"
DEVICE = DeviceInfo("rxe0", "rdma_rxe", "CA", "", "", "", (Port(1, "ACTIVE", "Ethernet", "", ()),))


@pytest.mark.parametrize(
    ("ours", "theirs", "chosen"),
    [
        # By type, never by index.
        (
            [("fe80::1", V2), ("::ffff:192.0.2.1", V1), ("::ffff:192.0.2.1", V2)],
            [("::ffff:192.0.2.2", V2), ("fe80::2", V2)],
            (2, 0),
        ),
        # One subnet before the table's order.
        (
            [("::ffff:198.51.100.1", V2), ("::ffff:192.0.2.1", V2)],
            [("::ffff:192.0.2.2", V2)],
            (1, 0),
        ),
        # A routed IPv4 path before IPv6, global IPv6 before link-local.
        (
            [("2001:db8::1", V2), ("::ffff:198.51.100.1", V2)],
            [("2001:db8::2", V2), ("::ffff:192.0.2.2", V2)],
            (1, 1),
        ),
        ([("fe80::1", V2), ("2001:db8::1", V2)], [("fe80::2", V2), ("2001:db8::2", V2)], (1, 1)),
        ([("fe80::1", V2)], [("2001:db8::2", V2), ("fe80::2", V2)], (0, 1)),
        # A kernel that tells no type.
        ([("fe80::1", None)], [("fe80::2", V2)], (0, 0)),
        # Nothing in common.
        ([("fe80::1", V2)], [("::ffff:192.0.2.2", V2)], None),
        ([("::ffff:192.0.2.1", V1)], [("::ffff:192.0.2.2", V1)], None),
        ([], [("fe80::2", V2)], None),
    ],
)
def test_gids_are_chosen_by_type(ours, theirs, chosen):
    found = gid.choose(gids(*ours), gids(*theirs))
    assert (found and (found[0].index, found[1].index)) == chosen


@pytest.mark.parametrize(
    ("mine", "other", "one"),
    [
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", True),
        ("::ffff:192.0.2.1", "::ffff:198.51.100.1", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:1::2", False),
        ("fe80::1", "fe80::2", False),
    ],
)
def test_what_tells_of_one_subnet(mine, other, one):
    (mine,), (other,) = gids((mine, V2)), gids((other, V2))
    assert gid.one_subnet(mine, other) == one


def test_no_device_is_opened_that_a_person_would_not_name(monkeypatch):
    """Without --peer only a neighbour in the same subnet is sent to, and none of another run."""

    def made(name, address, state="ACTIVE", driver="rdma_rxe"):
        port = Port(1, state, "Ethernet", "", gids((address, V2), ("fe80::1", V2)))
        return replace(DEVICE, name=name, driver=driver, ports=(port,))

    homes = {
        "rxe0": (made("rxe0", "::ffff:192.0.2.1"), "left"),
        "rxe00": (made("rxe00", "::ffff:198.51.100.1"), checks.HERE),  # another subnet
        "rxe1": (made("rxe1", "::ffff:192.0.2.3"), f"rdmac-{os.getpid()}-1234-a"),
        "rxe2": (made("rxe2", "::ffff:192.0.2.4"), "left"),  # in the same namespace
        "rxe3": (made("rxe3", "::ffff:192.0.2.5", "DOWN"), "right"),
        "rxe4": (made("rxe4", "::ffff:192.0.2.6", driver="irdma"), "right"),
        "rxe5": (made("rxe5", "::ffff:192.0.2.7"), "right"),  # does not answer
        "rxe6": (made("rxe6", "::ffff:192.0.2.8"), "right"),
    }
    devices = tuple(device for device, _ in homes.values())
    asked = []

    def meet(settings, plan, command):
        asked.append(plan.peer.device)
        if plan.peer.device == "rxe5":
            raise FabricError("no answer", "")

    for module in (opening, planning):
        monkeypatch.setattr(module, "list_devices", lambda: devices)
        monkeypatch.setattr(module, "home_of", lambda device, port: homes[device.name][1])
    monkeypatch.setattr(checks, "may_open", lambda name: None)
    monkeypatch.setattr(opening, "_meet", meet)
    plan, _, note = opening._first_that_meets(FabricSettings("rxe0"), devices[0], "python3")
    assert (plan.peer.device, asked, note) == ("rxe6", ["rxe5", "rxe6"], "")
    devices, asked[:] = devices[:-1], []
    plan, _, note = opening._first_that_meets(FabricSettings("rxe0"), devices[0], "python3")
    assert plan.loopback and asked == ["rxe5", "rxe0"]
    assert note == "; rxe5 was not taken: no answer"


def test_an_infiniband_port_without_a_gid_names_its_mend():
    bare = replace(DEVICE, name="mlx5_0", ports=(Port(1, "ACTIVE", "InfiniBand", "", ()),))
    with pytest.raises(FabricError, match="mlx5_0 has no GID: see that a subnet manager runs"):
        planning.choose_gids(FabricSettings("mlx5_0"), bare, bare)


@pytest.mark.parametrize(
    ("text", "peer"),
    [
        ("loopback", Peer("rxe0")),
        ("rxe1", Peer("rxe1")),
        ("netns=right//rxe1", Peer("rxe1", netns="right")),
        ("ssh=host2//mlx5_0", Peer("mlx5_0", ssh="host2")),
        ("ssh=me@host2//mlx5_0", Peer("mlx5_0", ssh="me@host2")),
    ],
)
def test_peers(text, peer):
    assert parse_peer(text, "rxe0") == peer
    if text != "loopback":
        assert peer.text == text


@pytest.mark.parametrize("text", ["", "netns=right", "ssh=//rxe1", "where//rxe1", "netns=a//b//c"])
def test_a_peer_that_is_not_understood(text):
    with pytest.raises(FabricError, match="give loopback, a device of this host, netns="):
        parse_peer(text, "rxe0")


def test_a_missing_device_names_those_there_are():
    with pytest.raises(FabricError, match="no RDMA device nope: this host has rxe0"):
        checks.find("nope", (DEVICE,))
    with pytest.raises(FabricError, match="modprobe rdma_rxe"):
        checks.find("nope", ())


def test_a_port_that_is_not_there():
    with pytest.raises(FabricError, match="no port 2: it has 1"):
        checks.active_port(DEVICE, 2)


def test_a_port_that_is_down_names_the_command():
    down = Port(1, "DOWN", "Ethernet", "", gids(("fe80::1", V2)))
    with pytest.raises(FabricError, match="is DOWN, not ACTIVE: ip link set dev eth0 up"):
        checks.active_port(replace(DEVICE, ports=(down,)), 1)
    down = Port(1, "INIT", "InfiniBand", "", ())
    with pytest.raises(FabricError, match="opensm"):
        checks.active_port(replace(DEVICE, ports=(down,)), 1)


def test_iwarp_is_refused_clearly():
    with pytest.raises(FabricError, match="iWARP"):
        checks.active_port(replace(DEVICE, node_type="RNIC"), 1)


def node(tmp_path, mode):
    entry = tmp_path / "verbs" / "uverbs0"
    entry.mkdir(parents=True)
    (entry / "ibdev").write_text("rxe0\n")
    nodes = tmp_path / "nodes"
    nodes.mkdir()
    (nodes / "uverbs0").touch(mode)
    return tmp_path / "verbs", nodes


def test_the_node_of_a_device(tmp_path):
    checks.may_open("rxe0", *node(tmp_path, 0o600))
    with pytest.raises(FabricError, match="modprobe ib_uverbs"):
        checks.may_open("rxe1", tmp_path / "verbs", tmp_path / "nodes")
    (tmp_path / "nodes" / "uverbs0").unlink()
    with pytest.raises(FabricError, match="udev"):
        checks.may_open("rxe0", tmp_path / "verbs", tmp_path / "nodes")


def test_a_node_without_permission(tmp_path, monkeypatch):
    # Root may open everything, so the answer of access(2) is played.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(FabricError, match=r"no permission to open .*: run as root, join its group"):
        checks.may_open("rxe0", *node(tmp_path, 0o000))


def test_the_endpoint_python(tmp_path):
    with pytest.raises(FabricError, match="no such file"):
        python.choose(str(tmp_path / "python"))
    spaced = tmp_path / "a python"
    spaced.touch()
    assert python.choose(str(spaced)) == f"'{spaced}'"
    assert "python3-pyverbs" in str(python.no_pyverbs("python3", "No module named pyverbs"))


def test_leftovers_of_dead_owners_only(tmp_path, monkeypatch):
    """A process id above the kernel's limit belongs to nobody; one may belong to another by now."""
    here = setup_rxe.this_process()
    dead = setup_rxe.Owner(2**22 + 1, here.start)
    another = replace(here, start=here.start - 1)
    assert here.lives()
    for owner in (dead, here, another):
        for name in owner.spaces():
            (tmp_path / name).touch()
    (tmp_path / "somebody-elses").touch()
    ran = []
    monkeypatch.setattr(setup_rxe, "NAMED", tmp_path)
    monkeypatch.setattr(setup_rxe, "_run", lambda *arguments: ran.append(arguments))
    setup_rxe.remove_leftovers()
    assert ran == [("down", *another.spaces()), ("down", *dead.spaces())]
    assert dead.spaces() == (f"rdmac-{dead.pid}-{here.start}-a", f"rdmac-{dead.pid}-{here.start}-b")


def test_only_what_both_ends_claim_is_claimed():
    ours = {"claims": {"atomic": "a", "odp": "b"}, "denials": {"atomic_write": "bit 40 is clear"}}
    theirs = {"claims": {"atomic": "c"}, "denials": {"odp": "bit SUPPORT is clear"}}
    found = telling.common(ours, theirs, "rxe1")
    assert found.claims == {"atomic": "a"}
    assert found.why_not("odp") == "rxe1: bit SUPPORT is clear"
    assert found.why_not("atomic_write") == "bit 40 is clear"


def test_a_description_tells_where_the_ends_are(monkeypatch):
    (own,) = gids(("::ffff:192.0.2.1", V2))
    monkeypatch.setattr(telling, "home_of", lambda info, port: "left")
    for peer, ends in (
        (Peer("rxe0"), "rxe0, loopback"),
        (Peer("rxe1"), "rxe0 (netns left) <-> rxe1 (netns left)"),
        (Peer("rxe1", netns="right"), "rxe0 (netns left) <-> rxe1 (netns right)"),
        (Peer("rxe1", ssh="host2"), "rxe0 (netns left) <-> rxe1 (host host2)"),
    ):
        plan = Plan(DEVICE, peer, replace(DEVICE, name="rxe1"), (own, own), True)
        assert telling.description(plan, 1024, 1) == f"{ends}, GID ::ffff:192.0.2.1, MTU 1024"


def test_a_missing_namespace_names_those_there_are(tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "NAMED", tmp_path)
    (tmp_path / "right").touch()
    checks.namespace("right")
    checks.namespace(None)
    with pytest.raises(FabricError, match="no network namespace left: `ip netns` shows right"):
        checks.namespace("left")


@pytest.mark.parametrize(
    "call",
    ["ibv_open_device(rxe0): EACCES", "ibv_open_device(rxe0): ENOENT", "ibv_reg_mr: EPERM"],
)
def test_a_refusal_by_policy_names_where_to_look(call):
    assert "SELinux" in checks.policy(call)


def test_a_refusal_by_the_device_is_no_policys():
    assert checks.policy("ibv_reg_mr: EINVAL") == ""


def test_a_device_in_another_namespace_is_hinted_at(tmp_path, monkeypatch):
    (tmp_path / "left").touch()
    monkeypatch.setattr(checks, "NAMED", tmp_path)
    with pytest.raises(FabricError, match=r"\(left\) and `rdma system` says exclusive"):
        checks.find("rxe0", ())


def test_a_name_that_would_act_on_the_terminal_is_shown():
    with pytest.raises(FabricError) as caught:
        checks.find("rxe0\x1b[2J", (DEVICE,))
    assert "\x1b" not in str(caught.value)


def test_modules_that_are_missing_are_named_and_not_loaded(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(setup_rxe, "_run", lambda *arguments: pytest.fail("the script ran"))
    monkeypatch.setattr(setup_rxe, "RXE", tmp_path / "rxe")
    monkeypatch.setattr(setup_rxe, "VERBS", tmp_path / "verbs")
    mend = "needs the kernel's rdma_rxe and ib_uverbs: load it: modprobe -a rdma_rxe ib_uverbs"
    with pytest.raises(FabricError, match=mend):
        setup_rxe.make()
    (tmp_path / "rxe").mkdir()
    with pytest.raises(FabricError, match="kernel's ib_uverbs: load it: modprobe -a ib_uverbs"):
        setup_rxe.make()


def test_a_setup_that_hangs_comes_to_an_end(monkeypatch, tmp_path):
    script = tmp_path / "hangs"
    script.write_text(f"sleep 60 & echo $! >{tmp_path}/pid; wait\n")
    monkeypatch.setattr(setup_rxe, "SCRIPT", script)
    monkeypatch.setattr(setup_rxe, "STEP_S", 0.5)
    with pytest.raises(FabricError, match=r"rxe-pair up did not end in 0\.5 s.*reboot"):
        setup_rxe._run("up")
    # What it had started has gone with it, or waits to be reaped.
    stat = tmp_path.joinpath("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    deadline = time.monotonic() + 10
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline
