"""Steps that the suites put together to programs."""

from conformance.spec.memlock import Do, Step
from conformance.spec.vocabulary import PAGE


def register(pages: int = 1, **more: int | bool) -> Step:
    """Register so many pages of fresh memory."""
    return Step(length=pages * PAGE, **more)


def touch(length: int, offset: int, **more: int | bool) -> Step:
    """Register `length` bytes from `offset` bytes into a page."""
    return Step(length=length, offset=offset, **more)


def deregister(which: int) -> Step:
    """Deregister what step number `which` registered."""
    return Step(Do.DEREGISTER, which=which)


def limit(pages: int) -> Step:
    return Step(Do.LIMIT, length=pages * PAGE)


CLOSE = Step(Do.CLOSE)
