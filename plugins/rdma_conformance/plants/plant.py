"""What a planted fault is: when it strikes, and what the endpoints do or report instead."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Wire = Mapping[str, Any]  # a case as `spec.model.wire` makes it


@dataclass(frozen=True, slots=True)
class Plant:
    """A fault: which requirement it breaks, when it strikes, and what it does then."""

    name: str
    breaks: str
    summary: str
    when: Callable[[Wire], bool]
    adds: int = 0  # rights that the region gets unasked
    drops: int = 0  # bits of the region's access that are lost
    adds_to_queue_pair: int = 0
    # Not looked at, of: iova (of a region), limit (RLIMIT_MEMLOCK), fork (the pages of a region
    # go to the child), call (for which windows it is), change (of the protection domain), end
    # (of a window, which is told all the same)
    ignores: frozenset[str] = frozenset()
    reports: Mapping[str, Any] = field(default_factory=dict)  # instead of what was seen
    stray_byte: bool = False  # the byte behind the range of the operation is written, too
    instead: Mapping[str, Any] = field(default_factory=dict)  # fields of the case, performed so
    safely: Mapping[str, Any] = field(default_factory=dict)  # the same for a hazard's sake alone
    leak: bool = False  # a page stays pinned, or what holds it
    leaves: str | None = None  # what stays behind after the case, as `endpoint.leaving` has it
    ends_early: bool = False  # the region or window that the case goes on to use is ended
    says: tuple[str, ...] = ()  # lines that the kernel logs
    misbehave: str | None = None  # "hang" or "die" instead of performing the case
    alternates: bool = False  # strikes only every second time

    @property
    def of_suite(self) -> bool:
        """Whether it is the suite's own fault, and none of a driver's."""
        return self.leaves in ("forgotten", "descriptor", "mapping")

    @property
    def performed(self) -> bool:
        """Whether something else happens at the verbs; else only the observation is altered.

        Facts that a performed fault `reports` as well make it complete: what else it leads to is
        seen.
        """
        acts = (self.adds, self.drops, self.adds_to_queue_pair, self.ignores, self.stray_byte)
        left = (self.leak, self.leaves)
        return any((*acts, *left, self.instead, self.ends_early, self.says, self.misbehave))

    def of(self, case: Wire, met: int = 1) -> "Plant":
        """This fault if `case` triggers it, else the honest driver; `met` cases did before."""
        if self.alternates and met % 2 == 0:
            return HONEST
        return self if self.when(case) else HONEST

    def region_access(self, access: int) -> int:
        return int((access | self.adds) & ~self.drops)

    def transfer(self, case: Wire) -> dict[str, Any]:
        """The transfer that the endpoints perform in place of `case`."""
        remote = {**case["remote"], "access": self.region_access(case["remote"]["access"])}
        granted = int(case["qp_access"] | self.adds_to_queue_pair)
        if "iova" in self.ignores:
            remote["iova"] = None
        return {**case, "remote": remote, "qp_access": granted, **self.instead}

    def altered(self, case: Wire) -> dict[str, Any]:
        """The case that the endpoints perform in place of `case`."""
        return {**case, **self.safely, **self.instead}

    def report(self, observation: dict[str, Any]) -> dict[str, Any]:
        return {**observation, **self.reports}


HONEST = Plant("honest", "", "a driver as it is", lambda case: False)
