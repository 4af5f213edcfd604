"""What the matrix shows, as an HTML page and as Markdown: pure, from matrix and catalogue."""

import importlib.metadata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rdma_conformance.catalogue import Catalogue
from rdma_conformance.deviations import Deviation
from rdma_conformance.terminal import case_words, fact_words
from rdma_reports.devices import facts
from rdma_reports.explain import Explanation, explain, versions
from rdma_reports.lines import FAILING, SEVERITY, Result
from rdma_reports.matrix import Column, Matrix
from rdma_reports.pages import GLYPHS, render

LEVELS = ("MUST", "SHOULD", "IMPL")


def as_html(matrix: Matrix, catalogue: Catalogue, deviations: Iterable[Deviation]) -> str:
    """The matrix as one self-contained page, which shows the cases of each cell.

    Rules are told in the words of `catalogue`; of one that it lacks only the title is.
    """
    return render(
        "matrix.html",
        matrix=matrix,
        verdicts=SEVERITY[::-1],
        filters=_filters(matrix),
        facts=facts,
        data=page_data(matrix, catalogue, tuple(deviations)),
        version=importlib.metadata.version("rdma-conformance"),
    )


def as_markdown(matrix: Matrix) -> str:
    """The matrix as two tables: devices with their counts, and requirement by device."""
    found = {verdict for column in matrix.columns for verdict in column.run.counts}
    shown = [verdict for verdict in SEVERITY[::-1] if verdict in found]
    return render("matrix.md", matrix=matrix, shown=shown, bad=FAILING)


def page_data(
    matrix: Matrix, catalogue: Catalogue, deviations: tuple[Deviation, ...]
) -> dict[str, Any]:
    """What the page's script needs: columns, rules, and the cases of each rule.

    A case is [id, a letter of `verdicts` for each column, details by column]; a detail is the
    index of a reason, or the case's story where facts differed.
    """
    reasons: dict[str, int] = {}
    found: dict[str, dict[str, list[Any]]] = {row.requirement: {} for row in matrix.rows}
    letters = {verdict: chr(ord("a") + number) for number, verdict in enumerate(SEVERITY)}
    for number, column in enumerate(matrix.columns):
        for name, result in column.run.results.items():
            blank = [name, "-" * len(matrix.columns), None]
            case = found[result.requirement].setdefault(name, blank)
            case[1] = case[1][:number] + letters[result.verdict] + case[1][number + 1 :]
            detail = _detail(result, reasons)
            if detail is not None:
                case[2] = (case[2] or {}) | {str(number): detail}
    return {
        "columns": [{"title": each.title, "again": _again(each)} for each in matrix.columns],
        "rules": {row.requirement: _rule(row, catalogue, deviations) for row in matrix.rows},
        "cases": {
            rule: [case if case[2] else case[:2] for case in cases.values()]
            for rule, cases in found.items()
        },
        "reasons": list(reasons),
        "verdicts": {letter: verdict for verdict, letter in letters.items()},
        "order": list(SEVERITY),
        "glyphs": GLYPHS,
    }


def _detail(result: Result, reasons: dict[str, int]) -> dict[str, Any] | int | None:
    if result.differences or result.verdict in FAILING:
        story = {
            "asked": case_words(result.asked),
            "expected": _told(result.differences, "allowed"),
            "observed": _told(result.differences, "observed"),
            "reason": result.reason,
            "deviation": result.deviation,
        }
        return {name: value for name, value in story.items() if value}
    if result.reason:
        return reasons.setdefault(result.reason, len(reasons))
    return None


def _told(differences: Iterable[Mapping[str, Any]], side: str) -> str:
    told = []
    for each in differences:
        values = each[side] if side == "allowed" else [each[side]]
        words = " or ".join(fact_words(each["fact"], value) for value in values)
        told.append(f"{each['fact']} {words}")
    return "; ".join(told)


def _again(column: Column) -> str:
    """The line that runs a case again, with {} where the case's id belongs."""
    for result in column.run.lines:
        if result.case in result.again:
            return result.again.replace(result.case, "{}")
    return "pytest 'conformance/{}'"


def _rule(row: Any, catalogue: Catalogue, deviations: tuple[Deviation, ...]) -> dict[str, Any]:
    told: dict[str, Any] = {"title": row.title, "level": row.level, "area": row.area}
    if row.requirement not in catalogue:
        return told | {"parts": [], "sources": [], "deviations": []}
    return told | rule_data(explain(row.requirement, catalogue, deviations))


def rule_data(explanation: Explanation) -> dict[str, Any]:
    """The parts, sources and deviations of an explanation as JSON."""
    return {
        "parts": [list(part) for part in explanation.parts],
        "sources": [
            {
                "name": str(source),
                "says": source.says,
                "evidence": source.evidence,
                "url": source.url,
            }
            for source in explanation.rule.sources
        ],
        "deviations": [
            {
                "id": each.id,
                "versions": versions(each),
                "reason": each.reason,
                "cause": each.cause,
                "url": each.url,
                "found": str(each.found),
                "review": str(each.review),
            }
            for each in explanation.deviations
        ],
    }


def _filters(matrix: Matrix) -> list[tuple[str, list[tuple[str, int]]]]:
    """Name of each filter, and its values with the number of requirements that each shows."""
    areas = Counter(row.area for row in matrix.rows)
    levels = Counter(row.level for row in matrix.rows)
    verdicts = Counter(
        verdict
        for row in matrix.rows
        for verdict in {each for cell in row.cells if cell for each in cell.counts}
    )
    return [
        ("Area", sorted(areas.items())),
        ("Level", [(level, levels[level]) for level in LEVELS if levels[level]]),
        ("Verdict", [(each, verdicts[each]) for each in SEVERITY[::-1] if verdicts[each]]),
    ]
