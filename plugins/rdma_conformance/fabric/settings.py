"""What a fabric is asked for, and how it says that it can't be had."""

import re
from dataclasses import dataclass

from rdma_conformance.visible import visible

# Of a namespace, or a host with its user: it becomes a word of a command, and no option.
_PLACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@:%\[\]-]*")


class FabricError(Exception):
    """The device can not be reached as asked; `mend` says what to do about it."""

    def __init__(self, message: str, mend: str):
        self.message = visible(message)
        self.mend = visible(mend)
        super().__init__(f"{self.message}: {self.mend}" if mend else self.message)


@dataclass(frozen=True, slots=True)
class FabricSettings:
    """As the command line has it. `bound_s` is in seconds.

    `peer`: None (found by itself), `loopback`, a device of this host, `netns=NAME//DEVICE`, or
    `ssh=HOST//DEVICE`.
    """

    device: str | None
    peer: str | None = None
    port: int = 1
    gid_index: int | None = None
    endpoint_python: str | None = None
    plant: str | None = None
    setup_rxe: bool = False
    bound_s: float = 30.0


@dataclass(frozen=True, slots=True)
class Peer:
    """The other end: a device, and the namespace or host in which a worker has to open it."""

    device: str
    netns: str | None = None
    ssh: str | None = None

    @property
    def text(self) -> str:
        """As --peer takes it."""
        if self.ssh:
            return f"ssh={self.ssh}//{self.device}"
        return f"netns={self.netns}//{self.device}" if self.netns else self.device


def parse_peer(text: str, device: str) -> Peer:
    """The peer that a --peer value means when `device` is under test. Raises FabricError."""
    if text == "loopback":
        return Peer(device)
    where, slashes, name = text.partition("//")
    if not slashes and "=" not in text and text:
        return Peer(text)
    kind, _, place = where.partition("=")
    if kind in ("netns", "ssh") and _PLACE.fullmatch(place) and name and "//" not in name:
        return Peer(name, **{kind: place})
    raise FabricError(
        f"--peer {text} is not understood",
        "give loopback, a device of this host, netns=NAME//DEVICE, or ssh=HOST//DEVICE",
    )
