"""The watch over the kernel's log: a case during which the kernel complains does not pass."""

import re
from typing import Any

from conformance.spec.vocabulary import Verdict
from rdma_conformance.kernel_log import KernelLog
from rdma_conformance.kernel_trouble import Trouble, find_trouble
from rdma_conformance.worsening import worsen

BEFORE = "before the case, and after the one before it"
DURING = "during the case"
OPENING = "while the devices were opened, before the first case"
AFTER = "after the last case, while the endpoints were closed"
_OUT_OF_MEMORY = re.compile(r"(?:Out of memory|[Mm]emory cgroup out of memory): Killed process .*")
MEND = "run as root, or sysctl kernel.dmesg_restrict=0"


class KernelWatch:
    """Looks at what the log has gained around each case of one process.

    The log is the host's: what it says of a case that another process asks at the same time is
    laid at the door of both.
    """

    def __init__(self, driver: str, log: KernelLog | None = None) -> None:
        self._driver = driver
        self._log = KernelLog() if log is None else log
        self._before: Trouble | None = None
        self._heard = ""  # since the case began

    def describe(self, peer: str | None) -> str:
        """What is watched, or why nothing is, for the head of a run; `peer` as in --peer."""
        if self._log.refused:
            return f"off, a kernel that complains is not seen ({self._log.refused}; {MEND})"
        remote = peer is not None and peer.startswith("ssh=")
        return "on this host, not on the peer's" if remote else "on"

    def begin(self) -> None:
        """A case begins: what was logged until now is not its doing, but is not lost either."""
        self._before = find_trouble(self._log.read() or "", self._driver)
        self._heard = ""

    def killer(self) -> str | None:
        """Who killed a process of the present case by SIGKILL if the kernel did not break: words.

        None if it complained, or if nobody knows.
        """
        if self._log.refused:
            return None
        heard = self._hear()
        trouble = find_trouble(heard, self._driver)
        if trouble is not None and trouble.verdict is Verdict.CRASH:
            return None
        if out_of_memory := _OUT_OF_MEMORY.search(heard):
            return f"the host ran out of memory ({out_of_memory[0]})"
        if trouble is not None:  # also of words that were lost
            return None
        return "the kernel says nothing of it, so that somebody killed it"

    def _hear(self) -> str:
        self._heard += self._log.read() or ""
        return self._heard

    def end(self, record: dict[str, Any], listed: bool = False) -> dict[str, Any]:
        """The record of the case that began last, in the light of what the kernel said.

        `listed`: by its known deviation the kernel warns; see `worsen`.
        """
        during = find_trouble(self._hear(), self._driver)
        for trouble, when in ((during, DURING), (self._before, BEFORE)):
            if trouble is not None:
                record = blame(record, trouble, when, listed and when == DURING)
        self._before, self._heard = None, ""
        return record

    def skip(self) -> None:
        """What was logged until now is looked at by others."""
        self._log.skip()

    def outside(self, when: str) -> list[tuple[str, str]]:
        """Verdict and words of what came when no case was asked: `OPENING` or `AFTER`."""
        trouble = find_trouble(self._log.read() or "", self._driver)
        return [(trouble.verdict.value, _reason(trouble, when))] if trouble else []

    def close(self) -> None:
        self._log.close()


def blame(
    record: dict[str, Any], trouble: Trouble, when: str, listed: bool = False
) -> dict[str, Any]:
    """`record` with the kernel's lines, and a verdict that is no better than theirs."""
    worse = worsen(record, trouble.verdict, _reason(trouble, when), listed)
    return worse | {"kernel": [*record["kernel"], *trouble.lines]}


def _reason(trouble: Trouble, when: str) -> str:
    match trouble:
        case Trouble(says=""):
            return f"the kernel logged more {when} than it keeps, so that it may have complained"
        case Trouble(verdict=Verdict.CRASH):
            return f"the kernel broke {when}: {trouble.says}"
        case Trouble(verdict=Verdict.FAIL):
            return f"the kernel complained {when}: {trouble.says}"
    return (
        f"the kernel complained {when}, but nothing in it names the driver or the RDMA core, so "
        f"that the suite can't tell whose doing it is: {trouble.says}"
    )
