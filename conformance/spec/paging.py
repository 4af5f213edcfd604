"""What is asked of on-demand paging: cases, their rules, and the allowed answers.

Sources are with the catalogue's entries (conformance/requirements/odp.toml).
"""

from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Any

from conformance.spec.effect import LOCAL
from conformance.spec.lifetime import Side
from conformance.spec.memory import high, image, low
from conformance.spec.model import GUARD, PAGE, Capabilities, Expectation, Outcome
from conformance.spec.operations import ATOMICS, size
from conformance.spec.vocabulary import Operation, QPState, Status, Verdict

EXTENT = 2 * PAGE  # bytes of the mapping
AT = 512  # bytes of the other side's region before the place that the operations name

SUCCESS = Status.SUCCESS.name
RTS, ERR = QPState.RTS.value, QPState.ERR.value
NOT_TAKEN = ("EOPNOTSUPP", "EINVAL", "EPROTONOSUPPORT")


class Pages(StrEnum):
    """What the memory is when it is used."""

    UNTOUCHED = "untouched"  # mapped, and nothing more
    ZERO = "zero"  # read once: the kernel's shared zero page
    WRITTEN = "written"  # by the process: an ordinary page
    FORKED = "forked"  # written, then shared with a child by fork
    READ_ONLY = "read-only"  # written, then protected
    UNMAPPED = "unmapped"
    MAPPED_OVER = "mapped-over"  # other memory at the same address since the registration
    DISCARDED = "discarded"  # written, then given back to the kernel


GONE = (Pages.UNMAPPED,)
BLANK = (Pages.UNTOUCHED, Pages.ZERO, Pages.DISCARDED)


@dataclass(frozen=True, slots=True)
class Paged:
    """One operation that needs a region of which no page was pinned."""

    pages: Pages
    side: Side
    operation: Operation
    at: int = 0  # bytes of the mapping before the place that the operation names

    @property
    def id(self) -> str:
        word = f"{self.pages}-{self.side}-{self.operation}"
        return f"{word}-at:{self.at}" if self.at else word


class Advice(IntEnum):
    """ib_uverbs_advise_mr_advice."""

    PREFETCH = 0
    PREFETCH_WRITE = 1
    PREFETCH_NO_FAULT = 2


class Mistake(StrEnum):
    """What is wrong with an advice."""

    NONE = "none"
    RANGE = "range"  # bytes behind the region
    KEY = "key"
    ADVICE = "advice"  # a number that means none
    FLAGS = "flags"


@dataclass(frozen=True, slots=True)
class Prefetched:
    """ibv_advise_mr() of a region with on-demand paging, which is used after it."""

    advice: Advice
    flush: bool  # wait until it is done
    mistake: Mistake = Mistake.NONE

    @property
    def id(self) -> str:
        word = self.advice.name.lower().replace("_", "-") + ("-flush" if self.flush else "")
        return word if self.mistake is Mistake.NONE else f"{word}-wrong-{self.mistake}"


@dataclass(frozen=True, slots=True)
class Implicit:
    """A region of the whole address space."""

    operation: Operation

    @property
    def id(self) -> str:
        return str(self.operation)


PagingCase = Paged | Prefetched | Implicit

_ADVICE_ERRNOS = {
    Mistake.RANGE: ("EFAULT",),
    Mistake.KEY: ("EFAULT", "ENOENT"),
    Mistake.ADVICE: ("EOPNOTSUPP", "EINVAL"),
    Mistake.FLAGS: ("EINVAL",),
}


def requirement(case: PagingCase) -> str:
    """The id of the rule that `case` asks."""
    if isinstance(case, Prefetched):
        return "ODP-PREFETCH"
    if isinstance(case, Implicit):
        return "ODP-IMPLICIT"
    if case.at:
        return "ODP-PLACE"
    if case.pages in (Pages.READ_ONLY, Pages.UNMAPPED):
        return f"ODP-{case.pages.upper()}"
    shared = case.pages in (Pages.ZERO, Pages.FORKED)
    follows = case.pages in (Pages.MAPPED_OVER, Pages.DISCARDED)
    return "ODP-SHARED" if shared else "ODP-FOLLOWS" if follows else "ODP-UNTOUCHED"


def expect(case: PagingCase, caps: Capabilities, seed: int) -> Expectation:
    """All answers allowed to `case` on a device with `caps`; `seed` fixes the bytes carried."""
    name = requirement(case)
    if isinstance(case, Implicit):
        return _implicit(name, case, caps, seed)
    for capability in _wanted(case):
        if not caps.has(capability):
            return Expectation(name, (), unclaimed=caps.why_not(capability))
    if isinstance(case, Prefetched):
        return _prefetched(name, case, seed)
    refused = case.pages in GONE or (case.pages is Pages.READ_ONLY and _writes(case))
    if not refused:
        return Expectation(name, (Outcome("granted", _granted(case, seed)),))
    control = replace(case, pages=Pages.WRITTEN)
    return Expectation(name, (Outcome("refused", _refused(case, seed)),), control=control)


