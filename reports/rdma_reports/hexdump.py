"""The first differing bytes of two memories that are known by their runs of change. Pure.

A run is [offset from the region's start, length, hexadecimal digits or "sha256:..."]; a byte in no
run is as it was before the operation.
"""

from collections.abc import Mapping, Sequence
from typing import Any

MEMORY = ("region", "local", "receive")  # facts that hold bytes, which the seed made
PREFIX = "any prefix of"  # AnyPrefix of the oracle, as the run file keeps it
_ROW = 16
_ROWS = 2
_MOST = 1 << 16  # bytes of a run that are looked at
_UNCHANGED, _DIGEST = "..", "##"

Runs = Sequence[Sequence[Any]]


def memory_differences(differences: Sequence[Mapping[str, Any]]) -> str:
    """The dump of each memory that differs, '' when none does; `differences` as in a result."""
    dumps = []
    for each in differences:
        allowed = each["allowed"][0] if each["allowed"] else None
        partial = isinstance(allowed, Mapping) and allowed.keys() == {PREFIX}
        expected = allowed[PREFIX] if partial else allowed
        if each["fact"] in MEMORY and are_runs(each["observed"]) and are_runs(expected):
            dumps.append(dump(each["fact"], expected, each["observed"], partial=partial))
    return "\n".join(dumps)


def dump(name: str, expected: Runs, observed: Runs, *, partial: bool = False) -> str:
    """Two rows of 16 bytes from where the memories first differ, expected above observed.

    `partial`: bytes that were expected may also be as before.
    """
    wanted, seen = _bytes(expected), _bytes(observed)
    differing = [
        at
        for at in sorted(seen.keys() if partial else wanted.keys() | seen.keys())
        if _differ(wanted.get(at, _UNCHANGED), seen.get(at, _UNCHANGED))
    ]
    if not differing:
        return f"{name}: no single byte is known to differ: {list(observed)[:3]}"
    first = differing[0]
    start = first - first % _ROW
    lines = [f"{name}: {len(differing)} bytes differ, the first at offset {first}"]
    for row in range(start, start + _ROW * _ROWS, _ROW):
        span = range(row, row + _ROW)
        for title, memory in (("expected", wanted), ("observed", seen)):
            digits = " ".join(memory.get(at, _UNCHANGED) for at in span)
            lines.append(f"  {row:+08x}  {title}  {digits}")
        marks = " ".join("^^" if at in differing else "  " for at in span)
        lines.append(f"  {'':20}{marks}".rstrip())
    lines.append(f"  {_UNCHANGED} as before the operation, {_DIGEST} in a run kept as a digest")
    return "\n".join(lines)


def _differ(wanted: str, seen: str) -> bool:
    """Whether two bytes are known to differ: of one in a digest is known only that it changed."""
    if _DIGEST in (wanted, seen):
        return _UNCHANGED in (wanted, seen)
    return wanted != seen


def _bytes(runs: Runs) -> dict[int, str]:
    found: dict[int, str] = {}
    for start, length, data in runs:
        inline = not str(data).startswith("sha256:")
        for index in range(min(length, _MOST)):
            found[start + index] = data[2 * index : 2 * index + 2] if inline else _DIGEST
    return found


def are_runs(value: Any) -> bool:
    """Whether a fact's value is a list of runs: it may come from any file."""
    return isinstance(value, list) and all(map(_is_run, value))


def _is_run(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], int)
        and isinstance(value[1], int)
        and isinstance(value[2], str)
    )
