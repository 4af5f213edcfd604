"""Counts what a selection leaves out, in the process that collects, for the one that keeps the run.

Under xdist that are two: the count goes over a channel, which execnet hands over as it is.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from rdma_conformance import collection

TOLD_S = 10.0  # it comes before the list of what was collected


class Selection:
    """A pytest plugin of its own; `deselected` counts cases of the standard profile."""

    def __init__(self, channel: Any = None) -> None:
        self.deselected = 0
        self._channel = channel

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        # What only a longer profile asks is not left out of this one.
        self.deselected += sum(
            collection.is_case(item) and collection.is_standard(item) for item in items
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self) -> None:
        if self._channel is not None:
            self._channel.send(self.deselected)
