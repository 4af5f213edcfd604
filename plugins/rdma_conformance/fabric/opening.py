"""Open a fabric: find both devices, choose GIDs, start the workers, see that a SEND arrives."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from conformance.spec.model import Region, Transfer, wire
from conformance.spec.vocabulary import Access, Operation, Status
from rdma_conformance.device import DeviceInfo, list_devices
from rdma_conformance.endpoint import abi
from rdma_conformance.endpoint.client import WorkerError, WorkerTrouble
from rdma_conformance.fabric import checks, gid, python, setup_rxe, telling
from rdma_conformance.fabric.arrangement import Apart, Arrangement, Place, Together
from rdma_conformance.fabric.fabric import Fabric
from rdma_conformance.fabric.namespaces import home_of
from rdma_conformance.fabric.planning import Plan, make_plan, place_of
from rdma_conformance.fabric.settings import FabricError, FabricSettings, Peer, parse_peer

GREETING_S = 10.0  # longer than the retries of a queue pair whose peer doesn't answer


def open_fabric(settings: FabricSettings) -> Fabric:
    """Open the device under test and its peer. Raises FabricError with its mend.

    With `setup_rxe` two namespaces with an rxe device each are made, and removed at the end.
    """
    undo: Callable[[], None] = _nothing
    if settings.setup_rxe:
        made = setup_rxe.make()
        undo = made.remove
        device, other = made.devices
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
    checks.host()
    device = checks.find_here(settings.device)
    port = checks.active_port(device, settings.port)
    checks.may_open(device.name)
    command = python.choose(settings.endpoint_python)
    if settings.peer is not None:
        peer = parse_peer(settings.peer, device.name)
        plan = make_plan(settings, device, peer, command)
        arrangement = _meet(settings, plan, command)
        note = ""
    else:
        plan, arrangement, note = _first_that_meets(settings, device, command)
    try:
        ours, theirs = arrangement.identify()
    except WorkerTrouble as error:
        arrangement.close()
        mend = checks.policy(str(error))
        raise FabricError(f"{device.name} can not be queried: {error}", mend) from None
    mtu = abi.MTU_BYTES[min(ours["attributes"]["mtu"], theirs["attributes"]["mtu"])]
    return Fabric(
        arrange=lambda: _arrange(settings, plan, command),
        arrangement=arrangement,
        identity=telling.identity(device, plan.gids[0], ours["attributes"], mtu, port.link_layer),
        description=telling.description(plan, mtu, port.number) + note,
        capabilities=telling.common(ours, theirs, plan.peer.text),
        device=device.name,
        peer="loopback" if plan.loopback else plan.peer.text,
        ports=[(each, settings.port) for each in plan.here],
        undo=undo,
    )


def _arrange(settings: FabricSettings, plan: Plan, command: str) -> Arrangement:
    ours, theirs = plan.gids
    requester = Place(plan.device.name, settings.port, ours.index, command)
    if plan.together:
        responder = Place(plan.peer_info.name, settings.port, theirs.index, command)
        return Together(requester, responder, settings.plant)
    responder = place_of(plan.peer, settings, theirs.index, command)
    return Apart(requester, responder, settings.plant)


def _meet(settings: FabricSettings, plan: Plan, command: str) -> Arrangement:
    """Open both ends and see that a SEND arrives. Raises FabricError."""
    names = plan.device.name if plan.loopback else f"{plan.device.name} and {plan.peer.text}"
    try:
        arrangement = _arrange(settings, plan, command)
    except WorkerError as error:
        if error.kind == "pyverbs":
            raise python.no_pyverbs(command, str(error)) from None
        mend = python.NO_START if error.kind == "start" else checks.policy(str(error))
        raise FabricError(f"{names} can not be opened: {error}", mend) from None
    except WorkerTrouble as error:
        raise FabricError(f"{names} can not be opened: {error}", "") from None
    try:
        [seen] = arrangement.perform([wire(_greeting())], 0, GREETING_S)
        arrangement.settle()
        trouble = None if seen["receives"] else f"a SEND ended with {seen['requester']}"
    except WorkerTrouble as error:
        if mend := checks.policy(trouble := str(error)):
            arrangement.close()
            raise FabricError(f"{names} can not be asked: {trouble}", mend) from None
    except BaseException:
        arrangement.close()
        raise
    if trouble is None and seen["requester"] == Status.SUCCESS.name:
        return arrangement
    arrangement.close()
    trouble = trouble or f"a SEND ended with {seen['requester']}"
    if plan.loopback:
        raise FabricError(
            f"{names} does not reach itself ({trouble})",
            "choose another GID with --gid-index, or name a device that it reaches with --peer",
        )
    raise FabricError(
        f"{names} do not reach each other ({trouble})",
        f"see that {plan.gids[0].text} and {plan.gids[1].text} reach each other (ping), "
        "choose other GIDs with --gid-index, or ask one device alone: --peer loopback",
    )


def _greeting() -> Transfer:
    return Transfer(Operation.SEND, remote=Region(Access.LOCAL_WRITE), qp_access=Access.LOCAL_WRITE)


def _first_that_meets(
    settings: FabricSettings, device: DeviceInfo, command: str
) -> tuple[Plan, Arrangement, str]:
    """A neighbour in the same subnet that answers, else loopback: no other is opened."""
    note = ""
    for other in _neighbours(settings, device):
        try:
            plan = make_plan(settings, device, Peer(other.name), command)
            if gid.one_subnet(*plan.gids):
                return plan, _meet(settings, plan, command), ""
        except FabricError as error:
            note = f"; {other.name} was not taken: {error.message}"
    plan = make_plan(settings, device, Peer(device.name), command)
    return plan, _meet(settings, plan, command), note


def _neighbours(settings: FabricSettings, device: DeviceInfo) -> Iterator[DeviceInfo]:
    """Active devices of the same driver in other namespaces, but those of other runs."""
    own = home_of(device, settings.port)
    for other in list_devices():
        port = other.port(settings.port)
        if other.name == device.name or other.driver != device.driver or port is None:
            continue
        home = home_of(other, settings.port) if port.state == "ACTIVE" else None
        if home not in (own, None) and not setup_rxe.is_a_runs(home):
            yield other
