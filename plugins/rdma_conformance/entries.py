"""Strict reading of TOML files that hold one table per entry, for catalogue and deviations.

The files may come from anyone: whatever bytes they hold, reading either gives checked values or
one `EntryError` that names the file, the entry and the mend.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

_ID = re.compile(r"[A-Z][A-Z0-9]*(-[A-Z0-9]+)+")
ID_FORM = "capital letters and digits in parts joined by '-', such as MR-RIGHT-READ"


class EntryError(Exception):
    """A TOML file of entries is not as it must be; the message names file, entry and mend."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One table of one file; its readers raise `error` for a missing or ill-formed value."""

    file: str
    name: str
    values: Mapping[str, Any]
    error: type[EntryError]

    def fail(self, wrong: str, mend: str) -> EntryError:
        return self.error(f"{self.file}: [{self.name}]: {wrong}; {mend}")

    def check_keys(self, required: Iterable[str], optional: Iterable[str] = ()) -> None:
        """Raise unless every required key is there, and no key that is in neither list."""
        required, optional = tuple(required), tuple(optional)
        for key in required:
            if key not in self.values:
                raise self.fail(f"the key {key!r} is missing", "add it")
        for key in self.values:
            if key not in (*required, *optional):
                known = ", ".join((*required, *optional))
                raise self.fail(f"unknown key {key!r}", f"use only {known}")

    def text(self, key: str) -> str:
        """The value as one line of printable text, runs of white space made one blank."""
        value = self.values[key]
        if not isinstance(value, str):
            raise self.fail(f"{key!r} is not a string", f'write {key} = "..."')
        line = " ".join(value.split())
        if not line:
            raise self.fail(f"{key!r} is empty", "write what it asks for")
        if not line.isprintable():
            raise self.fail(f"{key!r} holds a control character", "take it out")
        return line

    def optional_text(self, key: str) -> str | None:
        return self.text(key) if key in self.values else None

    def link(self, key: str) -> str:
        value = self.text(key)
        if not value.startswith("https://") or " " in value:
            raise self.fail(f"{key!r} is {value!r}", "give one https:// address")
        return value

    def list_of(self, key: str, kind: type, mend: str) -> list[Any]:
        """The value as a list of at least one `kind`."""
        value = self.values[key]
        if not isinstance(value, list) or not value or not all(isinstance(v, kind) for v in value):
            raise self.fail(f"{key!r} is not a list of at least one {_WORDS[kind]}", mend)
        return value


_WORDS = {str: "string", dict: "table"}


def package_directory(name: str) -> Traversable:
    """The folder `name` of the package conformance, installed or in a checkout."""
    return resources.files("conformance").joinpath(name)


def toml_files(place: Path | Traversable, error: type[EntryError]) -> list[tuple[str, bytes]]:
    """Name and bytes of each *.toml of a folder, by name; of one file, that file."""
    try:
        files = [place] if place.is_file() else list(place.iterdir())
        found = [(item.name, item.read_bytes()) for item in files if item.name.endswith(".toml")]
    except (OSError, ValueError) as exc:
        raise error(f"{place}: cannot be read ({exc}); name a folder of TOML files or one") from exc
    return sorted(found)


def read_entries(
    files: Iterable[tuple[str, bytes]],
    error: type[EntryError],
    build: Callable[[Entry], Any],
) -> dict[str, Any]:
    """What `build` makes of each entry, by entry name, in the order of the files.

    Raises `error` for bytes that are not TOML, a name that is no id, and a name used twice.
    """
    built: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for file, content in files:
        for name, values in _parse(file, content, error).items():
            if not _ID.fullmatch(name):
                raise error(f"{file}: [{name!r}]: this is no id; an id is {ID_FORM}")
            if not isinstance(values, dict):
                raise error(f"{file}: {name} is not a table; begin the entry with [{name}]")
            if name in built:
                raise error(
                    f"{file}: [{name}]: the id is used in {origin[name]} already; take another"
                )
            built[name] = build(Entry(file, name, values, error))
            origin[name] = file
    return built


def _parse(file: str, content: bytes, error: type[EntryError]) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as exc:
        raise error(f"{file}: byte {exc.start} is not UTF-8; save the file as UTF-8") from exc
    except ValueError as exc:  # TOMLDecodeError, and an integer beyond Python's limit
        raise error(f"{file}: this is not TOML ({exc}); correct it there") from exc
    except RecursionError as exc:
        raise error(f"{file}: tables or lists are nested too deep; flatten them") from exc
