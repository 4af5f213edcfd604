"""A result of the run file as a result of Allure: pure, with no file and no pytest in it.

The form is Allure's results format, which version 2 and 3 read: one JSON object a test.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rdma_reports.hexdump import memory_differences

EPIC = "RDMA memory registration"
# A known deviation is a failure that is known, not a skip.
STATUS = {
    "PASS": "passed",
    "NOTE": "passed",
    "FAIL": "failed",
    "DEVIATION": "failed",
    "FIXED": "failed",
    "NOT_SUPPORTED": "skipped",
    "ERROR": "broken",
    "CRASH": "broken",
}
SEVERITIES = {"MUST": "critical", "SHOULD": "minor", "IMPL": "trivial"}
# What of a device's identity every result carries, so that several devices can stand in one report.
IDENTITY = ("device", "driver", "kernel", "firmware", "rdma_core")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a process asks its cases.

    `thread` names the process among those of the run, `links` gives the URL of a source.
    """

    identity: Mapping[str, Any]
    host: str
    thread: str
    links: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """Start and end of a test, in seconds since 1970."""

    start: float
    stop: float


def case_result(
    record: Mapping[str, Any],
    setting: Setting,
    span: Span,
    *,
    uuid: str,
    block: str | None = None,
    trouble: str | None = None,
) -> dict[str, Any]:
    """The Allure result of a record (the JSON form of a run file's result).

    `block` is the record's failure block. `trouble` says what went wrong after the answer, in
    teardown: it makes a result broken that was not failed.
    """
    status = STATUS[record["verdict"]]
    details = _details(record, block)
    if trouble and status in ("passed", "skipped"):
        status, details = "broken", {"message": trouble}
    name = record["case"].rpartition("::")[2]
    driver = str(setting.identity.get("driver", ""))
    data = _result(name, record["case"], status, span, uuid)
    data |= {
        "historyId": _digest(f"{record['case']} {driver}"),
        "testCaseId": _digest(record["case"]),
        "titlePath": [record["area"], record["requirement"]],
        "description": _description(record),
        "parameters": [
            {"name": "case", "value": _parameter(name)},
            {"name": "driver", "value": driver},
            # The same test on another device of the driver is the same test.
            {
                "name": "device",
                "value": str(setting.identity.get("device", "")),
                "excluded": True,
            },
        ],
        "labels": [*_own_labels(record), *_setting_labels(setting), *_place_labels(record)],
        "links": [
            {"type": "link", "url": setting.links[source], "name": source}
            for source in record["sources"]
            if source in setting.links
        ]
        + _own_links(record, setting),
    }
    if _unstable(record):
        details = {"message": record["reason"], **(details or {}), "flaky": True}
    if details:
        data["statusDetails"] = details
    return data


def unrecorded_result(
    nodeid: str, status: str, message: str, *, setting: Setting, span: Span, uuid: str
) -> dict[str, Any]:
    """The result of a test that left no record: pytest's own word for how it ended."""
    data = _result(nodeid.rpartition("::")[2], nodeid, status, span, uuid)
    data |= {
        "historyId": _digest(nodeid),
        "testCaseId": _digest(nodeid),
        "statusDetails": {"message": message},
        "labels": [_label("epic", EPIC), *_setting_labels(setting)],
    }
    return data


def evidence(
    record: Mapping[str, Any], block: str, captured: str = "", kernel_log: str | None = None
) -> str:
    """The text attached to a bad result: the failure block, and all that was seen.

    `kernel_log` is what the kernel logged during the case; None if that can't be read.
    """
    parts = [block]
    if dumps := memory_differences(record["differences"]):
        parts += ["memory", dumps]
    parts += ["asked", _lines(record["asked"])]
    for outcome in record["expected"]:
        parts += [f"expected: {outcome['name']}", _lines(outcome["facts"])]
    parts += ["observed", _lines(record["observed"])]
    if kernel_log is None:
        parts += ["kernel log", "  not readable for this user"]
    else:
        parts += ["kernel log", kernel_log.rstrip() or "  nothing was logged during the case"]
    if _unstable(record):
        for number, answer in enumerate(record["twice"]["answers"], 1):
            parts += [f"answer {number}: {answer['verdict']}", _lines(answer["observed"])]
    if captured:
        parts += ["captured", captured]
    return "\n".join(parts) + "\n"


