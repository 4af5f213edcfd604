"""A requirement in plain words: the same text for the terminal and behind every link. Pure."""

import importlib.metadata
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from rdma_conformance.catalogue import Catalogue, Requirement, Source
from rdma_conformance.deviations import Deviation
from rdma_conformance.plants import PLANTS
from rdma_reports.errors import ReportError
from rdma_reports.faults import way
from rdma_reports.pages import render

_LEVELS = {
    "MUST": "a driver that does otherwise does not conform",
    "SHOULD": "recorded, never a failure",
    "IMPL": "left to the implementation, recorded",
}
_WIDTH = 88


@dataclass(frozen=True, slots=True)
class Explanation:
    """A rule and the deviations from it that are known."""

    rule: Requirement
    deviations: tuple[Deviation, ...]

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Heading and text of each part, in reading order."""
        return (
            ("The rule", self.rule.statement),
            ("Why", self.rule.why),
            ("What the cases do", self.rule.asked),
            ("What usually causes a failure", self.rule.failure),
            ("Planted faults that its check has caught", _faults(self.rule.id)),
        )


def _faults(requirement: str) -> str:
    """The faults in words, performed ones first."""
    found = sorted(
        (each for each in PLANTS.values() if each.breaks == requirement),
        key=lambda each: not each.performed,
    )
    return "; ".join(f"{each.name} ({way(each)}): {each.summary}" for each in found) + "."


def explain(name: str, catalogue: Catalogue, deviations: Iterable[Deviation]) -> Explanation:
    """The explanation of a requirement, or of the one that a deviation is from.

    Raises ReportError for an id that neither the catalogue nor a deviation has.
    """
    known = tuple(deviations)
    wanted = name.upper()
    for deviation in known:
        if deviation.id == wanted:
            return Explanation(catalogue[deviation.requirement], (deviation,))
    if wanted not in catalogue:
        ids = [rule.id for rule in catalogue] + [deviation.id for deviation in known]
        near = get_close_matches(wanted, ids, n=3, cutoff=0.5)
        mend = f"did you mean {' or '.join(near)}?" if near else "see `rdma-conformance explain`"
        raise ReportError(f"no requirement or deviation is called {name}: {mend}")
    return Explanation(catalogue[wanted], tuple(d for d in known if d.requirement == wanted))


def as_text(explanation: Explanation) -> str:
    """The explanation for a terminal, lines of at most 88 columns where words allow."""
    rule = explanation.rule
    lines = [rule.id, rule.title, f"{rule.level} ({_LEVELS[rule.level]})", ""]
    for heading, text in explanation.parts:
        lines += [heading, *_block(text), ""]
    lines.append("Sources")
    for source in rule.sources:
        lines += _source(source)
    lines += ["", "Known deviations"]
    for deviation in explanation.deviations:
        lines += _deviation(deviation)
    if not explanation.deviations:
        lines += _block("none")
    return "\n".join(lines)


def versions(deviation: Deviation) -> str:
    """The driver and the versions that a deviation is about, in words."""
    ranges = (("kernel", deviation.kernel), ("firmware", deviation.firmware))
    return ", ".join([deviation.driver, *(f"{name} {bounds}" for name, bounds in ranges if bounds)])


def as_html(catalogue: Catalogue, deviations: Iterable[Deviation]) -> str:
    """One page with every explanation, each with its id as the anchor."""
    known = tuple(deviations)
    return render(
        "rules.html",
        explanations=[explain(rule.id, catalogue, known) for rule in catalogue],
        digest=catalogue.digest,
        version=importlib.metadata.version("rdma-conformance"),
        versions=versions,
    )


def list_text(catalogue: Catalogue) -> str:
    """One line for each requirement: id, level and title."""
    width = max(len(rule.id) for rule in catalogue)
    return "\n".join(f"{rule.id:<{width}}  {rule.level:<6}  {rule.title}" for rule in catalogue)


def _source(source: Source) -> list[str]:
    lines = [*_block(f"- {source}"), *_block(source.says, 4)]
    if source.evidence:
        lines += _block(f"seen in: {source.evidence}", 4)
    if source.url:
        lines.append(f"    {source.url}")
    return lines


def _deviation(deviation: Deviation) -> list[str]:
    return [
        *_block(f"- {deviation.id}: {versions(deviation)}"),
        *_block(deviation.reason, 4),
        *_block(f"cause: {deviation.cause}", 4),
        f"    {deviation.url}",
        f"    found {deviation.found}, to be reviewed by {deviation.review}",
    ]


def _block(text: str, indent: int = 2) -> list[str]:
    margin = " " * indent
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=margin,
        subsequent_indent=margin + ("  " if text.startswith("- ") else ""),
        break_long_words=False,
        break_on_hyphens=False,
    )
