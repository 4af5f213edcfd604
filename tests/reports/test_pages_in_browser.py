"""The pages in a real browser: clicked through, at two widths, in both colour schemes."""

import json

import pytest

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations
from rdma_reports.explain import as_html as rules_page
from rdma_reports.matrix import build
from rdma_reports.matrix_page import as_html

from .browser import Browser, chromium
from .runs import EVERY_VERDICT, made_run, result

pytestmark = pytest.mark.skipif(chromium() is None, reason="no Chromium here")
CATALOGUE = load_catalogue()
DEVIATIONS = load_deviations((), CATALOGUE)
WIDE, NARROW = 1280, 360
LONG = "write_imm-region:" + "+".join(["LW"] * 60)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    many = [
        result("PASS", case=f"remote/t.py::many[{n}]", requirement="MR-KEY") for n in range(700)
    ]
    registration = result(
        "PASS",
        case=f"registration/t.py::t[{LONG}]",
        requirement="REG-FLAGS-LEGAL",
        area="registration",
        level="SHOULD",
    )
    runs = [
        ("rxe0.ndjson", made_run(*EVERY_VERDICT, *many, registration)),
        ("mlx5_0.ndjson", made_run(result("PASS"), device="mlx5_0", driver="mlx5_core")),
    ]
    path = tmp_path_factory.mktemp("page") / "matrix.html"
    path.write_text(as_html(build(runs), CATALOGUE, DEVIATIONS))
    return path


@pytest.fixture
def browser(page):
    with Browser(WIDE) as browser:
        browser.open(page)
        yield browser
        assert browser.problems == []


def shown(browser):
    script = "[...document.querySelectorAll('.requirement')].filter(e => !e.hidden).map(e => e.id)"
    return browser.run(script)


def in_dialog(browser):
    return browser.run("document.getElementById('dialog').open && dialog.innerText")


def test_a_cell_opens_its_cases_and_a_case_its_story(browser):
    browser.click("#MR-RIGHT-READ .cell", "CRASH")
    text = in_dialog(browser)
    assert "MR-RIGHT-READ on rxe0" in text
    assert text.index("CRASH") < text.index("FAIL") < text.index("PASS")
    browser.click("#dialog .chip", "FAIL")
    assert browser.run("document.querySelectorAll('#dialog details').length") == 1
    story = in_dialog(browser)  # a single case is open
    for words in ("requester [REM_ACCESS_ERR", "requester [SUCCESS", "operation=read", ":fail]'"):
        assert words in story
    browser.click("#dialog .plain", "The rule")
    assert "What usually causes a failure" in in_dialog(browser)
    browser.click("#close")
    browser.until("!document.getElementById('dialog').open && location.hash.length < 2")


def test_a_rule_opens_its_text_with_links_to_its_sources(browser):
    browser.click("#MR-KEY .rule")
    text = in_dialog(browser)
    rule = CATALOGUE["MR-KEY"]
    for part in (rule.statement, rule.why, rule.failure, rule.asked):
        assert part in text
    links = browser.run("[...document.querySelectorAll('#dialog a')].map((each) => each.href)")
    assert {source.url for source in rule.sources if source.url} <= set(links)


def test_filters_leave_what_they_say(browser):
    everything = shown(browser)
    assert everything == ["REG-FLAGS-LEGAL", "MR-KEY", "MR-RIGHT-READ"]
    browser.click("[data-filter=Area]", "remote")
    assert shown(browser) == ["MR-KEY", "MR-RIGHT-READ"]
    browser.click("[data-filter=Verdict]", "DEVIATION")
    assert shown(browser) == ["MR-RIGHT-READ"]
    browser.click("[data-filter=Area]", "registration")
    assert shown(browser) == []
    browser.click("#reset")
    assert shown(browser) == everything
    browser.click("[data-filter=Level]", "SHOULD")
    assert shown(browser) == ["REG-FLAGS-LEGAL"]
    browser.click("[data-filter=Level]", "all")
    browser.click("#find")
    browser.type("mr-k")
    assert shown(browser) == ["MR-KEY"]


def test_a_verdict_that_is_chosen_chooses_the_cases(browser):
    browser.click("[data-filter=Verdict]", "DEVIATION")
    browser.click("#MR-RIGHT-READ .cell", "CRASH")
    assert "RXE-001: rxe answers late" in in_dialog(browser)


def test_many_cases_come_by_and_by(browser):
    browser.click("#MR-KEY .cell")
    count = "document.querySelectorAll('#dialog details').length"
    assert browser.run(count) == 300
    browser.click("#dialog .plain", "Show more (400 left)")
    assert browser.run(count) == 600


def test_an_address_leads_to_what_it_names(page):
    with Browser(WIDE) as browser:
        browser.open(page, "#open=MR-RIGHT-READ&on=0&only=CRASH")
        assert "the endpoint worker died of signal 11" in in_dialog(browser)
        browser.open(page, "#open=NO-SUCH-RULE&on=9")
        assert in_dialog(browser) is False


def test_the_theme_changes_and_stays(browser, page):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(ground)
    browser.click("#theme")
    assert browser.run(ground) != light
    browser.run("location.reload()")
    browser.until(f"document.readyState === 'complete' && {ground} !== {json.dumps(light)}")


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("dark", [False, True])
def test_no_page_is_wider_than_its_window(page, tmp_path, width, dark):
    rules = tmp_path / "rules.html"
    rules.write_text(rules_page(CATALOGUE, DEVIATIONS))
    with Browser(width, dark=dark) as browser:
        for path, place in ((page, ""), (page, "#open=REG-FLAGS-LEGAL&on=0"), (rules, "")):
            browser.open(path, place)
            assert browser.overflow() <= 0, (path, place)
        wide = browser.run(
            "[...document.querySelectorAll('.requirement > *')]"
            ".every((each) => each.getBoundingClientRect().right <= innerWidth)"
        )
        assert wide
        assert browser.problems == []
