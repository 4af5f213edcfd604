"""The conformance matrix: requirement by device, from one run file or several. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rdma_reports.devices import titles
from rdma_reports.errors import ReportError
from rdma_reports.lines import Result
from rdma_reports.runfile import Run

FORMAT = "rdma-conformance-matrix"
VERSION = 1
# What a cell says of its cases: the first of these that one of them has. A case that passed
# outweighs those that the device does not claim, and those that were only recorded.
SAYS = ("CRASH", "FAIL", "FIXED", "ERROR", "DEVIATION", "PASS", "NOTE", "NOT_SUPPORTED")
INCOMPLETE = "INCOMPLETE"
_NAMED = 3  # rules of a longer list


@dataclass(frozen=True, slots=True)
class Column:
    """A run on a device: `name` is that of its file, `warnings` what weakens its verdict."""

    title: str
    name: str
    run: Run
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> str:
        return self.run.footer.verdict if self.run.footer else INCOMPLETE


@dataclass(frozen=True, slots=True)
class Cell:
    """A requirement on a device: the verdict that tells most, and the cases of each verdict."""

    verdict: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement; `cells` has None for a device that it was not asked of."""

    area: str
    requirement: str
    level: str
    title: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Columns and rows, all from one version of suite and catalogue."""

    suite: str
    catalogue: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def build(runs: Sequence[tuple[str, Run]]) -> Matrix:
    """The matrix of runs, each with the name of its file.

    Raises ReportError for runs of different catalogues, and when no run has a result.
    """
    one_catalogue(runs)
    if not any(run.lines for _, run in runs):
        raise ReportError(f"{runs[0][0]} holds no result: run the suite again, to its end")
    names = titles([run.header.device for _, run in runs], [run.header.started for _, run in runs])
    columns = tuple(
        Column(title, name, run, _warnings(run))
        for title, (name, run) in zip(names, runs, strict=True)
    )
    header = runs[0][1].header
    return Matrix(header.suite, header.catalogue, columns, tuple(_rows(columns)))


def one_catalogue(runs: Iterable[tuple[str, Run]]) -> None:
    """Raise ReportError unless all runs were made with one catalogue."""
    found: dict[str, str] = {}
    for name, run in runs:
        found.setdefault(run.header.catalogue, name)
    if len(found) > 1:
        told = ", ".join(f"{name} has {digest}" for digest, name in found.items())
        raise ReportError(
            f"the runs were made with different catalogues ({told}), so that their cases mean "
            "different things: run both with one version of the suite"
        )


def _rows(columns: Sequence[Column]) -> Iterable[Row]:
    rules: dict[str, Result] = {}
    by_rule: list[dict[str, Counter[str]]] = []
    for column in columns:
        counts: dict[str, Counter[str]] = {}
        for result in column.run.results.values():
            rules.setdefault(result.requirement, result)
            counts.setdefault(result.requirement, Counter())[result.verdict] += 1
        by_rule.append(counts)
    for name, result in sorted(rules.items(), key=lambda pair: (pair[1].area, pair[0])):
        cells = tuple(_cell(counts.get(name)) for counts in by_rule)
        yield Row(result.area, name, result.level, result.title, cells)


def _cell(counts: Mapping[str, int] | None) -> Cell | None:
    if counts is None:
        return None
    return Cell(next(verdict for verdict in SAYS if counts.get(verdict)), counts)


def _warnings(run: Run) -> tuple[str, ...]:
    found = []
    if run.header.planted:
        found.append(f"a fault was planted: {run.header.planted}")
    if run.footer is None:
        found.append("the run did not end: it has no footer")
    elif run.footer.interrupted:
        found.append("the run was interrupted")
    if unstable := run.checks["unstable"]:
        found.append(f"{unstable} cases are unstable: asked twice, they did not answer alike")
    if run.header.deselected:
        found.append(f"{run.header.deselected} cases were deselected")
    if run.footer and run.footer.unasked:
        names = run.footer.unasked
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        found.append(f"MUSTs that were not asked: {', '.join(names[:_NAMED])}{more}")
    return tuple(found)


def as_json(matrix: Matrix) -> dict[str, Any]:
    """The matrix as a JSON object; `cells` stand in the order of `devices`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "suite": matrix.suite,
        "catalogue": matrix.catalogue,
        "devices": [_column_json(column) for column in matrix.columns],
        "requirements": [
            {
                "id": row.requirement,
                "area": row.area,
                "level": row.level,
                "title": row.title,
                "cells": [
                    cell and {"verdict": cell.verdict, "counts": dict(cell.counts)}
                    for cell in row.cells
                ],
            }
            for row in matrix.rows
        ],
    }


def _column_json(column: Column) -> dict[str, Any]:
    header, footer = column.run.header, column.run.footer
    return {
        "title": column.title,
        "run": column.name,
        "identity": dict(header.device),
        "fabric": header.fabric,
        "verdict": column.verdict,
        "counts": dict(column.run.counts),
        "started": header.started,
        "finished": footer.finished if footer else None,
        "warnings": list(column.warnings),
    }
