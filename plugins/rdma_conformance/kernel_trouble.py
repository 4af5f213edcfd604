"""Which lines of the kernel's log say that the kernel itself is in trouble. Pure.

The words are those of the kernel's own sources: kernel/panic.c (WARNING, Kernel panic, end trace),
lib/bug.c (kernel BUG), lib/refcount.c, lib/ubsan.c, mm/kasan/report.c, kernel/hung_task.c,
kernel/watchdog.c, kernel/rcu/tree_stall.h, and the fault handlers of the architectures. They begin
a line; what a driver says has the name of driver or device in front of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.spec.vocabulary import Verdict

LOST = "[older lines are lost]"  # in place of lines that were overwritten before they were read
KEPT = 200  # lines of trouble: an oops has some 60

_STAMP = re.compile(r"^\[ *\d+\.\d+\] ")
# Some speakers put their name before it: "watchdog: BUG: soft lockup", "rcu: INFO: ...".
_NAME = r"(?:[\w.-]+(?: [\w.-]+)?: )?"
_GRAVE = re.compile(
    rf"{_NAME}BUG: |BUG [\w-]+ \(|kernel BUG at |{_NAME}Oops: |Kernel panic|"
    r"general protection fault|Unable to handle kernel |Internal error: |"
    rf"{_NAME}(?:CPU\d+: )?Watchdog detected hard LOCKUP|"
    rf"{_NAME}INFO: rcu_\w+ (?:self-)?detected (?:expedited )?stall"
)
_WARNING = re.compile(
    rf"WARNING: |refcount_t: |{_NAME}UBSAN: |INFO: task .* blocked .*for more than "
)
_END = "---[ end trace"
_MODULES = "Modules linked in:"  # names all, whoever is to blame

# What a verdict about the driver needs no second look at, the gravest first.
_ORDER = (Verdict.CRASH, Verdict.FAIL, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What the kernel complained of.

    CRASH when it broke, FAIL when it warned, ERROR when that can't be laid at the driver's door:
    then the lines name neither driver nor RDMA core, or are lost.
    """

    verdict: Verdict
    says: str  # the line that tells it; "" when lines were lost
    lines: tuple[str, ...]


def find_trouble(log: str, driver: str) -> Trouble | None:
    """The trouble in lines of the log ("[seconds] text"), None if there is none.

    `driver` is the name of the driver under test, such as rdma_rxe or mlx5_core.
    """
    if not log:
        return None
    found = [_judge(each, driver) for each in _reports(log.splitlines())]
    if not found:
        return None
    worst = min(found, key=lambda each: _ORDER.index(each.verdict))
    lines = [line for each in found for line in each.lines]
    return Trouble(worst.verdict, worst.says, tuple(lines[:KEPT]))


def _reports(lines: list[str]) -> Iterator[list[str]]:
    """Each complaint with what the kernel added to it: to its end trace, if it has one."""
    report: list[str] = []
    for line in lines:
        text = _STAMP.sub("", line)
        if report or text == LOST or _GRAVE.match(text) or _WARNING.match(text):
            report.append(line)
        if report and (text.startswith(_END) or text == LOST):
            yield report
            report = []
    if report:
        yield report


def _judge(report: list[str], driver: str) -> Trouble:
    texts = [_STAMP.sub("", line) for line in report]
    grave = next(filter(_GRAVE.match, texts), None)
    says = grave or next(filter(_WARNING.match, texts), "")
    verdict = Verdict.CRASH if grave else Verdict.FAIL
    if not says or not _names_rdma(texts, driver):
        verdict = Verdict.ERROR
    return Trouble(verdict, says, tuple(report))


def _names_rdma(texts: list[str], driver: str) -> bool:
    """Whether a report names a function, module or source of the driver or of the RDMA core."""
    family = re.escape(driver.removeprefix("rdma_").partition("_")[0])  # mlx5_core and mlx5_ib
    module = rf"\[(?:{re.escape(driver)}|{family}_\w+|ib_\w+|rdma_\w+|iw_\w+)\b"
    function = rf"\b_*(?:{family}|ib|rdma|uverbs|iw)_\w+\+0x"
    rdma = re.compile(rf"{module}|{function}|drivers/infiniband/")
    return any(rdma.search(text) for text in texts if not text.startswith(_MODULES))
