"""The requirement catalogue: what a conforming driver does, one TOML entry per rule.

A file's name is the area of its requirements (remote.toml: area "remote").
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from conformance.spec.vocabulary import Level
from rdma_conformance.entries import (
    Entry,
    EntryError,
    package_directory,
    read_entries,
    toml_files,
)

_KEYS = ("title", "level", "rows", "statement", "why", "sources", "failure", "asked")
_SOURCE_KEYS = ("document", "clause", "says")
_ROW = re.compile(r"[A-Z]+ [1-9][0-9]*")


class CatalogueError(EntryError):
    """The requirement catalogue is not as it must be."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a rule is written: `says` paraphrases it.

    `evidence` tells where a clause was seen, for a document that is not freely published.
    """

    document: str
    clause: str
    says: str
    evidence: str | None = None
    url: str | None = None

    def __str__(self) -> str:
        return f"{self.document} {self.clause}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule. `rows` name its lines in the list of behaviours, such as "REM 1"."""

    id: str
    area: str
    title: str
    level: Level
    rows: tuple[str, ...]
    statement: str
    why: str
    sources: tuple[Source, ...]
    failure: str
    asked: str


@dataclass(frozen=True)
class Catalogue:
    """All requirements by id, and `digest`: 12 hex digits of SHA-256 over the files."""

    requirements: Mapping[str, Requirement]
    digest: str

    def __getitem__(self, requirement: str) -> Requirement:
        return self.requirements[requirement]

    def __contains__(self, requirement: object) -> bool:
        return requirement in self.requirements

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.requirements.values())

    def __len__(self) -> int:
        return len(self.requirements)


def load_catalogue(directory: Path | None = None) -> Catalogue:
    """The catalogue of a folder of TOML files; by default the one in package conformance.

    Raises CatalogueError, naming file, requirement and mend, whatever the files hold.
    """
    place = directory if directory is not None else package_directory("requirements")
    files = toml_files(place, CatalogueError)
    requirements = read_entries(files, CatalogueError, _requirement)
    if not requirements:
        raise CatalogueError(f"{place}: no requirement is there; name a folder of TOML files")
    return Catalogue(MappingProxyType(requirements), _digest(files))


def _digest(files: list[tuple[str, bytes]]) -> str:
    total = hashlib.sha256()
    for name, content in files:
        total.update(f"{name}\0{len(content)}\0".encode(errors="surrogateescape"))
        total.update(content)
    return total.hexdigest()[:12]


def _requirement(entry: Entry) -> Requirement:
    entry.check_keys(_KEYS)
    level = entry.text("level")
    if level not in list(Level):
        raise entry.fail(f"level {level!r} is none", f"use one of {', '.join(Level)}")
    rows = entry.list_of("rows", str, 'write rows = ["REM 1"]')
    for row in rows:
        if not _ROW.fullmatch(row):
            raise entry.fail(f"row {row!r} is none", 'write a chapter and a number: "REM 1"')
    sources = entry.list_of("sources", dict, "add [[ID.sources]] with document, clause and says")
    return Requirement(
        id=entry.name,
        area=entry.file.removesuffix(".toml"),
        title=entry.text("title"),
        level=Level(level),
        rows=tuple(rows),
        statement=entry.text("statement"),
        why=entry.text("why"),
        sources=tuple(
            _source(Entry(entry.file, f"{entry.name}.sources.{number}", source, entry.error))
            for number, source in enumerate(sources)
        ),
        failure=entry.text("failure"),
        asked=entry.text("asked"),
    )


def _source(entry: Entry) -> Source:
    entry.check_keys(_SOURCE_KEYS, ("evidence", "url"))
    document = entry.text("document")
    evidence = entry.optional_text("evidence")
    if document.startswith("IBTA") and evidence is None:
        raise entry.fail(
            "an IBTA clause has no evidence", "say in 'evidence' where its text was seen"
        )
    return Source(
        document=document,
        clause=entry.text("clause"),
        says=entry.text("says"),
        evidence=evidence,
        url=entry.link("url") if "url" in entry.values else None,
    )
