"""The run file: what a run asked and found, one JSON object a line (NDJSON).

A header, a line for every result as soon as it is known, and a footer. A run that was killed has
no footer and stays readable.
"""

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from rdma_reports.lines import (
    FAILING,
    Footer,
    Header,
    Line,
    Result,
    as_dict,
    count_checks,
    from_dict,
    worse,
)
from rdma_reports.tame import tame

__all__ = [
    "Footer",
    "Header",
    "Result",
    "Run",
    "RunFileError",
    "RunWriter",
    "as_dict",
    "discard",
    "read_run",
]


class RunFileError(Exception):
    """A run file that cannot be written or read; the message names the file and the mend."""


@dataclass(frozen=True)
class Run:
    """One run as it was read; `lines` are all results in file order."""

    header: Header
    lines: tuple[Result, ...]
    footer: Footer | None = None

    @property
    def complete(self) -> bool:
        """Whether the run came to its end and wrote a footer."""
        return self.footer is not None

    @cached_property
    def results(self) -> Mapping[str, Result]:
        """The result of each case by its id; of several lines the worst."""
        worst: dict[str, Result] = {}
        for line in self.lines:
            seen = worst.get(line.case)
            if seen is None or worse(line.verdict, seen.verdict):
                worst[line.case] = line
        return worst

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of cases of each verdict that occurs."""
        return Counter(result.verdict for result in self.results.values())

    @cached_property
    def checks(self) -> Mapping[str, int]:
        """The number of refusals, controls, cases asked twice and unstable ones."""
        return count_checks((result.control, result.twice) for result in self.results.values())


class RunWriter:
    """Writes a run file; a context manager that opens it and writes the header on entry.

    The file of an earlier run stays until the header of this one is on the disk. Every line is one
    write. A failure to write raises RunFileError once, leaves whole lines only, and makes the
    calls after it do nothing: `failed` tells. While it writes, the file is locked (flock(2)): one
    file is one run's.
    """

    def __init__(self, path: str | os.PathLike[str], header: Header) -> None:
        self.path = Path(path).absolute()
        self.failed = False
        self._header = header
        self._verdicts: dict[str, str] = {}
        self._fd = -1
        self._size = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of cases of each verdict so far, as the footer will say."""
        return Counter(self._verdicts.values())

    def __enter__(self) -> Self:
        target = Path(os.path.realpath(self.path))
        if target.exists() and not target.is_file():
            raise RunFileError(f"{self.path} is no regular file: name a file for the run")
        _check_idle(target)
        started = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            _remove_parts(target)
            self._fd = os.open(started, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise RunFileError(_mend(self.path, error)) from error
        try:
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._write(self._header)
            os.fsync(self._fd)
            started.replace(target)
        except BaseException as error:
            started.unlink(missing_ok=True)
            self._close()
            if isinstance(error, OSError):
                raise RunFileError(_mend(self.path, error)) from error
            raise
        return self

    def result(self, result: Result) -> None:
        """Appends one result. Raises RunFileError when it cannot be written."""
        seen = self._verdicts.get(result.case)
        if seen is None or worse(result.verdict, seen):
            self._verdicts[result.case] = result.verdict
        self._write(result)

    def finish(
        self,
        verdict: str,
        *,
        exit_status: int,
        interrupted: bool = False,
        unasked: Iterable[str] = (),
        checks: Mapping[str, int] | None = None,
    ) -> None:
        """Writes the footer, with the counts of what was written, and closes the file.

        Raises RunFileError when that fails, or when the file is no longer where it was made.
        """
        footer = Footer(
            verdict=verdict,
            counts=dict(self.counts),
            exit_status=exit_status,
            interrupted=interrupted,
            unasked=tuple(unasked),
            checks=checks,
        )
        self._write(footer)
        there = self.failed or self._is_there()
        self._close()
        if not there:
            self.failed = True
            raise RunFileError(
                f"the run file {self.path} was removed or replaced while the run wrote it: "
                "run again"
            )

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._fd), self.path.stat())
        except OSError:
            return False

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _write(self, line: Line) -> None:
        if self.failed:
            return
        if self._fd < 0:
            raise RunFileError(f"{self.path} is not open: write between entry and finish()")
        try:
            text = json.dumps(as_dict(line), separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as error:
            name = getattr(line, "case", type(line).__name__)
            raise RunFileError(f"{name} does not fit in JSON: {error}") from error
        data = text.encode("ascii") + b"\n"
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            self.failed = True
            with suppress(OSError):
                os.ftruncate(self._fd, self._size)
            self._close()
            raise RunFileError(_mend(self.path, error)) from error
        self._size += written

    def _close(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)


def discard(path: str | os.PathLike[str]) -> None:
    """Removes the run file of an earlier run, if there is one; what is no file stays.

    Raises RunFileError when a run is writing it.
    """
    target = Path(os.path.realpath(path))
    if target.is_file():
        _check_idle(target)
        with suppress(OSError):
            target.unlink()


def _check_idle(target: Path) -> None:
    """Raises RunFileError when a run is writing `target`."""
    try:
        with target.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RunFileError(
            f"another run is writing {target}: wait for its end, or name another --run-file"
        ) from None
    except OSError:
        return  # there is none, or its file system has no locks


def _remove_parts(target: Path) -> None:
    """Removes what a run left that was killed before its header was on the disk."""
    name = re.compile(re.escape(f".{target.name}.") + r"(\d+)\.part")
    for path in target.parent.iterdir():
        match = name.fullmatch(path.name)
        if match and not Path("/proc", match[1]).exists():
            path.unlink(missing_ok=True)


def read_run(path: str | os.PathLike[str]) -> Run:
    """Reads and checks a run file.

    A file without a footer is read (`complete` is False then), and only there the last line may be
    cut off. Raises RunFileError for everything that is no run file of this schema.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise RunFileError(f"{path} cannot be read: {error.strerror}") from error
    whole, _, rest = data.rpartition(b"\n")
    lines = [_parse(path, number, raw) for number, raw in enumerate(whole.split(b"\n"), 1) if whole]
    if rest:
        try:
            lines.append(_parse(path, len(lines) + 1, rest))
        except RunFileError:
            # Cut off while it was written. After a footer nothing is written.
            if not lines or isinstance(lines[-1], Footer):
                raise
    return _assemble(path, lines)


def _parse(path: str | os.PathLike[str], number: int, raw: bytes) -> Line:
    try:
        return from_dict(tame(json.loads(raw.decode("utf-8"), parse_constant=_no_constant)))
    except (ValueError, RecursionError) as error:
        reason = "it is no JSON" if isinstance(error, json.JSONDecodeError) else error
        raise RunFileError(
            f"{path}, line {number}: {reason}. Give a file that --run-file of this version wrote"
        ) from error


def _assemble(path: str | os.PathLike[str], lines: Sequence[Line]) -> Run:
    if not lines or not isinstance(lines[0], Header):
        raise RunFileError(f"{path} does not start with a header: it is no run file")
    footer = lines[-1] if isinstance(lines[-1], Footer) else None
    body = lines[1:-1] if footer else lines[1:]
    for number, line in enumerate(body, 2):
        if not isinstance(line, Result):
            raise RunFileError(
                f"{path}, line {number}: a {type(line).__name__.lower()} among the results. "
                "Two runs were put into one file: give one run a file"
            )
    run = Run(lines[0], tuple(body), footer)
    if footer:
        said = {verdict: count for verdict, count in footer.counts.items() if count}
        if said != run.counts:
            raise RunFileError(
                f"{path}: the footer counts {said} and the lines give {dict(run.counts)}. "
                "Lines were lost or added: run again"
            )
        if footer.verdict == "CONFORMING" and (footer.interrupted or FAILING & said.keys()):
            raise RunFileError(f"{path}: the footer says CONFORMING and its counts do not")
    return run


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _mend(path: Path, error: OSError) -> str:
    return (
        f"the run file {path} cannot be written: {error.strerror}. "
        "Make its directory, make room or name another file"
    )
