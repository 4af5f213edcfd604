"""Open a fabric: find both devices, choose GIDs, start the workers, see that a SEND arrives."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from conformance.spec.model import Capabilities, Region, Transfer, wire
from conformance.spec.vocabulary import Access, Operation, Status
from rdma_conformance.device import DeviceInfo, Gid, list_devices, restore
from rdma_conformance.endpoint import abi
from rdma_conformance.endpoint.client import (
    START_S,
    Worker,
    WorkerDied,
    WorkerError,
    WorkerHung,
)
from rdma_conformance.fabric import checks, gid, python, setup_rxe
from rdma_conformance.fabric.arrangement import Apart, Arrangement, Place, Together
from rdma_conformance.fabric.fabric import Fabric
from rdma_conformance.fabric.namespaces import namespace_of, netdev_of
from rdma_conformance.fabric.settings import FabricError, FabricSettings, Peer, parse_peer

GREETING_S = 5.0  # longer than the retries of a queue pair whose peer doesn't answer
TROUBLE = (WorkerDied, WorkerHung, WorkerError)


@dataclass(frozen=True, slots=True)
class Plan:
    """Two ends that may be able to meet."""

    device: DeviceInfo
    peer: Peer
    peer_info: DeviceInfo
    gids: tuple[Gid, Gid]
    together: bool


def open_fabric(settings: FabricSettings) -> Fabric:
    """Open the device under test and its peer. Raises FabricError with its mend.

    With `setup_rxe` two namespaces with an rxe device each are made, and removed at the end.
    """
    undo: Callable[[], None] = _nothing
    if settings.setup_rxe:
        made = setup_rxe.make()
        undo = made.remove
        device = settings.device or made.devices[0]
        other = next(each for each in made.devices if each != device)
        settings = replace(settings, device=device, peer=settings.peer or other)
    try:
        return _open(settings, undo)
    except BaseException:
        undo()
        raise


def _nothing() -> None:
    """There is nothing to undo."""


def _open(settings: FabricSettings, undo: Callable[[], None]) -> Fabric:
    if settings.device is None:
        raise FabricError("no device is named", "give --device NAME (see --list-devices)")
    device = checks.find_here(settings.device)
    port = checks.active_port(device, settings.port)
    checks.may_open(device.name)
    command = python.choose(settings.endpoint_python)
    if settings.peer is not None:
        peer = parse_peer(settings.peer, device.name)
        plan = _plan(settings, device, peer, command)
        arrangement = _meet(settings, plan, command)
        note = ""
    else:
        plan, arrangement, note = _first_that_meets(settings, device, command)
    try:
        ours, theirs = arrangement.identify()
    except TROUBLE as error:
        arrangement.close()
        raise FabricError(f"{device.name} can not be queried: {error}", "") from None
    mtu = abi.MTU_BYTES[min(ours["attributes"]["mtu"], theirs["attributes"]["mtu"])]
    return Fabric(
        arrange=lambda: _arrange(settings, plan, command),
        arrangement=arrangement,
        identity=_identity(device, plan.gids[0], ours["attributes"], mtu, port.link_layer),
        description=_description(plan, mtu, port.number) + note,
        capabilities=_common(ours, theirs, plan.peer.text),
        device=device.name,
        peer="loopback" if plan.peer == Peer(device.name) else plan.peer.text,
        undo=undo,
    )


# Planning


def _plan(settings: FabricSettings, device: DeviceInfo, peer: Peer, command: str) -> Plan:
    """How `device` and `peer` would meet; asks the peer's host or namespace about it."""
    here = {each.name: each for each in list_devices()}
    together = peer.ssh is None and peer.device in here
    if together:
        info = here[peer.device]
        checks.may_open(info.name)
    elif peer.ssh is None and peer.netns is None:
        info = checks.find_here(peer.device)  # says that there is none
    else:
        info = _ask_there(settings, peer, command)
    checks.active_port(info, settings.port)
    return Plan(device, peer, info, _gids(settings, device, info), together)


def _ask_there(settings: FabricSettings, peer: Peer, command: str) -> DeviceInfo:
    place = _place_of(peer, settings, 0, command)
    try:
        worker = Worker(place.python, place.ssh)
    except WorkerError as error:
        mend = "see that `ssh HOST python3` works without a password" if peer.ssh else ""
        if "No module named" in str(error):
            mend = f"install rdma-conformance on {peer.ssh}, the same release as here"
        raise FabricError(str(error), mend) from None
    try:
        found = worker.call("device", START_S, name=peer.device)
    except TROUBLE as error:
        raise FabricError(f"--peer {peer.text}: {error}", "") from None
    finally:
        worker.close()
    if found is None:
        where = peer.ssh or f"namespace {peer.netns}"
        raise FabricError(f"{where} has no RDMA device {peer.device}", "see `rdma link` there")
    return restore(found)


