"""What the leak guard of the endpoints found, laid at the door of a case."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.spec.vocabulary import Verdict
from rdma_conformance.endpoint.leak_guard import DRIVER, EVERY
from rdma_conformance.worsening import worsen


class Leaks:
    """Worsens the records of one process, in the order in which their cases were asked."""

    def __init__(self) -> None:
        self._performed: deque[str] = deque(maxlen=EVERY)  # a leftover is of one of so many

    def end(
        self,
        record: Mapping[str, Any],
        leftovers: Sequence[Mapping[str, Any]],
        listed: bool = False,
    ) -> dict[str, Any]:
        """The record of the case that was asked last, in the light of what was left behind.

        `listed`: by its known deviation the driver keeps something; see `worsen`.
        """
        if record["observed"] or record["verdict"] != Verdict.NOT_SUPPORTED:
            times = 2 if record["twice"] else 1  # as an endpoint counts them
            self._performed.extend([record["case"]] * times)
        found = {**record, "left": [each["what"] for each in leftovers]}
        for each in leftovers:
            driver = each["whose"] == DRIVER
            verdict = Verdict.FAIL if driver else Verdict.ERROR
            kept = "the driver kept" if driver else "this suite's own fault"
            performed = [*self._performed][-each["cases"] :]
            suspects = list(dict.fromkeys(performed))
            alone = len(suspects) == 1 and len(performed) == each["cases"]
            reason = f"{kept}: {each['what']}{_span(suspects)}"
            found = worsen(found, verdict, reason, listed and alone)
        return found


def _span(suspects: Sequence[str]) -> str:
    """Which cases may have done it, if it is not the last one alone."""
    others = len(suspects) - 1
    if others < 1:
        return ""
    plural = f"one of {others} cases" if others > 1 else "the case"
    return f" (by this case or {plural} asked before it, from {suspects[0]} on)"
