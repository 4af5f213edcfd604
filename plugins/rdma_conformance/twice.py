"""A sample of a run's cases is asked twice: a driver that disagrees with itself is not averaged.

The sample is drawn by the run's seed from the cases that were selected, so that each process of a
distributed run draws the same one.
"""

import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from conformance.spec.crowd import Limit
from conformance.spec.crowding import effort
from conformance.spec.lifetime import Killed, Rounds
from conformance.spec.memlock import LiveUnderLimit
from conformance.spec.model import Case
from conformance.spec.vocabulary import Verdict
from rdma_conformance.worsening import worsen
from rdma_reports.lines import worse

DEFAULT = "1%"
ALL = "all"
FORM = re.compile(r"all|[0-9]{1,9}|(100|[0-9]{1,2})%")

_LONG = (Killed, Limit, Rounds, LiveUnderLimit)
# What the rules may allow beside each other: a driver may choose anew each time.
_ALLOWED = frozenset({Verdict.PASS, Verdict.NOTE, Verdict.NOT_SUPPORTED})


def describe(wanted: str, seed: int) -> str:
    """What is asked twice, in words; `wanted` as in --twice, of the form `FORM`."""
    match wanted:
        case "0" | "0%":
            return "no case"
        case "all":
            return "all cases but hazards"
    number = f"{wanted} of the cases" if wanted.endswith("%") else f"{int(wanted)} cases"
    return f"{number}, drawn by seed {seed}"


def draw(cases: Iterable[tuple[str, Case]], wanted: str, seed: int) -> frozenset[str]:
    """The ids of those among `cases` (id and case, no hazards) that are asked twice.

    A percentage is rounded up. What takes long is drawn only by "all".
    """
    if wanted == ALL:
        return frozenset(name for name, _ in cases)
    names = [name for name, case in cases if effort(case) == 1 and not isinstance(case, _LONG)]
    share = wanted.removesuffix("%")
    number = int(share) if share == wanted else -(-len(names) * int(share) // 100)
    return frozenset(sorted(names, key=lambda name: _lot(name, seed))[:number])


def _lot(name: str, seed: int) -> tuple[int, str]:
    return zlib.crc32(f"twice:{seed}:{name}".encode()), name


def agree(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two records of one case may come from one steady driver.

    The verdicts are the same, for a FAIL with the same facts that differ, or each answer is one
    that the rules allow. An ERROR is no answer that could disagree.
    """
    records = (first, second)
    if any(each["verdict"] == Verdict.ERROR for each in records):
        return True
    if first["verdict"] == second["verdict"]:
        return first["verdict"] != Verdict.FAIL or _differing(first) == _differing(second)
    return all(each["verdict"] in _ALLOWED and not each["differences"] for each in records)


def join(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """One record of a case that was asked twice: the worse one, with both answers in it.

    When they do not agree the reason begins with "unstable". An ERROR is no answer: the record is
    then the other one, and no better than ERROR.
    """
    steady = agree(first, second)
    if first["verdict"] != Verdict.ERROR and second["verdict"] == Verdict.ERROR:
        worst = worsen(first, Verdict.ERROR, f"when it was asked again: {second['reason']}")
    elif first["verdict"] == Verdict.ERROR and second["verdict"] != Verdict.ERROR:
        worst = worsen(second, Verdict.ERROR, f"when it was asked first: {first['reason']}")
    else:
        worst = second if worse(second["verdict"], first["verdict"]) else first
    answers = [
        {
            "verdict": each["verdict"],
            "observed": each["observed"],
            "differs": _differing(each),
            "reason": each["reason"],
        }
        for each in (first, second)
    ]
    found = worst | {"twice": {"unstable": not steady, "answers": answers}}
    if not steady:
        found["reason"] = f"unstable: first {_words(first)}, then {_words(second)}"
    return found


def _differing(record: Mapping[str, Any]) -> list[str]:
    return [difference["fact"] for difference in record["differences"]]


def _words(record: Mapping[str, Any]) -> str:
    told = ", ".join(_differing(record))
    if record["deviation"]:
        told = "; ".join(filter(None, (record["deviation"], told)))
    elif record["reason"] and not told:
        told = record["reason"]
    return f"{record['verdict']} ({told})" if told else record["verdict"]
