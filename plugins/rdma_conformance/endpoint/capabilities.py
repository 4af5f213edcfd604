"""What a device claims to be able to do, from the words of ibv_query_device_ex(3)."""

from typing import Any

from conformance.spec.model import Capabilities
from rdma_conformance.endpoint import abi
from rdma_conformance.endpoint.agreement import SEGMENTS


def read(attributes: dict[str, Any]) -> Capabilities:
    """Claims and denials, each with its evidence; `attributes` as `verbs.Device` gives them."""
    claims: dict[str, str] = {}
    denials: dict[str, str] = {}

    def note(name: str, claimed: bool, evidence: str) -> None:
        (claims if claimed else denials)[name] = evidence

    flags = attributes["device_cap_flags_ex"]
    for name, bits in abi.DEVICE_CAPS.items():
        present = [bit for bit in bits if flags >> bit & 1]
        if present:
            note(name, True, f"device_cap_flags_ex {_bits(present)} set")
        else:
            note(name, False, f"device_cap_flags_ex {_bits(bits)} clear")
    atomic = attributes["atomic_cap"]
    word = abi.ATOMIC_CAPS[atomic] if atomic < len(abi.ATOMIC_CAPS) else str(atomic)
    note("atomic", atomic != 0, f"atomic_cap is {word}")
    segments = attributes["max_sge"]
    note("sge_lists", segments >= SEGMENTS, f"max_sge is {segments}")
    queues = attributes["max_srq"]
    note("shared_receive_queue", queues > 0, f"max_srq is {queues}")
    general = attributes["odp_general_caps"]
    supported = bool(general & abi.ODP_SUPPORT)
    evidence = f"odp_caps.general_caps {general:#x} bit SUPPORT is {_word(supported)}"
    note("odp", supported, evidence)
    implicit = bool(general & abi.ODP_IMPLICIT)
    evidence = f"odp_caps.general_caps {general:#x} bit SUPPORT_IMPLICIT is {_word(implicit)}"
    note("odp_implicit", implicit, evidence)
    caps = attributes["odp_rc_caps"]
    for operation, bit in abi.ODP_TRANSPORT.items():
        claimed = bool(caps >> bit & 1)
        evidence = f"odp_caps.rc_odp_caps {caps:#x} bit {operation.upper()} is {_word(claimed)}"
        note(f"odp_rc_{operation}", claimed and supported, evidence)
    return Capabilities(claims, denials)


def _word(present: bool) -> str:
    return "set" if present else "clear"


def _bits(bits: tuple[int, ...] | list[int]) -> str:
    if len(bits) == 1:
        return f"bit {bits[0]} is"
    return f"bits {', '.join(map(str, bits))} are"
