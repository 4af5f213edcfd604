"""Run files that fit the schema and nothing else: each report is made, or refused in one line."""

import json
from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rdma_conformance.catalogue import load_catalogue
from rdma_reports.badge import badge
from rdma_reports.bundle import members
from rdma_reports.compare import as_json, compare
from rdma_reports.junit import as_junit
from rdma_reports.lines import SEVERITY, as_dict, from_dict
from rdma_reports.matrix import as_json as matrix_json
from rdma_reports.matrix import build
from rdma_reports.matrix_page import as_html, as_markdown
from rdma_reports.propose import as_toml, propose
from rdma_reports.redact import Redactor

from .runs import HEADER, made_run, result
from .test_propose import TODAY

CATALOGUE = load_catalogue()
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALAR = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXT
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
FACT = st.sampled_from(["requester", "region", "local", "receive", "access"]) | TEXT
DIFFERENCE = st.fixed_dictionaries(
    {"fact": FACT, "allowed": st.lists(VALUE, max_size=2), "observed": VALUE}
)
RESULT = st.builds(
    result,
    st.sampled_from(SEVERITY),
    case=TEXT.map(lambda text: text or "c"),
    area=TEXT.map(lambda text: text or "a"),
    title=TEXT,
    asked=st.dictionaries(FACT, VALUE, max_size=3),
    observed=st.dictionaries(FACT, VALUE, max_size=3),
    differences=st.lists(DIFFERENCE, max_size=2),
    reason=st.none() | TEXT,
    deviation=st.none() | TEXT,
    sources=st.lists(TEXT, max_size=2),
    again=TEXT,
)
DEVICE = st.dictionaries(
    st.sampled_from(["device", "driver", "kernel", "firmware", "gid"]) | TEXT, SCALAR, max_size=5
)
RUN = st.builds(
    lambda results, device, fabric: replace(
        made_run(*results), header=replace(HEADER, device=device, fabric=fabric)
    ),
    st.lists(RESULT, min_size=1, max_size=4),
    DEVICE,
    TEXT,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RUN, RUN)
def test_every_report_is_made(one, other):
    for run in (one, other):
        for line in (run.header, *run.lines):
            assert from_dict(json.loads(json.dumps(as_dict(line)))) is not None
    matrix = build([("a", one), ("b", other)])
    page = as_html(matrix, CATALOGUE, ())
    assert page.count("</script>") == 2
    assert as_markdown(matrix)
    assert json.dumps(matrix_json(matrix))
    ElementTree.fromstring(badge(matrix))
    ElementTree.fromstring(as_junit(one))
    assert as_toml(one, propose(one, ()), TODAY)
    assert members(one, b"", "log", Redactor(one.header))["run.ndjson"]
    same = replace(other, header=replace(other.header, device=one.header.device))
    assert json.dumps(as_json([compare(("a", one), ("b", same))]))
