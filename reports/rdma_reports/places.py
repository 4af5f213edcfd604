"""Where reports read and write: run files and folders of them, and files written whole."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rdma_conformance.visible import visible
from rdma_reports.errors import ReportError
from rdma_reports.runfile import Run, read_run

PATTERN = "*.ndjson"


def run_files(place: Path) -> list[Path]:
    """The run file that `place` is, or those in the folder that it is, by name.

    Raises ReportError for a folder without any.
    """
    if not place.is_dir():
        return [place]
    found = sorted(place.glob(PATTERN))
    if not found:
        raise ReportError(
            f"{place} holds no run file ({PATTERN}): name a run file, or the folder that "
            "pytest wrote them to (results)"
        )
    return found


def read_runs(places: Sequence[Path]) -> list[tuple[str, Run]]:
    """Name and content of the run files at `places`; a name has as much of the path as it needs.

    Raises ReportError or RunFileError.
    """
    paths = list(dict.fromkeys(path for place in places for path in run_files(place)))
    return [(name, read_run(path)) for name, path in zip(short_names(paths), paths, strict=True)]


def pairs(before: Path, after: Path) -> list[tuple[Path, Path]]:
    """The run files to compare: two files, or those of one name in two folders.

    Raises ReportError when a folder is compared with a file, or lacks a run of the other.
    """
    if before.is_dir() != after.is_dir():
        raise ReportError(f"{before} and {after}: compare two run files, or two folders of them")
    if not before.is_dir():
        return [(before, after)]
    old, new = ({path.name: path for path in run_files(each)} for each in (before, after))
    if missing := sorted(old.keys() - new.keys()):
        raise ReportError(
            f"{after} has no {', '.join(missing)}, which {before} has: run on that device again"
        )
    return [(old[name], new[name]) for name in old]


def kernel_log_of(run_file: Path) -> Path:
    """Where the kernel's log of a run is kept: beside its run file."""
    return run_file.with_name(f"{run_file.name.removesuffix('.ndjson')}.kernel.log")


def running_of(run_file: Path) -> Path:
    """Where the cases are named that a run is asking: beside its run file, until its end."""
    return run_file.with_name(f"{run_file.name.removesuffix('.ndjson')}.running")


def cut_off(run_file: Path, run: Run) -> list[str]:
    """The cases that a run was asking when it was cut off, by id; none if it came to its end."""
    if run.complete:
        return []
    try:
        named = running_of(run_file).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []
    return [visible(case) for case in named if case and case not in run.results]


def save(path: Path, content: str | bytes) -> None:
    """Write a file, whole or not at all, and its folder if need be. Raises ReportError."""
    data = content.encode() if isinstance(content, str) else content
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise ReportError(
            f"{path} cannot be written: {error.strerror}. Name another file with -o"
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()


def short_names(paths: Sequence[Path]) -> list[str]:
    """A name for each path: the last of its parts, as many as it takes to tell all apart."""
    for length in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(names)) == len(names):
            break
    return names