def _wanted(case: Paged | Prefetched) -> list[str]:
    if isinstance(case, Prefetched):
        return ["odp", "odp_rc_write", "advise_mr"]
    if case.side is Side.RECEIVE:
        return ["odp_rc_receive"]
    if case.operation in ATOMICS:
        return ["atomic", "odp_rc_atomic"]
    if case.operation is Operation.ATOMIC_WRITE:
        return ["atomic_write", "odp_rc_atomic_write"]
    return [f"odp_rc_{case.operation}"]


def _writes(case: Paged) -> bool:
    """Whether the operation writes the memory that is paged."""
    if case.side is Side.LOCAL:
        return case.operation in ATOMICS | {Operation.READ}
    return case.operation is not Operation.READ


def held(pages: str, seed: int) -> bytes:
    """The bytes that the process sees before the operation; empty if unmapped."""
    if pages in GONE:
        return b""
    if pages in BLANK:
        return bytes(EXTENT)
    if pages == Pages.MAPPED_OVER:
        return over(seed)
    return image(seed, "paged", EXTENT)[GUARD : GUARD + EXTENT]


def over(seed: int) -> bytes:
    """The bytes of the memory that is mapped over a region's."""
    return low(seed, "over", EXTENT)


def _carried(operation: Operation, seed: int, old: bytes, source: bytes) -> tuple[bytes, bytes]:
    """The bytes at the target and what was fetched, after `operation` found `old` there."""
    if operation is Operation.READ:
        return old, old
    if operation is Operation.CMP_SWAP:
        return high(seed, "operand", 8), old
    if operation is Operation.FETCH_ADD:
        return bytes(byte + 0x80 for byte in old), old
    return source, b""


def _granted(case: Paged, seed: int) -> dict[str, tuple[Any, ...]]:
    length = size(case.operation)
    page = held(case.pages, seed)[case.at :][:length]
    region = image(seed, "region", PAGE)[GUARD + AT :][:length]
    source = image(seed, "local", LOCAL)[GUARD:][:length]
    if case.side is Side.LOCAL:  # the paged memory is the requester's
        there, fetched = _carried(case.operation, seed, region, page)
        paged, other = fetched or page, there
    else:
        paged, fetched = _carried(case.operation, seed, page, source)
        other = fetched
    facts: dict[str, tuple[Any, ...]] = {
        "requester": (SUCCESS,),
        "requester_qp": (RTS,),
        "responder_qp": (RTS,),
        **_after(case, seed),
    }
    if case.at and not (case.side is Side.REMOTE and case.operation in ATOMICS):
        return {**facts, "at": (case.at,), "elsewhere": ("nothing",)}
    return {**facts, "paged": (paged.hex(),), "other": (other.hex(),)}


def _refused(case: Paged, seed: int) -> dict[str, tuple[Any, ...]]:
    local = case.side is Side.LOCAL
    errors = (Status.LOC_PROT_ERR.name,) if local else (Status.REM_ACCESS_ERR.name,)
    if case.side is Side.RECEIVE:
        errors = (Status.REM_OP_ERR.name,)
    page = held(case.pages, seed)
    length = size(case.operation)
    return {
        "requester": errors,
        "requester_qp": (ERR,),
        "responder_qp": (RTS,) if local else (ERR,),
        "paged": (page[case.at :][:length].hex() if page else "unmapped",),
        **_after(case, seed),
    }


def _after(case: Paged, seed: int) -> dict[str, tuple[Any, ...]]:
    """What must be so whatever came of the operation."""
    facts: dict[str, tuple[Any, ...]] = {
        "result": ("OK",),
        "dereg": ("OK",),
        "pinned": (0,),  # kB, while it was registered
        "left": ([],),
    }
    if case.pages is Pages.FORKED:
        kept = held(case.pages, seed)[case.at :][: size(case.operation)].hex()
        facts["child"] = (kept,)
    if case.pages is Pages.ZERO:
        facts["zero_page"] = ("zeros",)
    return facts


def _prefetched(name: str, case: Prefetched, seed: int) -> Expectation:
    source = image(seed, "local", LOCAL)[GUARD:][:LOCAL]
    facts: dict[str, tuple[Any, ...]] = {
        "requester": (SUCCESS,),
        "paged": (source.hex(),),
        "dereg": ("OK",),
        "left": ([],),
    }
    if case.mistake is Mistake.NONE:
        return Expectation(name, (Outcome("advised", {"advised": ("OK",), **facts}),))
    errnos = _ADVICE_ERRNOS[case.mistake]
    if case.mistake is Mistake.RANGE and not case.flush:
        errnos = ("OK", *errnos)  # without waiting it is done as far as can be
    control = replace(case, mistake=Mistake.NONE)
    return Expectation(name, (Outcome("refused", {"advised": errnos, **facts}),), control=control)


def _implicit(name: str, case: Implicit, caps: Capabilities, seed: int) -> Expectation:
    if not caps.has("odp_implicit"):
        facts = {"result": NOT_TAKEN, "left": ([],)}
        reason = f"refused: {caps.why_not('odp_implicit')}"
        return Expectation(name, (Outcome(reason, facts, Verdict.PASS),))
    plain = Paged(Pages.UNTOUCHED, Side.REMOTE, case.operation)
    return Expectation(name, (Outcome("granted", _granted(plain, seed)),))
