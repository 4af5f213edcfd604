"""A conformance statement: what it says, and every reason for which there is none."""

import shutil
from dataclasses import replace

import pytest

from conformance.spec import oracle
from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations, match
from rdma_conformance.suites import all_cases
from rdma_reports import pdf
from rdma_reports.command import main
from rdma_reports.errors import ReportError
from rdma_reports.statement import state
from rdma_reports.statement_page import as_html, as_markdown, least_profile, profile

from .runs import made_run, result, written

CATALOGUE = load_catalogue()
DEVIATIONS = load_deviations((), CATALOGUE)
RULES = [rule.id for rule in CATALOGUE]
CASES = {f"remote/t.py::t[{rule}]": rule for rule in RULES}


def whole(*, without: str | None = None, **verdicts: str):
    """A result for each rule of the catalogue; `verdicts` by the rule's id with _ for -."""
    return [
        result(
            verdicts.get(rule.replace("-", "_"), "PASS"),
            case=case,
            requirement=rule,
            deviation="RXE-001" if rule.replace("-", "_") in verdicts else None,
        )
        for case, rule in CASES.items()
        if rule != without
    ]


def stated(*results, cases=CASES, **changes):
    run = made_run(*results, **{"catalogue": CATALOGUE.digest, **changes})
    return state(
        run, "ab" * 32, CATALOGUE, DEVIATIONS, suite_cases=cases, profile_cases=cases, suite="0.1.0"
    )


def test_it_tells_what_was_found():
    said = stated(*whole(MR_KEY="DEVIATION", MR_RANGE="NOT_SUPPORTED", MR_DOMAIN="FAIL"))
    assert [(each.id, each.requirement, each.cases) for each in said.deviations] == [
        ("RXE-001", "MR-KEY", 1)
    ]
    assert said.unsupported == (("odp_caps.general_caps is 0", 1, ("MR-RANGE",)),)
    assert [each[0] for each in said.failing] == ["MR-DOMAIN"]
    assert said.unasked == ()
    for text in (as_html(said), as_markdown(said)):
        assert "NOT CONFORMING" in text
        assert "ab" * 32 in text
        assert "RXE-001" in text
        assert "rxe answers late" in text
        assert "odp_caps.general_caps is 0" in text
        assert "every rule of the catalogue was asked" in text


def test_what_runs_leave_to_implementations_may_be_left_out():
    level = replace(CATALOGUE["MR-KEY"], level="SHOULD")
    catalogue = replace(CATALOGUE, requirements={**CATALOGUE.requirements, "MR-KEY": level})
    run = made_run(*whole(without="MR-KEY"), catalogue=CATALOGUE.digest)
    said = state(
        run, "", catalogue, DEVIATIONS, suite_cases=CASES, profile_cases=CASES, suite="0.1.0"
    )
    assert said.unasked == ("MR-KEY",)
    assert "MR-KEY" in as_markdown(said)


@pytest.mark.parametrize(
    ("results", "changes", "told"),
    [
        (whole(), {"verdict": None}, r"did not end \(no footer\)"),
        (whole(), {"interrupted": True, "verdict": "INVALID"}, "was interrupted"),
        (whole(), {"planted": "dies-of-send"}, "'dies-of-send' was planted"),
        (whole(MR_KEY="ERROR"), {}, "1 cases are ERROR"),
        (whole(without="MR-KEY"), {}, r"1 cases of MUST rules were left out \(MR-KEY\)"),
        (whole()[:3], {"deselected": 9}, "and [0-9]+ more"),
        (whole(), {"catalogue": "0123456789ab"}, "state it with the suite that ran"),
        (whole(), {"suite": "0.0.9"}, "run is of suite 0.0.9"),
        ([*whole(), result(case="remote/own.py::t[x]")], {}, "not of this suite"),
    ],
)
def test_it_is_refused(results, changes, told):
    with pytest.raises(ReportError, match=told):
        stated(*results, **changes)


