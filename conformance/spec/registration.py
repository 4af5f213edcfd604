"""The oracle of ibv_reg_mr(): which access values register, and how the others are refused."""

from conformance.spec.model import Capabilities, Expectation, Outcome, Registration
from conformance.spec.vocabulary import OPTIONAL_BITS, Access, Verdict

DEFINED = sum(Access)
OPTIONAL = sum(1 << bit for bit in OPTIONAL_BITS)
BASIC = sum(
    (
        Access.LOCAL_WRITE,
        Access.REMOTE_WRITE,
        Access.REMOTE_READ,
        Access.REMOTE_ATOMIC,
        Access.MW_BIND,
    )
)
NEEDS_LOCAL_WRITE = Access.REMOTE_WRITE | Access.REMOTE_ATOMIC

# Flags that need a capability, and the capability by which a device claims it. For ZERO_BASED
# and HUGETLB there is no way to claim: whether a device takes them is seen by asking.
CLAIMED_BY = {
    Access.ON_DEMAND: "odp",
    Access.FLUSH_GLOBAL: "flush_global",
    Access.FLUSH_PERSISTENT: "flush_persistent",
    Access.ZERO_BASED: None,
    Access.HUGETLB: None,
}

# EINVAL before kernel 6.2, EPROTONOSUPPORT from some old drivers.
NOT_TAKEN = ("EOPNOTSUPP", "EINVAL", "EPROTONOSUPPORT")


def requirement(case: Registration) -> str:
    """The id of the rule that a registration asks."""
    access = case.access
    if access & ~(DEFINED | OPTIONAL):
        return "REG-UNDEFINED-BIT"
    if access & NEEDS_LOCAL_WRITE and not access & Access.LOCAL_WRITE:
        return "REG-REMOTE-NEEDS-LOCAL"
    if access & Access.FLUSH_PERSISTENT:
        return "REG-FLUSH-PERSISTENT"
    if any(access & flag for flag in CLAIMED_BY):
        return "REG-CAPABILITY"
    if access & OPTIONAL:
        return "REG-OPTIONAL-BITS"
    return "REG-FLAGS-LEGAL" if access else "REG-NO-RIGHTS"


def expect(case: Registration, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed to `case` on a device with `caps`."""
    access = case.access
    name = requirement(case)
    unclaimed = [
        flag
        for flag, capability in CLAIMED_BY.items()
        if access & flag and (capability is None or not caps.has(capability))
    ]
    if name in ("REG-UNDEFINED-BIT", "REG-REMOTE-NEEDS-LOCAL"):
        errnos = NOT_TAKEN if unclaimed else ("EINVAL",)
        return Expectation(name, (_refused("refused", errnos),), control=_control(case))
    outcomes = []
    if unclaimed:
        outcomes.append(_refused("refused and not claimed", NOT_TAKEN, Verdict.NOT_SUPPORTED))
    elif access & Access.FLUSH_PERSISTENT:
        reason = "refused for memory that is not persistent"
        outcomes.append(_refused(reason, ("EINVAL",), Verdict.NOTE))
    if not unclaimed or all(CLAIMED_BY[flag] is None for flag in unclaimed):
        outcomes += _registered(access)
    if access & Access.REMOTE_ATOMIC and not caps.has("atomic"):
        outcomes.append(_refused("no atomics on this device", NOT_TAKEN, Verdict.NOT_SUPPORTED))
    if access & Access.MW_BIND and not caps.has("memory_window"):
        outcomes.append(_refused("no windows on this device", NOT_TAKEN, Verdict.NOT_SUPPORTED))
    return Expectation(name, tuple(outcomes))


def _control(case: Registration) -> Registration:
    """The same registration without the fault: LOCAL_WRITE added, undefined bits taken away."""
    access = case.access & (BASIC | OPTIONAL)
    if access & NEEDS_LOCAL_WRITE:
        access |= Access.LOCAL_WRITE
    return Registration(access, case.length, case.page_offset)


def _refused(name: str, errnos: tuple[str, ...], verdict: Verdict = Verdict.PASS) -> Outcome:
    facts = {"result": errnos, "addressing": ([],), "pinned_left": (0,), "left": ([],)}
    return Outcome(name, facts, verdict)


def _registered(access: int) -> list[Outcome]:
    """Registered and usable; a zero-based region may be addressed in exactly one way."""
    facts = {
        "result": ("OK",),
        "reported": ("as asked",),
        "addressing": (["address"],),
        "dereg": ("OK",),
        "pinned_left": (0,),
    }
    if access & Access.ZERO_BASED:
        offset = {**facts, "addressing": (["offset"],)}
        return [
            Outcome("registered, addressed by offset", offset),
            Outcome("registered, addressed as usual", facts, Verdict.NOTE),
        ]
    if access & Access.HUGETLB:
        return [Outcome("registered, pages of ordinary size", facts, Verdict.NOTE)]
    return [Outcome("registered", facts)]
