"""A run file as JUnit XML, the device's identity as properties. Pure."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from rdma_conformance.terminal import failure_block
from rdma_reports.lines import FAILING, Result, as_dict
from rdma_reports.runfile import Run

_BAD_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def properties(header: Mapping[str, Any]) -> dict[str, str]:
    """Names and values that say what was tested, from a header's JSON form; nothing empty."""
    known = {
        **{_clean(name): value for name, value in header["device"].items()},
        "fabric": header["fabric"],
        "suite": header["suite"],
        "catalogue": header["catalogue"],
        "seed": header["seed"],
        "planted": header["planted"],
    }
    return {name: _clean(value) for name, value in known.items() if value not in (None, "")}


def as_junit(run: Run) -> bytes:
    """The XML: one suite, a testcase for each case; a deviation and what is unclaimed skipped."""
    results = list(run.results.values())
    counts = run.counts
    suite = ET.Element(
        "testsuite",
        name=_clean(run.header.device.get("device", "rdma-conformance")),
        timestamp=run.header.started,
        tests=str(len(results)),
        failures=str(sum(counts.get(name, 0) for name in ("FAIL", "FIXED", "CRASH"))),
        errors=str(counts.get("ERROR", 0)),
        skipped=str(sum(counts.get(name, 0) for name in ("DEVIATION", "NOT_SUPPORTED"))),
        time=f"{sum(result.duration for result in results):.3f}",
    )
    _properties(suite, properties(as_dict(run.header)))
    for result in results:
        _case(suite, result)
    root = ET.Element("testsuites")
    root.append(suite)
    return ET.tostring(root, encoding="utf-8", xml_declaration=True)


def case_properties(record: Mapping[str, Any]) -> dict[str, str]:
    """What a testcase tells beside its verdict, from a result's JSON form."""
    names = ("requirement", "level", "verdict", "deviation")
    found = {name: _clean(record[name]) for name in names if record[name]}
    twice = record.get("twice")
    return found | ({"unstable": "yes"} if twice and twice["unstable"] else {})


def _case(suite: ET.Element, result: Result) -> None:
    place, _, name = result.case.partition("::")
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_clean(place.removesuffix(".py").replace("/", ".")),
        name=_clean(name or place),
        time=f"{result.duration:.6f}",
    )
    record = as_dict(result)
    _properties(case, case_properties(record))
    if result.verdict in FAILING:
        kind = "error" if result.verdict == "ERROR" else "failure"
        told = ET.SubElement(case, kind, message=_clean(f"{result.verdict}: {result.title}"))
        told.text = _clean(failure_block(record))
    elif result.verdict in ("DEVIATION", "NOT_SUPPORTED"):
        told = f"{result.deviation or result.verdict}: {result.reason}"
        ET.SubElement(case, "skipped", message=_clean(told))


def _properties(parent: ET.Element, values: Mapping[str, str]) -> None:
    found = ET.SubElement(parent, "properties")
    for name, value in values.items():
        ET.SubElement(found, "property", name=name, value=value)


def _clean(value: Any) -> str:
    return _BAD_IN_XML.sub("?", str(value))
