"""Which Allure results a machine that went down has cost: they are written after the answer."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from rdma_reports.lines import Header


def untold(directory: Path, header: Header, cases: Iterable[str]) -> list[str]:
    """Those of `cases`, which have results in the run of `header`, that Allure's results lack.

    A result that was cut off while it was written is removed.
    """
    since_ms = datetime.fromisoformat(header.started.replace("Z", "+00:00")).timestamp() * 1000
    told = {
        found["fullName"]
        for found in _results(directory)
        if found.get("start", 0) >= since_ms and _is_of(found, header)
    }
    return [case for case in cases if case not in told]


def _results(directory: Path) -> Iterator[Mapping[str, Any]]:
    for path in directory.glob("*-result.json"):
        with suppress(OSError):
            data = path.read_bytes()
            try:
                found = json.loads(data)
            except ValueError:
                path.unlink()
                continue
            if isinstance(found, dict) and isinstance(found.get("fullName"), str):
                yield found


def _is_of(found: Mapping[str, Any], header: Header) -> bool:
    """Whether a result is of the run's device; one that --setup-rxe makes has many names."""
    names = ("driver",) if "--setup-rxe" in header.argv else ("driver", "device")
    values = {each["name"]: each["value"] for each in found.get("parameters", ())}
    return all(values.get(name) == str(header.device.get(name, "")) for name in names)
