"""What a run says of itself at its end, on the terminal."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from rdma_conformance import terminal
from rdma_conformance.closing import Closing, Tally
from rdma_conformance.deviations import overdue
from rdma_conformance.run import Run
from rdma_reports.lines import partial

Markup = Mapping[str, bool]  # as pytest's terminal writer takes it


def summary(  # noqa: PLR0917  all that is known of a run
    run: Run,
    tally: Tally,
    closing: Closing,
    path: str,
    stuck: Mapping[str, Any] | None,
    whole: bool,
) -> Iterator[tuple[str, Markup]]:
    """Lines and how each is shown: table, what to do next, what was left out, and the verdict.

    `path` is the run file as one types it, `stuck` the record of the case that left a task in the
    kernel, and `whole` says that every selected case has a result.
    """
    checks = tally.checks()
    plain = [*terminal.table(tally.records.values()), "", *terminal.checks(checks)]
    plain += [f"run file: {path}", *terminal.next_steps(path, tally.bad())]
    yield from ((line, {}) for line in plain)
    if stuck is not None:
        rest = None if whole else path
        yield from ((line, {"red": True}) for line in terminal.stuck_block(stuck, rest))
    lacking = tally.lacking(run.claims["denials"])
    yield from ((line, {"yellow": True}) for line in _warnings(run, tally, lacking))
    line = terminal.verdict_line(
        closing.verdict,
        tally.counts(),
        tally.deviations(),
        closing.why,
        lacking=sum(lacking.values()),
    )
    if unstable := checks["unstable"]:
        line += f"; {unstable} unstable"
    yield line, {"bold": True, "red" if closing.exit_status else "green": True}


def _warnings(run: Run, tally: Tally, lacking: Mapping[str, int]) -> Iterator[str]:
    if note := partial(tally.unasked(run.catalogue)):
        yield note
    for lack, count in sorted(lacking.items(), key=lambda each: -each[1]):
        yield f"not asked here, {count} case{'s' * (count > 1)}: {lack}"
    for deviation in overdue(run.deviations, datetime.now(UTC).date()):
        if deviation.id in tally.deviations():
            yield f"{deviation.id} was to be reviewed by {deviation.review}"
