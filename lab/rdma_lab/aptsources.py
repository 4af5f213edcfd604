"""Finds the Debian mirror that this machine already uses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_DEBIAN_SUITES = frozenset(
    {"oldstable", "stable", "testing", "unstable", "sid", "bookworm", "trixie", "forky", "duke"}
)


@dataclass(frozen=True)
class Source:
    """One place that apt takes binary packages from: a URI and one suite of it."""

    uri: str
    suite: str
    components: tuple[str, ...]


def parse_one_line(text: str) -> list[Source]:
    """The ``deb`` lines of a sources.list(5) text."""
    sources = []
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[[^]]*\]\s*)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)", line)
        if match:
            uri, suite, components = match.groups()
            sources.append(Source(uri, suite, tuple(components.split())))
    return sources


def parse_deb822(text: str) -> list[Source]:
    """The enabled ``deb`` stanzas of a sources file in the deb822 format."""
    sources = []
    uncommented = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", uncommented):
        fields = {
            name.lower(): value.split()
            for name, value in re.findall(r"(?m)^([\w-]+):((?:.*)(?:\n[ \t].*)*)", stanza)
        }
        enabled = fields.get("enabled", ["yes"])[:1] != ["no"]
        if enabled and "deb" in fields.get("types", []):
            components = tuple(fields.get("components", []))
            sources += [
                Source(uri, suite, components)
                for uri in fields.get("uris", [])
                for suite in fields.get("suites", [])
            ]
    return sources


def debian_mirror(sources: list[Source]) -> str | None:
    """The first URI that gives a Debian suite's ``main``, or None (as on Ubuntu)."""
    for source in sources:
        fetched = source.uri.startswith(("http:", "https:", "file:", "ftp:"))
        if fetched and source.suite in _DEBIAN_SUITES and "main" in source.components:
            return source.uri.rstrip("/")
    return None


def host_mirror(etc_apt: Path = Path("/etc/apt")) -> str | None:
    """The Debian mirror configured below ``etc_apt``, or None when there is none."""
    sources: list[Source] = []
    parts = sorted((etc_apt / "sources.list.d").glob("*"))
    for file in [etc_apt / "sources.list", *parts]:
        if file.is_file() and file.suffix == ".list":
            sources += parse_one_line(file.read_text(errors="replace"))
        elif file.is_file() and file.suffix == ".sources":
            sources += parse_deb822(file.read_text(errors="replace"))
    return debian_mirror(sources)
