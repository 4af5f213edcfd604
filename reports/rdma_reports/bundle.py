"""One archive of all that a run left, for a vendor's support or a bug report."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rdma_reports.junit import as_junit
from rdma_reports.lines import Line, as_dict, from_dict
from rdma_reports.redact import Redactor
from rdma_reports.runfile import Run

_VERSIONS = ("driver", "kernel", "rdma_core", "pyverbs", "firmware")


def members(
    run: Run, raw: bytes, kernel_log: str | None, redactor: Redactor | None
) -> dict[str, bytes]:
    """Name and content of each file of the archive; `redactor` takes out what identifies.

    `raw` is the run's file, which goes in as it is unless it is redacted.
    """
    if redactor is not None:
        run = _redacted(run, redactor)
        lines: list[Line] = [run.header, *run.lines, *([run.footer] if run.footer else [])]
        raw = "".join(f"{json.dumps(as_dict(line))}\n" for line in lines).encode()
        kernel_log = redactor.text(kernel_log) if kernel_log is not None else None
    header = run.header
    found = {
        "run.ndjson": raw,
        "junit.xml": as_junit(run),
        "versions.json": _json(
            {
                "suite": header.suite,
                "catalogue": header.catalogue,
                **{name: header.device.get(name) for name in _VERSIONS},
            }
        ),
        "capabilities.json": _json(header.capabilities),
        "configuration.json": _json(
            {
                "argv": header.argv,
                "fabric": header.fabric,
                "seed": header.seed,
                "workers": header.workers,
                "planted": header.planted,
                "device": header.device,
                "redacted": redactor is not None,
            }
        ),
    }
    if kernel_log is not None:
        found["kernel.log"] = kernel_log.encode("utf-8", "replace")
    sums = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in found.items())
    return found | {"SHA256SUMS": "".join(sums).encode()}


def pack(folder: str, run: Run, files: Mapping[str, bytes]) -> bytes:
    """The .tar.gz of files in a folder; the same files make the same bytes."""
    moment = int(datetime.fromisoformat(run.header.started).timestamp())
    made = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=made, mode="wb", mtime=moment) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), moment, 0o644
            archive.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def _redacted(run: Run, redactor: Redactor) -> Run:
    def line(each: Any) -> Any:
        return from_dict(redactor.value(as_dict(each)))

    footer = line(run.footer) if run.footer else None
    return Run(line(run.header), tuple(line(each) for each in run.lines), footer)


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()