def test_a_case_of_a_rule_that_was_left_out_is_seen():
    """A single file, or -k, can leave cases out of a rule that other cases ask."""
    more = {**CASES, "remote/t.py::other[MR-KEY]": "MR-KEY"}
    with pytest.raises(ReportError, match="1 cases of MUST rules were left out"):
        stated(*whole(), cases=more)


def test_what_only_a_longer_profile_asks_is_told_and_not_missed():
    run = made_run(*whole(without="MR-KEY"), catalogue=CATALOGUE.digest)
    asked = {case for case, rule in CASES.items() if rule != "MR-KEY"}
    said = state(
        *(run, "", CATALOGUE, DEVIATIONS), suite_cases=CASES, profile_cases=asked, suite="0.1.0"
    )
    assert said.unasked == ("MR-KEY",)
    assert least_profile(["--profile", "quick"]) == "standard"
    assert least_profile(["--profile=exhaustive"]) == "exhaustive"
    assert least_profile(["--profile", "of another suite"]) == "standard"


def test_hazards_that_were_not_asked_are_told_and_not_missed():
    run = made_run(*whole(), catalogue=CATALOGUE.digest)
    said = state(
        *(run, "", CATALOGUE, DEVIATIONS),
        suite_cases={**CASES, "remote/t.py::hazard": "MR-KEY"},
        profile_cases=CASES,
        suite="0.1.0",
        hazards=["remote/t.py::hazard"],
    )
    assert said.hazards == 1
    assert "1 cases that may take a broken kernel down" in as_markdown(said)


def test_hostile_words_stay_words():
    evil = "<script>alert(1)</script>"
    page = as_html(stated(*whole(), device=evil, fabric=evil))
    assert "<script" not in page


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        ([], "standard"),
        (["--profile", "quick"], "quick"),
        (["-x", "--profile=exhaustive"], "exhaustive"),
    ],
)
def test_the_profile_is_as_the_command_line_says(argv, name):
    assert profile(argv) == name


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The file of a whole run of the suite that is installed, with all that is known of rxe."""
    cases = []
    for name, case in all_cases().items():
        rule = oracle.requirement(case)
        known = match(DEVIATIONS, "rdma_rxe", "7.2.12", "", rule, name)
        verdict = "DEVIATION" if known else "PASS"
        more = {"deviation": known.id, "reason": known.reason} if known else {}
        area = name.partition("/")[0]
        cases.append(result(verdict, case=name, requirement=rule, area=area, **more))
    run = made_run(*cases, catalogue=CATALOGUE.digest)
    return written(tmp_path_factory.mktemp("run") / "rxe0.ndjson", run)


def test_the_command_writes_each_form(tmp_path, capsys, real):
    assert main(["statement", str(real), f"-o{tmp_path}/s.html", f"-o{tmp_path}/s.md"]) == 0
    assert "<h1>rxe0, driver rdma_rxe</h1>" in (tmp_path / "s.html").read_text()
    capsys.readouterr()
    assert main(["statement", str(real)]) == 0
    assert capsys.readouterr().out == (tmp_path / "s.md").read_text()
    assert main(["statement", str(real), "-o", "s.txt"]) == 2


@pytest.mark.skipif(not any(map(shutil.which, pdf.BROWSERS)), reason="no Chromium here")
def test_the_pdf_is_one_sheet(tmp_path, real):
    assert main(["statement", str(real), f"-o{tmp_path}/s.pdf"]) == 0
    data = (tmp_path / "s.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["s.pdf"]


def test_without_a_browser_the_mend_is_told(tmp_path, capsys, monkeypatch, real):
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    assert main(["statement", str(real), f"-o{tmp_path}/s.pdf"]) == 2
    assert "apt install chromium" in capsys.readouterr().err


def test_a_browser_that_fails_is_told(tmp_path, monkeypatch):
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\necho no display >&2\nexit 1\n")
    browser.chmod(0o755)
    monkeypatch.setattr(pdf.shutil, "which", lambda name: str(browser))
    with pytest.raises(ReportError, match="no display"):
        pdf.print_pdf("<p>")
