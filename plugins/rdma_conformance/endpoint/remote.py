"""An end in another process: calls go through a worker."""

import time
from typing import Any

from rdma_conformance.endpoint.client import Worker


class RemoteEnd:
    """Stands in for the `End` that `worker` has open as `end`; calls may last until `deadline`.

    `deadline` is on the clock of time.monotonic().
    """

    def __init__(self, worker: Worker):
        self._worker = worker
        self.deadline = 0.0

    def __getattr__(self, method: str) -> Any:
        def call(*arguments: Any) -> Any:
            left = max(0.0, self.deadline - time.monotonic())
            return self._worker.call(
                "call", left, end="end", method=method, arguments=list(arguments)
            )

        return call
