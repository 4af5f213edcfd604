"""Takes out of a text what identifies a host or a port: names, addresses, GUIDs. Pure."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any

from rdma_reports.lines import Header

_MAC = re.compile(r"(?<![\w:.-])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![\w:-])")
# A GUID begins with its maker's number, where addresses and lengths have zeros or ones.
_GUID = re.compile(
    r"(?<![\w:.])(?:[0-9A-Fa-f]{4}(?::[0-9A-Fa-f]{4}){3}(?![\w:])"
    r"|0x(?!0000|[Ff]{4})[0-9A-Fa-f]{16}(?!\w))"
)
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*[0-9A-Fa-f:](?![\w:])")
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")
_SSH = re.compile(r"(?:ssh=|\(host )(?:([^@/\s'\"]+)@)?([^/\s'\",)]+)")
_VERSIONS = ("kernel", "firmware", "rdma_core", "pyverbs")


class Redactor:
    """Replaces what identifies by words such as address-1, the same word for the same thing.

    `names` are host names that are known to the caller; hosts and users that the run's header
    names are found. A version that looks like an address is kept, and so is a clause in one of
    the texts `kept`.
    """

    def __init__(self, header: Header, names: Iterable[str] = (), kept: Iterable[str] = ()) -> None:
        self._words: dict[str, str] = {}
        self._kept = {str(header.device.get(name)) for name in _VERSIONS} | {header.suite}
        self._kept |= {clause for text in kept for clause in _IPV4.findall(text)}
        users, hosts = set(), set(names)
        for user, host in _SSH.findall(" ".join([*header.argv, header.fabric])):
            users.add(user)
            hosts.add(host)
        hosts |= {name.split(".")[0] for name in hosts}
        self._names = [
            (kind, re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", re.IGNORECASE))
            for kind, found in (("host", hosts), ("user", users))
            for name in sorted(found, key=len, reverse=True)
            if name not in ("localhost", "") and not name.isdigit() and not _is_address(name)
        ]

    def text(self, text: str) -> str:
        """The text without GUIDs, addresses and host names."""
        for kind, pattern in [*self._names, ("address", _MAC), ("guid", _GUID)]:
            text = pattern.sub(lambda found, kind=kind: self._word(kind, found[0].lower()), text)
        for pattern in (_IPV6, _IPV4):
            text = pattern.sub(self._address, text)
        return text

    def value(self, value: Any) -> Any:
        """A JSON value with every string in it redacted, the keys as they are."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self.value(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        return value

    def _address(self, found: re.Match[str]) -> str:
        if found[0] in self._kept or not _is_address(found[0]):
            return found[0]
        return self._word("address", found[0].lower())

    def _word(self, kind: str, thing: str) -> str:
        key = f"{kind} {thing}"
        if key not in self._words:
            number = sum(each.startswith(f"{kind} ") for each in self._words) + 1
            self._words[key] = f"{kind}-{number}"
        return self._words[key]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
