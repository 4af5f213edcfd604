"""What a person reads: the failure block of a case, the table of a run, and its verdict line."""

import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.spec.model import Transfer, wire
from conformance.spec.vocabulary import Operation, Status, Verdict, access_words
from rdma_reports.hexdump import MEMORY, are_runs

WIDTH = 100
KERNEL_LINES = 12  # of an oops: what it is, and where
_LABEL = 10


def header(
    identity: Mapping[str, Any], fabric: str, kernel_watch: str, leak_guard: str
) -> list[str]:
    """The lines above a run: the device under test, how its two ends meet, what is watched."""
    device = (
        f"device {identity['device']}: driver {identity['driver']}, kernel {identity['kernel']}, "
        f"rdma-core {identity['rdma_core']}, firmware {identity['firmware']}, "
        f"{identity['gid_type'] or identity['link_layer']}"
    )
    watched = [f"kernel watch: {kernel_watch}", f"leak guard: {leak_guard}"]
    return [device, f"fabric: {fabric}", *watched]


def failure_block(record: Mapping[str, Any]) -> str:
    """Requirement, case, expected, observed, source, and the line that runs the case again."""
    lines = [
        f'{record["verdict"]}  {record["requirement"]}  {record["level"]}  "{record["title"]}"',
        _field("case", case_words(record["asked"])),
    ]
    if record["differences"]:
        name = record["expected"][0]["name"] if record["expected"] else ""
        first = True
        for difference in record["differences"]:
            allowed = " or ".join(
                fact_words(difference["fact"], each) for each in difference["allowed"]
            )
            label = "expected" if first else ""
            lines.append(_field(label, f"{difference['fact']} {allowed}" + _name(name, first)))
            first = False
        first = True
        for difference in record["differences"]:
            seen = fact_words(difference["fact"], difference["observed"])
            label = "observed" if first else ""
            lines.append(_field(label, f"{difference['fact']} {seen}"))
            first = False
    lines += _unstable(record.get("twice"))
    if record["reason"]:
        lines.append(_field("reason", record["reason"]))
    kernel = record["kernel"]
    for number, line in enumerate(kernel[:KERNEL_LINES]):
        lines.append(f"  {'' if number else 'kernel':<{_LABEL}}{line}")
    if len(kernel) > KERNEL_LINES:
        lines.append(_field("", f"and {len(kernel) - KERNEL_LINES} more lines, in the run file"))
    lines.append(_field("source", "; ".join(record["sources"])))
    if record.get("again"):
        lines.append(f"  {'again':<{_LABEL}}{record['again']}")
    return "\n".join(lines)


def _unstable(twice: Mapping[str, Any] | None) -> Iterator[str]:
    """Both answers of an unstable case: the facts in which they differ."""
    if twice is None or not twice["unstable"]:
        return
    first, then = (answer["observed"] for answer in twice["answers"])
    changed = [fact for fact in {**first, **then} if first.get(fact) != then.get(fact)]
    for label, answer in (("first", first), ("then", then)):
        for fact in changed:
            seen = fact_words(fact, answer[fact]) if fact in answer else "not observed"
            yield _field(label, f"{fact} {seen}")


def _name(name: str, first: bool) -> str:
    return f" ({name})" if first and name else ""


def _field(label: str, text: str) -> str:
    head = f"  {label:<{_LABEL}}"
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def case_words(asked: Mapping[str, Any]) -> str:
    """The wire form of a case in one line, without what is as in every case of its kind."""
    words = []
    usual = _USUAL.get(str(asked.get("kind")), {})
    for name, value in asked.items():
        as_usual = name not in _ALWAYS and name in usual and value == usual[name]
        if name == "kind" or value is None or value is False or as_usual:
            continue
        if isinstance(value, Mapping):
            inner = ", ".join(f"{key}={_value(key, each)}" for key, each in value.items())
            words.append(f"{name}=({inner})")
        else:
            words.append(f"{name}={_value(name, value)}")
    return ", ".join(words)


_USUAL = {"transfer": wire(Transfer(Operation.WRITE))}
_ALWAYS = frozenset({"operation", "transport", "length", "remote", "qp_access"})


def _value(name: str, value: Any) -> str:
    if name.endswith("access") and isinstance(value, int):
        return access_words(value)
    return str(value)


