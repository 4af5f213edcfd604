"""Going on with a run that did not end: what it left, whether it can go on, and who is to blame.

Pure but for `read_unfinished` and `boot_id`.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rdma_conformance.kernel_trouble import KEPT
from rdma_reports.lines import Header, now
from rdma_reports.places import cut_off
from rdma_reports.runfile import Run, RunFileError, read_run

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Their node GUID comes from the address of a link, which veth draws anew each time.
_SOFTWARE = frozenset({"rdma_rxe", "siw"})


class CannotResume(Exception):
    """The run can't go on here; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What a run left: its run file, the cases that ran at its end, and the kernel's last words.

    `words` is None when nobody says that the kernel died.
    """

    path: Path
    run: Run
    running: tuple[str, ...]
    words: tuple[str, ...] | None

    def boot(self) -> str | None:
        """The boot in which it was last asking."""
        return self.run.header.resumed[-1]["boot"] if self._resumed() else self.run.header.boot

    def distributed(self) -> bool:
        """Whether several processes asked when it ended: going on is always by one."""
        return bool(self.run.header.workers) and not self._resumed()

    def suspects(self) -> tuple[str, ...]:
        """The cases that were suspects already and have no result yet."""
        named = (case for entry in self.run.header.resumed for case in entry["suspects"])
        return tuple(case for case in dict.fromkeys(named) if case not in self.run.results)

    def _resumed(self) -> bool:
        return bool(self.run.header.resumed)


@dataclass(frozen=True, slots=True)
class Blame:
    """Who took the machine down: `crashed` for certain, `suspects` perhaps (asked again, alone)."""

    crashed: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()


def read_unfinished(path: Path, last_words: Path | None = None) -> Unfinished:
    """What the run of run file `path` left. Raises CannotResume.

    `last_words` is a text file with what the kernel said when it died.
    """
    try:
        run = read_run(path)
    except RunFileError as error:
        raise CannotResume(f"--resume: {error}") from None
    if len(run.results) >= run.header.selected:
        raise CannotResume(
            f"--resume {path}: each of its {run.header.selected} cases has a result, so that there "
            "is nothing to go on with; run without --resume to ask them again"
        )
    words = None
    if last_words is not None:
        try:
            text = last_words.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise CannotResume(f"--last-words {last_words}: {error.strerror}") from None
        words = tuple(line.rstrip() for line in text.splitlines() if line.strip())[:KEPT]
    return Unfinished(path, run, tuple(cut_off(path, replace(run, footer=None))), words)


def check(unfinished: Unfinished, now_is: Header) -> None:
    """Raise CannotResume unless a run with the header `now_is` would ask the same as that one."""
    was, footer = unfinished.run.header, unfinished.run.footer
    if footer and footer.stuck and now_is.boot == unfinished.boot():
        raise CannotResume(
            f"--resume {unfinished.path}: a task is stuck in this kernel since "
            f"{footer.stuck} was asked. Reboot first"
        )
    changed = [
        f"{name} was {_shown(before)} and is {_shown(after)}"
        for name, before, after in _compared(was, now_is)
        if before != after
    ]
    if changed:
        raise CannotResume(
            f"--resume {unfinished.path}: this is not the same run: {'; '.join(changed)}. Give the "
            "options of that run on the same device, or run without --resume"
        )


def _compared(was: Header, now_is: Header) -> Iterable[tuple[str, Any, Any]]:
    for name in sorted(was.device.keys() | now_is.device.keys()):
        drawn = name == "gid" or (name == "node_guid" and was.device.get("driver") in _SOFTWARE)
        made = name == "device" and "--setup-rxe" in was.argv and "--setup-rxe" in now_is.argv
        if not drawn and not made:
            yield f"the device's {name}", was.device.get(name), now_is.device.get(name)
    yield "the peer", was.peer, now_is.peer
    yield "the port", was.port, now_is.port
    for name in sorted(_capabilities(was) | _capabilities(now_is)):
        yield f"the capability {name}", _capability(was, name), _capability(now_is, name)
    yield "the suite", was.suite, now_is.suite
    yield "the catalogue", was.catalogue, now_is.catalogue
    yield "the seed", was.seed, now_is.seed
    yield "the planted fault", was.planted, now_is.planted
    yield "the kernel watch", was.kernel_watch, now_is.kernel_watch
    yield "the leak guard", was.leak_guard, now_is.leak_guard
    yield "the digest of known deviations", was.deviations, now_is.deviations
    yield "what is asked twice", was.twice, now_is.twice
    yield "the number of selected cases", was.selected, now_is.selected
    yield "the selection of cases", was.selection, now_is.selection


def _capabilities(header: Header) -> set[str]:
    return {name for names in header.capabilities.values() for name in names}


def _capability(header: Header, name: str) -> str | None:
    """Whether it is claimed; why it is denied may name a device that is made anew."""
    told = header.capabilities
    words = {"claims": "claimed", "denials": "denied"}
    return next((words[how] for how in words if name in told.get(how, ())), None)


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)


def blame(unfinished: Unfinished, boot: str | None) -> Blame:
    """Who took the machine down that now runs in `boot`.

    Nobody if it is the same boot: then the run was killed, and not the machine. One case that ran
    alone, if the kernel is said to have died or the case was a suspect before. Else those that
    ran are suspects: a machine may lose its power or be killed, and of several cases that ran at
    the same time most are innocent.
    """
    suspects = unfinished.suspects()
    if boot is not None and boot == unfinished.boot():
        return Blame(suspects=suspects)
    ran = unfinished.running
    alone = len(ran) == 1 and not unfinished.distributed()
    if alone and (unfinished.words is not None or ran[0] in suspects):
        return Blame(ran, tuple(case for case in suspects if case not in ran))
    return Blame(suspects=tuple(dict.fromkeys((*suspects, *ran))))


def resumed(header: Header, boot: str | None, found: Blame) -> Header:
    """The header of the run that goes on: the same, and that it was resumed."""
    entry: Mapping[str, Any] = {"at": now(), "boot": boot, "suspects": list(found.suspects)}
    return replace(header, resumed=(*header.resumed, entry))


def selection_digest(cases: Iterable[str]) -> str:
    """12 hexadecimal digits that two runs share only if they have selected the same cases."""
    return hashlib.sha256("\n".join(sorted(cases)).encode()).hexdigest()[:12]


def boot_id() -> str | None:
    """What the kernel calls its present boot: random(4)."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return None
