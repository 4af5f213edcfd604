"""The oracle of atomics that two queue pairs send to the same place at once."""

from conformance.spec.model import Capabilities, ConcurrentAtomics, Expectation, Outcome
from conformance.spec.vocabulary import Operation, Status

LANES = 2  # queue pairs
BURST = 8  # requests that each posts before any is awaited


def requirement(case: ConcurrentAtomics) -> str:
    """The id of the rule that a case asks."""
    return "ATOMIC-CONTENTION"


def expect(case: ConcurrentAtomics, caps: Capabilities, seed: int = 0) -> Expectation:
    """All answers allowed: no update is lost or made twice, in whatever order they come.

    FETCH_ADD adds 1 each time, so that the values fetched are 0, 1, 2 and so on, each once. Of
    CMP_SWAP both queue pairs climb the same ladder, from n to n + 1 with each request: each rung is
    won once, by either.
    """
    name = requirement(case)
    if not caps.has("atomic"):
        return Expectation(name, (), unclaimed=caps.why_not("atomic"))
    steps = case.bursts * BURST
    if case.operation is Operation.FETCH_ADD:
        steps *= LANES
    facts = {
        "requester": ([Status.SUCCESS.name],),
        "value": (steps,),
        "returned": (list(range(steps)),),
    }
    return Expectation(name, (Outcome("each update once", facts),))
