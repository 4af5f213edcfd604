"""The first differing bytes of two memories that are known by their runs of change. Pure.

A run is [offset from the region's start, length, hexadecimal digits or "sha256:..."]; a byte in no
run is as it was before the operation.
"""

from collections.abc import Mapping, Sequence
from typing import Any

MEMORY = ("region", "local", "receive")  # facts that hold bytes, which the seed made
_ROW = 16
_ROWS = 2
_UNCHANGED, _DIGEST = "..", "##"

Runs = Sequence[Sequence[Any]]


def memory_differences(differences: Sequence[Mapping[str, Any]]) -> str:
    """The dump of each memory that differs, '' when none does; `differences` as in a result."""
    dumps = [
        dump(each["fact"], each["allowed"][0], each["observed"])
        for each in differences
        if each["fact"] in MEMORY and _is_runs(each["observed"]) and each["allowed"]
    ]
    return "\n".join(dumps)


def dump(name: str, expected: Runs, observed: Runs) -> str:
    """Two rows of 16 bytes from where the memories first differ, expected above observed."""
    wanted, seen = _bytes(expected), _bytes(observed)
    differing = [
        at
        for at in sorted(wanted.keys() | seen.keys())
        if _differ(wanted.get(at, _UNCHANGED), seen.get(at, _UNCHANGED))
    ]
    if not differing:
        return f"{name}: a long run differs, which is kept as a digest: {list(observed)[:3]}"
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
        for index in range(length):
            found[start + index] = data[2 * index : 2 * index + 2] if inline else _DIGEST
    return found


def _is_runs(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, list) and len(each) == 3 for each in value
    )
