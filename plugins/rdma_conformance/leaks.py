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
            self._performed.append(record["case"])
        found = {**record, "left": [each["what"] for each in leftovers]}
        for each in leftovers:
            driver = each["whose"] == DRIVER
            verdict = Verdict.FAIL if driver else Verdict.ERROR
            kept = "the driver kept" if driver else "this suite's own fault"
            reason = f"{kept}: {each['what']}{self._span(each['cases'])}"
            found = worsen(found, verdict, reason, listed and each["cases"] == 1)
        return found

    def _span(self, cases: int) -> str:
        """Which other cases may have done it."""
        others = min(cases, len(self._performed)) - 1
        if others < 1:
            return ""
        first = self._performed[-1 - others]
        plural = f"one of {others} cases" if others > 1 else "the case"
        return f" (by this case or {plural} asked before it, from {first} on)"