def _gids(settings: FabricSettings, device: DeviceInfo, peer: DeviceInfo) -> tuple[Gid, Gid]:
    ours, theirs = device.port(settings.port), peer.port(settings.port)
    if ours.link_layer != theirs.link_layer:
        raise FabricError(
            f"{device.name} is {ours.link_layer}, {peer.name} is {theirs.link_layer}",
            "choose a peer on the same fabric",
        )
    mine = ours.gids
    if settings.gid_index is not None:
        mine = tuple(each for each in mine if each.index == settings.gid_index)
        if not mine:
            there = ", ".join(str(each.index) for each in ours.gids) or "none"
            raise FabricError(
                f"{device.name} has no GID {settings.gid_index}", f"--gid-index: it has {there}"
            )
    if ours.link_layer == "InfiniBand":
        return mine[0], theirs.gids[0]
    chosen = gid.choose(mine, mine if peer == device else theirs.gids)
    if chosen is None:
        netdev = netdev_of(device, settings.port) or "its interface"
        raise FabricError(
            f"{device.name} and {peer.name} have no RoCE v2 GID of the same kind",
            f"give {netdev} an IP address in the peer's subnet (ip address add), "
            "or choose with --gid-index",
        )
    return chosen


# Meeting


def _place_of(peer: Peer, settings: FabricSettings, gid_index: int, command: str) -> Place:
    if peer.ssh:
        return Place(peer.device, settings.port, gid_index, settings.endpoint_python, ssh=peer.ssh)
    if peer.netns:
        command = f"ip netns exec {peer.netns} {command}"
    return Place(peer.device, settings.port, gid_index, command)


def _arrange(settings: FabricSettings, plan: Plan, command: str) -> Arrangement:
    ours, theirs = plan.gids
    requester = Place(plan.device.name, settings.port, ours.index, command)
    if plan.together:
        responder = Place(plan.peer_info.name, settings.port, theirs.index, command)
        return Together(requester, responder, settings.plant)
    responder = _place_of(plan.peer, settings, theirs.index, command)
    return Apart(requester, responder, settings.plant)


def _meet(settings: FabricSettings, plan: Plan, command: str) -> Arrangement:
    """Open both ends and see that a SEND arrives. Raises FabricError."""
    names = f"{plan.device.name} and {plan.peer.text}"
    try:
        arrangement = _arrange(settings, plan, command)
    except WorkerError as error:
        if error.kind == "pyverbs":
            raise python.no_pyverbs(command, str(error)) from None
        raise FabricError(f"{names} can not be opened: {error}", "") from None
    except (WorkerDied, WorkerHung) as error:
        raise FabricError(f"{names} can not be opened: {error}", "") from None
    try:
        [seen] = arrangement.perform([wire(_greeting())], 0, GREETING_S)
        trouble = None if seen["receives"] else f"a SEND ended with {seen['requester']}"
    except TROUBLE as error:
        trouble = str(error)
    except BaseException:
        arrangement.close()
        raise
    if trouble is None and seen["requester"] == Status.SUCCESS.name:
        return arrangement
    arrangement.close()
    raise FabricError(
        f"{names} do not reach each other ({trouble or seen['requester']})",
        f"see that {plan.gids[0].text} and {plan.gids[1].text} reach each other (ping), "
        "choose other GIDs with --gid-index, or ask one device alone: --peer loopback",
    )


def _greeting() -> Transfer:
    return Transfer(Operation.SEND, remote=Region(Access.LOCAL_WRITE), qp_access=Access.LOCAL_WRITE)


def _first_that_meets(
    settings: FabricSettings, device: DeviceInfo, command: str
) -> tuple[Plan, Arrangement, str]:
    """A device of the same driver in another namespace that answers, else loopback."""
    own = _home(device, settings.port)
    note = ""
    for other in list_devices():
        if other.name == device.name or other.driver != device.driver:
            continue
        port = other.port(settings.port)
        if port is None or port.state != "ACTIVE" or _home(other, settings.port) in (own, None):
            continue
        try:
            plan = _plan(settings, device, Peer(other.name), command)
            return plan, _meet(settings, plan, command), ""
        except FabricError as error:
            if own is None:
                raise
            note = f"; {other.name} was not taken: {error.message}"
    plan = _plan(settings, device, Peer(device.name), command)
    return plan, _meet(settings, plan, command), note


def _home(info: DeviceInfo, port: int) -> str | None:
    return namespace_of(netdev_of(info, port))


# Telling


def _identity(
    device: DeviceInfo, own: Gid, attributes: dict[str, Any], mtu: int, link_layer: str
) -> dict[str, Any]:
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


def _description(plan: Plan, mtu: int, port: int) -> str:
    if plan.peer == Peer(plan.device.name):
        ends = f"{plan.device.name}, loopback"
    else:
        ours = plan.device.name + _where(_home(plan.device, port))
        theirs = plan.peer.device + _where(plan.peer.netns or _home(plan.peer_info, port))
        if plan.peer.ssh:
            theirs = f"{plan.peer.device} (host {plan.peer.ssh})"
        ends = f"{ours} <-> {theirs}"
    return f"{ends}, GID {plan.gids[0].text}, MTU {mtu}"


def _where(namespace: str | None) -> str:
    return f" (netns {namespace})" if namespace else ""


def _common(ours: dict[str, Any], theirs: dict[str, Any], peer: str) -> Capabilities:
    """What both ends claim: either may be the one that has to keep a claim."""
    claims = {name: how for name, how in ours["claims"].items() if name in theirs["claims"]}
    denials = {name: f"{peer}: {how}" for name, how in theirs["denials"].items()}
    return Capabilities(claims, {**denials, **ours["denials"]})
