"""Tells the lab which run is under way, so that it can go on with it when the guest dies.

The lab names a folder, which outlives the guest, in an environment variable; a ticket is a file in
it, there from the beginning of a run to its end.
"""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rdma_reports.places import running_of

FOLDER = "RDMA_CONFORMANCE_LAB"


class Ticket:
    """The ticket of this process's run. Without a lab, nothing."""

    def __init__(self, arguments: Sequence[str], run_file: Path, part: int) -> None:
        """`arguments` are pytest's; `part` counts how often the run went on."""
        folder = os.environ.get(FOLDER)
        self._path = Path(folder) / f"ticket-{os.getpid()}.json" if folder else None
        self._content = {
            "arguments": list(arguments),
            "run_file": str(run_file),
            "running": str(running_of(run_file)),
            "part": part,
        }
        self._write(stuck=False)

    def end(self, stuck: bool) -> None:
        """The run has ended: the ticket goes, unless a stuck task kept it from its rest."""
        if stuck:
            self._write(stuck=True)
        elif self._path is not None:
            with suppress(OSError):
                self._path.unlink()

    def _write(self, stuck: bool) -> None:
        if self._path is not None:
            with suppress(OSError):  # no lab can go on without it: it ends as without a ticket
                self._path.write_text(json.dumps({**self._content, "stuck": stuck}))
