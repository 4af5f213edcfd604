"""What JSON from elsewhere may hold, so that every report can be made of it. Pure."""

import math
from typing import Any

from rdma_conformance.visible import visible

DEPTH = 32  # of lists and objects; real lines have six at most
LARGEST = 1 << 128  # addresses and lengths have 64 bits, and their sums a few more


def tame(value: Any, depth: int = DEPTH) -> Any:
    """`value` with all its texts visible. Raises ValueError for numbers and nesting without end."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, int | float):
        if not math.isfinite(value) or abs(value) > LARGEST:
            raise ValueError("a number in it is too large")
        return value
    if isinstance(value, list | dict):
        if not depth:
            raise ValueError(f"it is nested deeper than {DEPTH}")
        if isinstance(value, list):
            return [tame(each, depth - 1) for each in value]
        return {visible(name): tame(each, depth - 1) for name, each in value.items()}
    return value
