"""The run file's JSON Schema, and the few keywords of it that are needed to check a line.

The schema file is the one description of the format: other tools can give it to any validator,
and this module interprets the same text, so that the two cannot drift apart.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Schema = Mapping[str, Any]

# Keywords that check() understands; the others in the file only describe it.
KEYWORDS = frozenset(
    {
        "$ref",
        "additionalProperties",
        "const",
        "enum",
        "items",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "propertyNames",
        "required",
        "type",
    }
)
_WORD = re.compile(r"\w{1,40}")
_TYPES = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}


@cache
def definitions() -> Mapping[str, Schema]:
    """The `$defs` of runfile.schema.json: header, result, footer and their parts."""
    text = files("rdma_reports").joinpath("runfile.schema.json").read_text(encoding="utf-8")
    return json.loads(text)["$defs"]


def problem(value: Any, schema: Schema | bool, where: str = "") -> str | None:
    """The first reason why `value` does not fit `schema`, with its place; None when it fits."""
    if schema is True:
        return None
    if schema is False:
        return f"{where or 'it'} is not part of the format"
    if "$ref" in schema:
        return problem(value, definitions()[schema["$ref"].rpartition("/")[2]], where)
    return (
        _simple(value, schema, where or "it")
        or (isinstance(value, dict) and _members(value, schema, where))
        or (isinstance(value, list) and _items(value, schema, where))
        or None
    )


def _simple(value: Any, schema: Schema, where: str) -> str | None:
    return next(_faults(value, schema, where), None)


def _faults(value: Any, schema: Schema, where: str) -> Iterator[str]:
    is_a = f"{where} is"
    wanted = schema.get("type", ())
    names = (wanted,) if isinstance(wanted, str) else wanted
    if names and not any(_TYPES[name](value) for name in names):
        yield f"{is_a} {_shown(value)} where {' or '.join(names)} is meant"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{is_a} {_shown(value)} where {_shown(schema['const'])} is meant"
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        yield f"{is_a} {_shown(value)}, not one of {', '.join(map(_shown, schema['enum']))}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield f"{where} is empty"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{is_a} {_shown(value)}, which does not have the form {schema['pattern']}"
    if "minimum" in schema and _TYPES["number"](value) and value < schema["minimum"]:
        yield f"{is_a} {value}, below {schema['minimum']}"


def _members(value: dict, schema: Schema, where: str) -> str | None:
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"{where or 'it'} lacks {', '.join(missing)}"
    known = schema.get("properties", {})
    for name, member in value.items():
        word = name if _WORD.fullmatch(name) else _shown(name)
        place = f"{where}.{word}" if where else word
        found = problem(name, schema.get("propertyNames", True), f"the name {place}")
        found = found or problem(
            member, known.get(name, schema.get("additionalProperties", True)), place
        )
        if found:
            return found
    return None


def _items(value: list, schema: Schema, where: str) -> str | None:
    rule = schema.get("items", True)
    found = (problem(item, rule, f"{where}[{index}]") for index, item in enumerate(value))
    return next(filter(None, found), None)


def _same(value: Any, other: Any) -> bool:
    # In Python True == 1; in JSON they differ.
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
