"""What a fabric says of itself: the device under test, how the ends meet, what both claim."""

import os
from typing import Any

from conformance.spec.model import Capabilities
from rdma_conformance.device import DeviceInfo, Gid
from rdma_conformance.fabric.namespaces import home_of
from rdma_conformance.fabric.planning import Plan


def identity(
    device: DeviceInfo, own: Gid, attributes: dict[str, Any], mtu: int, link_layer: str
) -> dict[str, Any]:
    """The device under test as a run's header has it; `attributes` as the worker read them."""
    return {
        "device": device.name,
        "driver": device.driver,
        "kernel": os.uname().release,
        "rdma_core": attributes["libibverbs"],
        "pyverbs": attributes["pyverbs"],
        "firmware": attributes["fw_ver"] or device.fw_ver,
        "board_id": device.board_id,
        "vendor_id": attributes["vendor_id"],
        "part_id": attributes["part_id"],
        "node_guid": device.node_guid,
        "link_layer": link_layer,
        "gid_type": own.type if link_layer == "Ethernet" else None,
        "gid": own.text,
        "mtu": mtu,
        "transport": "rc",
    }


def description(plan: Plan, mtu: int, port: int) -> str:
    """How the ends meet, in one line."""
    peer = plan.peer
    if plan.loopback:
        ends = f"{plan.device.name}, loopback"
    else:
        ours = plan.device.name + _where(home_of(plan.device, port))
        theirs = peer.device + _where(peer.netns or home_of(plan.peer_info, port))
        if peer.ssh:
            theirs = f"{peer.device} (host {peer.ssh})"
        ends = f"{ours} <-> {theirs}"
    return f"{ends}, GID {plan.gids[0].text}, MTU {mtu}"


def _where(namespace: str | None) -> str:
    return f" (netns {namespace})" if namespace else ""


def common(ours: dict[str, Any], theirs: dict[str, Any], peer: str) -> Capabilities:
    """What both ends claim: either may be the one that has to keep a claim."""
    claims = {name: how for name, how in ours["claims"].items() if name in theirs["claims"]}
    denials = {name: f"{peer}: {how}" for name, how in theirs["denials"].items()}
    return Capabilities(claims, {**denials, **ours["denials"]})