def fact_words(fact: str, value: Any) -> str:
    """A fact's value as a person reads it: statuses with their numbers, runs of memory in words."""
    if fact in MEMORY and are_runs(value):
        return _memory_words(value)
    if fact in MEMORY and isinstance(value, Mapping) and all(map(are_runs, value.values())):
        # As AnyPrefix.plain() makes it.
        return "; ".join(f"{name} {_memory_words(runs)}" for name, runs in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(fact_words(fact, each) for each in value) + "]"
    if isinstance(value, str) and value in Status.__members__:
        return f"{value}({Status[value].value})"
    return str(value)


def _memory_words(runs: Sequence[Sequence[Any]]) -> str:
    if not runs:
        return "unchanged"
    parts = [f"{length} bytes at {start} = {_short(data)}" for start, length, data in runs[:3]]
    more = f" and {len(runs) - 3} more runs" if len(runs) > 3 else ""
    return "changed: " + ", ".join(parts) + more


def _short(data: str) -> str:
    return data if len(data) <= 32 else data[:32] + "..."


def table(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Cases by area and verdict, one line an area; verdicts that no case has are left out."""
    counts: dict[str, Counter[str]] = {}
    for record in records:
        counts.setdefault(record["area"], Counter())[record["verdict"]] += 1
    shown = [
        verdict
        for verdict in Verdict
        if verdict in (Verdict.PASS, Verdict.FAIL) or any(row[verdict] for row in counts.values())
    ]
    width = max([len("area"), *map(len, counts)]) + 2
    head = "area".ljust(width) + "".join(f"{verdict:>{len(verdict) + 3}}" for verdict in shown)
    lines = [head]
    for area in sorted(counts):
        cells = "".join(f"{counts[area][verdict]:>{len(verdict) + 3}}" for verdict in shown)
        lines.append(area.ljust(width) + cells)
    return lines


def checks(counts: Mapping[str, int]) -> list[str]:
    """What the run did to be trusted, as `count_checks` counts it."""
    refusals, controls = counts["refusals"], counts["controls"]
    told = "each" if refusals == controls else f"{controls} of them"
    lines = []
    if refusals:
        lines.append(f"refusals: {refusals} asked, {told} after its positive control had succeeded")
    if counts["twice"]:
        plural = "s" if counts["twice"] > 1 else ""
        lines.append(f"asked twice: {counts['twice']} case{plural}, {counts['unstable']} unstable")
    return lines


def next_steps(run_file: str, bad: Sequence[str]) -> list[str]:
    """The commands that a person may want next; `bad` are the requirements that did not conform."""
    page = shlex.quote(str(Path(*shlex.split(run_file)).with_name("matrix.html")))
    steps = [f"rdma-conformance matrix {run_file} -o {page}"]
    if bad:
        steps.insert(0, f"rdma-conformance explain {bad[0]}")
    return [f"next: {'; '.join(steps)}"]


def stuck_line(case: str) -> str:
    """Why a run ends whose task is stuck in the kernel."""
    return f"a task is stuck in the kernel since {case} was asked"


def stuck_block(record: Mapping[str, Any], run_file: str | None) -> list[str]:
    """The same with the task's kernel stack and the mend.

    `run_file` is that of a run that has a rest, as one types it.
    """
    go_on = f", then go on: the same command with --resume {run_file}" if run_file else " it"
    return [
        f"{stuck_line(record['case'])}: no other case could trust this machine",
        *(f"  {line}" for line in (record["reason"] or "").splitlines()),
        f"reboot{go_on}",
    ]


def verdict_line(
    verdict: str,
    counts: Mapping[str, int],
    deviations: Mapping[str, int],
    why: Sequence[str],
    lacking: int = 0,
) -> str:
    """The last word of a run: CONFORMING, with known deviations by id, or why it is not.

    `lacking` of those that are NOT_SUPPORTED need what the host or its user lacks.
    """
    line = verdict
    if deviations:
        named = ", ".join(
            f"{name} ({count} case{'s' if count > 1 else ''})"
            for name, count in sorted(deviations.items())
        )
        plural = "s" if len(deviations) > 1 else ""
        line += f" with {len(deviations)} known deviation{plural}: {named}"
    if why:
        line += ": " + "; ".join(why)
        return line
    unclaimed = counts.get(Verdict.NOT_SUPPORTED, 0) - lacking
    if unclaimed:
        ask = "case asks" if unclaimed == 1 else "cases ask"
        line += f"; {unclaimed} {ask} for what the device does not claim"
    if lacking:
        need = "case needs" if lacking == 1 else "cases need"
        line += f"; {lacking} {need} what this host or its user lacks"
    return line