def environment(identity: Mapping[str, Any], present: str = "") -> str:
    """The text of environment.properties, with the values that `present` has from other runs."""
    values: dict[str, list[str]] = {}
    for line in present.splitlines():
        name, separator, text = line.partition("=")
        if separator:
            values[name] = text.split("; ")
    for name, value in identity.items():
        known = values.setdefault(name, [])
        text = " ".join(str(value).split()).replace("\\", "/")
        if value is not None and text and text not in known:
            known.append(text)
    return "".join(f"{name}={'; '.join(known)}\n" for name, known in values.items() if known)


def _result(name: str, full_name: str, status: str, span: Span, uuid: str) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "name": name,
        "fullName": full_name,
        "status": status,
        "stage": "finished",
        "start": round(span.start * 1000),
        "stop": round(span.stop * 1000),
    }


def _details(record: Mapping[str, Any], block: str | None) -> dict[str, Any] | None:
    verdict = record["verdict"]
    if STATUS[verdict] == "passed":
        return None
    if verdict == "NOT_SUPPORTED":
        return {"message": f"the device does not claim it: {record['reason']}"}
    message = block or record["reason"] or record["title"]
    if verdict == "DEVIATION":
        return {"known": True, "message": f"known deviation {record['deviation']}\n\n{message}"}
    if verdict == "FIXED" and not _unstable(record):
        message = f"delete {record['deviation']} from the deviations: it passes now\n\n{message}"
    return {"message": message}


def _unstable(record: Mapping[str, Any]) -> bool:
    """Whether the case was asked twice and did not answer alike."""
    twice = record.get("twice")
    return bool(twice and twice["unstable"])


def _description(record: Mapping[str, Any]) -> str:
    text = f"{record['requirement']} ({record['level']}): {record['title']}."
    if record["verdict"] == "NOTE" and record["reason"]:
        text += f"\n\nNoted: {record['reason']}."
    return text


def _own_links(record: Mapping[str, Any], setting: Setting) -> list[dict[str, str]]:
    """The address of the deviation, where there is one."""
    name = record["deviation"]
    if name not in setting.links:
        return []
    return [{"type": "issue", "url": setting.links[name], "name": name}]


def _own_labels(record: Mapping[str, Any]) -> list[dict[str, str]]:
    labels = {
        "requirement": record["requirement"],
        "level": record["level"],
        "verdict": record["verdict"],
        "hazard": "yes" if record["hazard"] else "no",
    }
    if record["deviation"]:
        labels["deviation"] = record["deviation"]
    if record["hazard"]:
        labels["tag"] = "hazard"
    return [_label(name, value) for name, value in labels.items()]


def _place_labels(record: Mapping[str, Any]) -> list[dict[str, str]]:
    labels = {
        "ALLURE_ID": record["case"],
        "parentSuite": record["area"],
        "suite": record["requirement"],
        "epic": EPIC,
        "feature": record["area"],
        "story": record["requirement"],
        "severity": SEVERITIES[record["level"]],
    }
    return [_label(name, value) for name, value in labels.items()]


def _setting_labels(setting: Setting) -> list[dict[str, str]]:
    found = [
        _label(name, str(setting.identity[name]))
        for name in IDENTITY
        if setting.identity.get(name) is not None
    ]
    return [
        *found,
        _label("host", setting.host),
        _label("thread", setting.thread),
        _label("framework", "pytest"),
        _label("language", "python"),
    ]


def _label(name: str, value: str) -> dict[str, str]:
    return {"name": name, "value": value}


def _parameter(name: str) -> str:
    return name.partition("[")[2].removesuffix("]") or name


def _lines(values: Mapping[str, Any]) -> str:
    return "\n".join(f"  {name}: {json.dumps(value)}" for name, value in values.items())


def _digest(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
