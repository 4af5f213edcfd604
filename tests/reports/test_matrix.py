"""The matrix: what a cell says, what is refused, and the page, Markdown, JSON and badge of it."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations
from rdma_reports.badge import badge
from rdma_reports.command import main
from rdma_reports.errors import ReportError
from rdma_reports.matrix import as_json, build
from rdma_reports.matrix_page import as_html, as_markdown

from .runs import EVERY_VERDICT, made_run, result, written

CATALOGUE = load_catalogue()
DEVIATIONS = load_deviations((), CATALOGUE)


def passing(*rules: str):
    return [
        result("PASS", case=f"remote/t.py::t[{rule}]", requirement=rule, area="remote")
        for rule in rules
    ]


def test_a_cell_says_the_verdict_that_tells_most():
    def says(*verdicts: str) -> str:
        run = made_run(*(result(verdict) for verdict in verdicts))
        return build([("a", run)]).rows[0].cells[0].verdict

    assert says("PASS", "NOT_SUPPORTED", "NOTE") == "PASS"
    assert says("PASS", "DEVIATION") == "DEVIATION"
    assert says("FIXED", "DEVIATION") == "FIXED"
    assert says("ERROR", "FAIL", "PASS") == "FAIL"
    assert says("CRASH", "ERROR") == "CRASH"
    assert says("NOTE", "NOT_SUPPORTED") == "NOTE"
    assert says("NOT_SUPPORTED") == "NOT_SUPPORTED"


def test_rows_are_all_rules_and_a_device_that_was_not_asked_has_no_cell():
    matrix = build(
        [
            ("a", made_run(*passing("MR-KEY", "MR-RANGE"))),
            ("b", made_run(*passing("MR-DOMAIN"), device="mlx5_0")),
        ]
    )
    assert [row.requirement for row in matrix.rows] == ["MR-DOMAIN", "MR-KEY", "MR-RANGE"]
    assert [bool(cell) for cell in matrix.rows[0].cells] == [False, True]
    assert matrix.rows[1].cells[0].counts == {"PASS": 1}


def test_devices_of_one_name_are_told_apart():
    def titles(*runs):
        return [column.title for column in build([("r", run) for run in runs]).columns]

    one = made_run(result())
    assert titles(one) == ["rxe0"]
    assert titles(one, made_run(result(), kernel="6.12")) == ["rxe0 (7.2.12)", "rxe0 (6.12)"]
    assert titles(one, made_run(result(), device="mlx5_0")) == ["rxe0", "mlx5_0"]
    assert titles(one, one) == ["rxe0 (2026-01-02 03:04) #1", "rxe0 (2026-01-02 03:04) #2"]


def test_other_catalogues_are_refused_by_name():
    other = made_run(result(), catalogue="ba9876543210")
    with pytest.raises(ReportError, match=r"a has 0123456789ab, b has ba9876543210.*one version"):
        build([("a", made_run(result())), ("b", other)])


def test_what_weakens_a_verdict_stands_beside_it():
    cut = build([("a", made_run(result(), verdict=None))]).columns[0]
    assert cut.verdict == "INCOMPLETE"
    assert cut.warnings == ("the run did not end: it has no footer",)
    part = build([("a", made_run(result(), unasked=("A", "B", "C", "D")))]).columns[0]
    assert part.warnings == ("MUSTs that were not asked: A, B, C and 1 more",)
    planted = build([("a", made_run(result(), planted="dies-of-send", deselected=3))]).columns[0]
    assert planted.warnings == ("a fault was planted: dies-of-send", "3 cases were deselected")


def test_the_json_is_whole():
    data = json.loads(json.dumps(as_json(build([("a", made_run(*EVERY_VERDICT))]))))
    assert data["format"] == "rdma-conformance-matrix"
    assert data["devices"][0]["verdict"] == "NOT CONFORMING"
    counts = data["requirements"][0]["cells"][0]["counts"]
    assert counts == {each.verdict: 1 for each in EVERY_VERDICT}


def test_markdown_has_a_table_of_devices_and_one_of_rules():
    text = as_markdown(build([("a", made_run(*EVERY_VERDICT))]))
    assert "| rxe0 | rdma_rxe | 7.2.12 |" in text
    assert "**CRASH** 1 of 8" in text
    tables = [line.count(" | ") for line in text.splitlines() if line.startswith("|")]
    assert len(set(tables)) <= 4
    assert as_markdown(build([("a|b", made_run(result(), device="a|b"))])).count("a\\|b") == 2


def test_the_page_loads_nothing_and_holds_everything():
    page = as_html(build([("a", made_run(*EVERY_VERDICT))]), CATALOGUE, DEVIATIONS)
    assert not re.search(r"<(script|link|img|iframe)[^>]*\b(src|href)=", page)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    assert len(data["cases"]["MR-RIGHT-READ"]) == len(EVERY_VERDICT)
    assert data["rules"]["MR-RIGHT-READ"]["parts"][0][0] == "The rule"


def test_a_hostile_run_file_stays_text():
    evil = '</script><script>alert(1)</script><img src=x onerror="alert(1)">'
    run = made_run(
        result("FAIL", case=f"a/b.py::c[{evil}]", title=evil, reason=evil, area=evil),
        device=evil,
        driver=evil,
    )
    page = as_html(build([(evil, run)]), CATALOGUE, DEVIATIONS)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("</script>") == 2
    ET.fromstring(badge(build([("a", run)])))


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([{}], "conforming"),
        ([{"results": [result("DEVIATION")]}], "conforming, 1 known deviation"),
        ([{"deselected": 2}], "conforming, partial"),
        ([{"results": [result("FAIL")]}, {}], "not conforming (1 of 2 runs)"),
        ([{"verdict": None}], "incomplete"),
        ([{"planted": "dies-of-send"}], "invalid"),
    ],
)
def test_the_badge_tells_the_worst(runs, words):
    made = [
        (str(number), made_run(*each.pop("results", [result()]), **each))
        for number, each in enumerate(map(dict, runs))
    ]
    root = ET.fromstring(badge(build(made)))
    assert root.attrib["aria-label"] == f"RDMA conformance: {words}"


def test_the_command_writes_each_form(tmp_path, capsys):
    path = written(tmp_path / "results" / "rxe0.ndjson", made_run(*EVERY_VERDICT))
    forms = [f"-o{tmp_path}/m.{suffix}" for suffix in ("html", "md", "json", "svg")]
    assert main(["matrix", str(path.parent), *forms]) == 0
    assert len(capsys.readouterr().out.split()) == 4
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "m.html",
        "m.json",
        "m.md",
        "m.svg",
        "results",
    ]
    assert main(["matrix", str(path)]) == 0
    assert capsys.readouterr().out == (tmp_path / "m.md").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["empty"], "holds no run file"),
        (["none.ndjson"], "cannot be read"),
        (["foreign.ndjson"], "line 1"),
        (["no-result.ndjson"], "holds no result"),
        (["good.ndjson", "-o", "m.pdf"], "end the name in one of"),
        (["good.ndjson", "-o", "good.ndjson/m.md"], "cannot be written"),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path, capsys, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign.ndjson").write_text('{"type": "suite"}\n')
    written(tmp_path / "good.ndjson", made_run(result()))
    written(tmp_path / "no-result.ndjson", made_run(verdict=None))
    assert main(["matrix", *words]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert told in err
