"""An end in another process: calls go through a worker."""

import time
from typing import Any

from rdma_conformance.endpoint.client import Worker


class RemoteEnd:
    """Stands in for the `End` that `worker` has open as `end`; calls may last until `deadline`.

    `deadline` is on the clock of time.monotonic(). What an end is made of is reached as there:
    `end.trials.register(...)`.
    """

    def __init__(self, worker: Worker):
        self._worker = worker
        self.deadline = 0.0

    def __getattr__(self, name: str) -> "_Method":
        return _Method(self, name)

    def call(self, method: str, arguments: list[Any]) -> Any:
        left = max(0.0, self.deadline - time.monotonic())
        return self._worker.call("call", left, end="end", method=method, arguments=arguments)


class _Method:
    """A method of an end, or a part of it that has methods."""

    def __init__(self, end: RemoteEnd, path: str):
        self._end = end
        self._path = path

    def __getattr__(self, name: str) -> "_Method":
        return _Method(self._end, f"{self._path}.{name}")

    def __call__(self, *arguments: Any) -> Any:
        return self._end.call(self._path, list(arguments))
