"""What is asked of re-registration (ibv_rereg_mr): cases, their rules, and the allowed answers.

Sources are with the catalogue's entries (conformance/requirements/reregistration.toml).
"""

from dataclasses import dataclass, replace
from enum import IntFlag, StrEnum
from typing import Any

from conformance.spec.model import ALL_RIGHTS, Capabilities, Expectation, Outcome
from conformance.spec.umem import untold
from conformance.spec.vocabulary import Access, Status, Verdict

FEWER = Access.LOCAL_WRITE | Access.REMOTE_READ  # of ALL_RIGHTS: no remote write, no atomics

SUCCESS, REFUSED = Status.SUCCESS.name, Status.REM_ACCESS_ERR.name
ANY_ERRNO = ("EACCES", "EBUSY", "EFAULT", "EINVAL", "ENOMEM", "EOPNOTSUPP", "EPERM")


class Change(IntFlag):
    """ibv_rereg_mr_flags: what is to change."""

    TRANSLATION = 1
    DOMAIN = 2
    ACCESS = 4


class Way(StrEnum):
    """By whom the kernel is asked: some providers have no ibv_rereg_mr() where the driver has."""

    LIBRARY = "library"
    COMMAND = "command"


class Fault(StrEnum):
    """What is wrong with the request."""

    NONE = "none"
    NO_FLAGS = "no-flags"
    UNKNOWN_FLAG = "unknown-flag"
    ILLEGAL_ACCESS = "illegal-access"  # REMOTE_WRITE without LOCAL_WRITE
    UNDEFINED_BIT = "undefined-bit"
    UNMAPPED = "unmapped"
    NO_BYTE = "no-byte"
    UNKNOWN_DOMAIN = "unknown-domain"
    READ_ONLY = "read-only"  # memory that the process may not write gets the right to be written
    WINDOW = "window"  # a window is bound to the region


PART = {
    Fault.ILLEGAL_ACCESS: Change.ACCESS,
    Fault.UNDEFINED_BIT: Change.ACCESS,
    Fault.UNMAPPED: Change.TRANSLATION,
    Fault.NO_BYTE: Change.TRANSLATION,
    Fault.UNKNOWN_DOMAIN: Change.DOMAIN,
}

_ERRNOS = {
    Fault.NO_FLAGS: ("EINVAL",),
    Fault.UNKNOWN_FLAG: ("EINVAL", "EOPNOTSUPP"),
    Fault.ILLEGAL_ACCESS: ("EINVAL",),
    Fault.UNDEFINED_BIT: ("EINVAL", "EOPNOTSUPP"),
    Fault.UNMAPPED: ("EFAULT",),
    Fault.NO_BYTE: ("EINVAL",),
    Fault.UNKNOWN_DOMAIN: ("EINVAL", "ENOENT"),
}


@dataclass(frozen=True, slots=True)
class Reregistered:
    """A region is changed; then it is used as it is to be now, and as it was."""

    way: Way
    change: Change
    fault: Fault = Fault.NONE
    more: bool = False  # the new access has more rights, not fewer
    paged: bool = False  # the region is registered for on-demand paging

    @property
    def id(self) -> str:
        word = f"{self.way}-{'+'.join(each.name.lower() for each in Change if each in self.change)}"
        if self.more:
            word += "-more"
        if self.paged:
            word += "-on-demand"
        return word if self.fault is Fault.NONE else f"{word}-{self.fault}"

    @property
    def access(self) -> tuple[int, int]:
        """The access of the region before and after."""
        paged = Access.ON_DEMAND if self.paged else 0
        before, after = (FEWER, ALL_RIGHTS) if self.more else (ALL_RIGHTS, FEWER)
        return int(before | paged), int(after | paged)


def requirement(case: Reregistered) -> str:
    """The id of the rule that `case` asks."""
    if case.fault is Fault.READ_ONLY:
        return "REREG-READ-ONLY"
    if case.fault is Fault.WINDOW:
        return "REREG-WINDOW"
    return "REREG-CHANGE" if case.fault is Fault.NONE else "REREG-INVALID"


def expect(case: Reregistered, caps: Capabilities, seed: int) -> Expectation:
    """All answers allowed to `case` on a device with `caps`."""
    name = requirement(case)
    for capability in _wanted(case):
        if not caps.has(capability):
            return Expectation(name, (), unclaimed=caps.why_not(capability))
    control = replace(case, fault=Fault.NONE, change=case.change or Change.ACCESS)
    match case.fault:
        case Fault.NONE:
            return Expectation(name, _changed(case))
        case Fault.READ_ONLY:
            facts = {"result": ANY_ERRNO, "write": (REFUSED,), "seen": ([],)}
            return Expectation(name, (Outcome("refused", {**facts, **_END}),), control=control)
        case Fault.WINDOW:
            bound = {"before": (SUCCESS,), **_END}
            refused = {"result": ANY_ERRNO, "window": (SUCCESS,), **bound}
            taken = {"result": ("OK",), "window": (REFUSED,), **bound}
            outcomes = (Outcome("refused", refused), Outcome("done, and closed", taken))
            return Expectation(name, outcomes, control=control)
    facts = {"result": _ERRNOS[case.fault], "new": (REFUSED,), **_END}
    outcomes = (
        Outcome("refused, the old region holds", {**facts, "old": (SUCCESS,)}),
        Outcome("refused, the region is useless", {**facts, "old": (REFUSED,)}, Verdict.NOTE),
    )
    if case.fault is Fault.UNMAPPED:
        facts = {**facts, "result": untold("EFAULT"), "old": (SUCCESS, REFUSED)}
        outcomes += (Outcome("refused for another cause", facts, Verdict.NOTE),)
    return Expectation(name, outcomes, control=control)


_END: dict[str, tuple[Any, ...]] = {"dereg": ("OK",), "pinned_left": (0,), "left": ([],)}


def _wanted(case: Reregistered) -> list[str]:
    wanted = [f"rereg_{each.name.lower()}" for each in Change if each in case.change]
    if case.way is Way.LIBRARY:
        wanted.insert(0, "ibv_rereg_mr")
    if case.fault is Fault.WINDOW:
        wanted.append("memory_window_type_2")
    if case.paged:
        wanted += ["odp", "odp_rc_read", "odp_rc_write"]
    return wanted


def _changed(case: Reregistered) -> tuple[Outcome, ...]:
    facts: dict[str, tuple[Any, ...]] = {"result": ("OK",), "new": (SUCCESS,), **_END}
    moved = Change.TRANSLATION in case.change
    facts["bytes"] = ("of the new place" if moved else "of the old place",)
    if moved:
        facts["old_place"] = (REFUSED,)
    if Change.DOMAIN in case.change:
        facts["old_domain"] = (REFUSED,)
    if Change.ACCESS in case.change:
        facts["write"] = (SUCCESS if case.more else REFUSED,)
    outcomes = [Outcome("the new contract alone", facts)]
    if case.paged:
        refused = {"result": ANY_ERRNO, "old": (SUCCESS, REFUSED), **_END}
        outcomes.append(Outcome("refused for on-demand paging", refused))
    return tuple(outcomes)
