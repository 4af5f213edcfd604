"""A badge as SVG: what a run found, in one line. Pure."""

from collections.abc import Sequence

from rdma_reports.matrix import INCOMPLETE, Matrix
from rdma_reports.pages import render

_COLOURS = {"CONFORMING": "#15703b", "NOT CONFORMING": "#b3261e"}
_OTHER = "#6b4a00"  # no verdict on the driver: INVALID, INCOMPLETE
_WORST = ("NOT CONFORMING", "INVALID", INCOMPLETE, "CONFORMING")
_CHARACTER = 6.6  # pixels that a character of the badge's font needs, about
LABEL = "RDMA conformance"


def badge(matrix: Matrix) -> str:
    """The badge of all runs of a matrix: the worst verdict, and of how many devices."""
    verdict = next(each for each in _WORST if each in _verdicts(matrix))
    words = _words(verdict, matrix)
    left, right = (round(len(text) * _CHARACTER) + 14 for text in (LABEL, words))
    return render(
        "badge.svg.html",
        label=LABEL,
        words=words,
        left=left,
        right=right,
        colour=_COLOURS.get(verdict, _OTHER),
    )


def _verdicts(matrix: Matrix) -> Sequence[str]:
    # A planted fault makes a run say nothing of the driver, whatever its footer says.
    return ["INVALID" if column.run.header.planted else column.verdict for column in matrix.columns]


def _words(verdict: str, matrix: Matrix) -> str:
    words = verdict.lower()
    if verdict == "CONFORMING":
        deviations = {
            result.deviation
            for column in matrix.columns
            for result in column.run.results.values()
            if result.verdict == "DEVIATION"
        }
        if deviations:
            words += f", {len(deviations)} known deviation{'s' if len(deviations) > 1 else ''}"
        if any(column.warnings for column in matrix.columns):
            words += ", partial"
    if len(matrix.columns) > 1:
        having = _verdicts(matrix).count(verdict)
        words += f" ({having} of {len(matrix.columns)} runs)"
    return words
