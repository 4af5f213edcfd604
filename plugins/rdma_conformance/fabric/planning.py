"""Find the two ends and choose their GIDs, before anything is opened."""

import shutil
from dataclasses import dataclass

from rdma_conformance.device import DeviceInfo, Gid, list_devices, restore
from rdma_conformance.endpoint.client import START_S, Worker, WorkerError, WorkerTrouble
from rdma_conformance.fabric import checks, gid, python
from rdma_conformance.fabric.arrangement import Place
from rdma_conformance.fabric.namespaces import HERE, home_of, netdev_of
from rdma_conformance.fabric.settings import FabricError, FabricSettings, Peer


@dataclass(frozen=True, slots=True)
class Plan:
    """Two ends that may be able to meet."""

    device: DeviceInfo
    peer: Peer
    peer_info: DeviceInfo
    gids: tuple[Gid, Gid]
    together: bool  # both devices are visible here

    @property
    def loopback(self) -> bool:
        return self.peer == Peer(self.device.name)

    @property
    def here(self) -> tuple[str, ...]:
        """The devices that this process sees."""
        return (self.device.name, *([self.peer_info.name] if self.together else []))


def make_plan(settings: FabricSettings, device: DeviceInfo, peer: Peer, command: str) -> Plan:
    """How `device` and `peer` would meet; asks the peer's host or namespace about it."""
    here = {each.name: each for each in list_devices()}
    together = peer.ssh is None and peer.device in here
    if together:
        info = here[peer.device]
        checks.may_open(info.name)
        _check_home(peer, info, settings.port)
    elif peer.ssh is None and peer.netns is None:
        info = checks.find_here(peer.device)  # says that there is none
    else:
        checks.namespace(peer.netns)
        info = _ask_there(settings, peer, command)
    checks.active_port(info, settings.port)
    return Plan(device, peer, info, choose_gids(settings, device, info), together)


def _check_home(peer: Peer, info: DeviceInfo, port: int) -> None:
    """A visible device is used wherever its interface is: it must be where the user says."""
    checks.namespace(peer.netns)
    home = home_of(info, port)
    if peer.netns is None or home in (None, peer.netns):
        return
    where, mend = f"namespace {home}", f"netns={home}//{info.name}"
    if home == HERE:
        where, mend = "this process's own namespace", info.name
    raise FabricError(f"{info.name} is in {where}, not in {peer.netns}", f"--peer {mend}")


def _ask_there(settings: FabricSettings, peer: Peer, command: str) -> DeviceInfo:
    place = place_of(peer, settings, 0, command)
    try:
        worker = Worker(place.python, place.ssh)
    except WorkerError as error:
        mend = python.NO_START
        if peer.ssh and "No module named" in str(error):
            mend = f"install rdma-conformance on {peer.ssh}, the same release as here"
        elif peer.ssh and shutil.which("ssh") is None:
            mend = "install ssh on this host"
        elif peer.ssh:
            mend = f"see that `ssh {peer.ssh} {place.python or 'python3'}` needs no password"
        raise FabricError(str(error), mend) from None
    try:
        found = worker.call("device", START_S, name=peer.device)
    except WorkerTrouble as error:
        raise FabricError(f"--peer {peer.text}: {error}", "") from None
    finally:
        worker.close()
    if found is None:
        where = peer.ssh or f"namespace {peer.netns}"
        raise FabricError(f"{where} has no RDMA device {peer.device}", "see `rdma link` there")
    return restore(found)


def choose_gids(settings: FabricSettings, device: DeviceInfo, peer: DeviceInfo) -> tuple[Gid, Gid]:
    """The GIDs of both ends, as --gid-index or their types say. Raises FabricError."""
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
        for info, found in ((device, mine), (peer, theirs.gids)):
            if not found:
                raise FabricError(
                    f"{info.name} has no GID", "see that a subnet manager runs (opensm)"
                )
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


def place_of(peer: Peer, settings: FabricSettings, gid_index: int, command: str) -> Place:
    """Where and by which Python `peer` is opened."""
    if peer.ssh:
        return Place(peer.device, settings.port, gid_index, settings.endpoint_python, ssh=peer.ssh)
    if peer.netns:
        command = f"ip netns exec {peer.netns} {command}"
    return Place(peer.device, settings.port, gid_index, command)
