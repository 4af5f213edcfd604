"""What tells one device from another, in the words of a run file's header. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

# Label for a person, and the names in the identity whose values stand behind it.
IDENTITY = (
    ("driver", ("driver",)),
    ("kernel", ("kernel",)),
    ("firmware", ("firmware",)),
    ("board", ("board_id",)),
    ("rdma-core", ("rdma_core",)),
    ("link", ("link_layer", "gid_type")),
)
_TELLING = ("driver", "kernel", "firmware", "rdma_core")


def facts(identity: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Label and value of what is known of a device, without what is empty."""
    found = []
    for label, names in IDENTITY:
        values = [str(identity[name]) for name in names if identity.get(name) not in (None, "")]
        if values:
            found.append((label, ", ".join(values)))
    return found


def titles(identities: Sequence[Mapping[str, Any]], days: Sequence[str]) -> list[str]:
    """A name for each device that no other of them has: its own, and what differs.

    `days` are when each was tested (ISO 8601), used where nothing else tells two apart.
    """
    names = [str(identity.get("device", "device")) for identity in identities]
    told = []
    for number, (name, identity) in enumerate(zip(names, identities, strict=True)):
        same = [other for other, their in zip(identities, names, strict=True) if their == name]
        differing = [
            str(identity.get(key))
            for key in _TELLING
            if len({str(other.get(key)) for other in same}) > 1
        ]
        if len(same) > 1 and not differing:
            differing = [days[number][:16].replace("T", " ")]
        told.append(f"{name} ({', '.join(differing)})" if differing else name)
    return [
        title if told.count(title) == 1 else f"{title} #{told[: number + 1].count(title)}"
        for number, title in enumerate(told)
    ]
