"""The HTML report: one private page from any directories of results, with the pinned Allure."""

import base64
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from rdma_conformance.catalogue import load_catalogue
from rdma_reports import allure_report
from rdma_reports.allure_model import Setting, Span, case_result, environment
from rdma_reports.allure_page import finish, pack, unpack
from rdma_reports.allure_report import (
    ReportError,
    cache_directory,
    environments,
    find_node,
    install,
    make_report,
)
from rdma_reports.lines import SEVERITY, as_dict

from .browser import Browser, chromium
from .runs import result

RXE = {"device": "rxe0", "driver": "rdma_rxe", "kernel": "7.2.12", "rdma_core": "65.0"}
MLX = {"device": "mlx5_0", "driver": "mlx5_core", "kernel": "7.2.12", "rdma_core": "65.0"}


def write_results(directory: Path, identity: dict) -> Path:
    """A directory of Allure results with one case of every verdict."""
    directory.mkdir()
    (directory / "environment.properties").write_text(environment(identity))
    for number, verdict in enumerate(SEVERITY):
        record = as_dict(result(verdict))
        uuid = f"{identity['device']}-{number}"
        setting = Setting(identity, "host", "main")
        data = case_result(record, setting, Span(1.0, 2.0), uuid=uuid, block=f"block {verdict}")
        (directory / f"{uuid}-result.json").write_text(json.dumps(data))
    return directory


def embedded(page: Path, name: str) -> object:
    """A data file that the page carries in itself."""
    return json.loads(unpack(page.read_text())["texts"][name])


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """The report over two devices, made with Node.js: without it this fails and says the mend."""
    path = tmp_path_factory.mktemp("report")
    # Names that Allure would take for patterns.
    first = write_results(path / "rxe [1] {a}", RXE)
    second = write_results(path / "mlx*", MLX)
    (path / "link").symlink_to(second)
    return make_report([first, path / "link"], path / "out")


def test_the_page_holds_the_results_of_both_devices(page):
    names = {each["name"] for each in embedded(page, "widgets/environments.json")}
    assert {"rxe0 (rdma_rxe)", "mlx5_0 (mlx5_core)"} <= names
    counts = embedded(page, "widgets/statistic.json")
    by_status = {"total": 16, "failed": 6, "broken": 4, "passed": 4, "skipped": 2}
    # A deviation is known to be accepted.
    assert counts == {**by_status, "resolutions": {"accepted": 2}}


def test_the_page_groups_by_verdict(page):
    nodes = embedded(page, "widgets/categories.json")["nodes"].values()
    found = {each["name"].partition(":")[0] for each in nodes if each["type"] == "category"}
    assert found == set(SEVERITY) - {"PASS"}


@pytest.mark.skipif(chromium() is None, reason="no Chromium here")
def test_the_page_opens_from_the_disk_and_is_clicked_through(page):
    with Browser() as browser:
        browser.open(page)
        browser.until("document.body.innerText.includes('MR-RIGHT-READ')")
        browser.click("[data-testid=tree-leaf]", "read-region:fail")
        browser.until("document.body.innerText.includes('block FAIL')")
        rule = json.dumps("The rule. " + load_catalogue()["MR-RIGHT-READ"].statement[:40])
        browser.until(
            "[...document.querySelectorAll('iframe')]"
            f".some((each) => each.contentDocument?.body?.innerText.includes({rule}))"
        )
        browser.open(page, "#")
        browser.click("button", "Categories")
        browser.until("document.body.innerText.includes('DEVIATION: known')")
        assert browser.overflow() <= 0


def test_a_page_of_another_allure_is_refused(page):
    text = page.read_text()
    statistics = '<script async src="https://www.googletagmanager.com/x"></script>'
    for other in (text, f"<html>{statistics}", "<html>", "<script defer>Promise.allSettled([])"):
        with pytest.raises(ReportError, match="allure has changed"):
            finish(other, {})


def test_data_that_are_no_text_stay_as_they_are():
    png = base64.b64encode(b"\x89PNG").decode()
    entries = f'd("a.json","{base64.b64encode(b"{}").decode()}"),d("b.png","{png}")'
    page = f'<script type="application/json" id="packed">"{pack(entries, {})}"</script>'
    assert unpack(page) == {"texts": {"a.json": "{}"}, "binary": {"b.png": png}, "rules": {}}


def test_the_page_calls_nobody(page):
    text = page.read_text()
    assert "googletagmanager" not in text
    assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)=\"https?:", text)


def test_nothing_but_the_report_is_left(page):
    left = {path.name for path in page.parent.parent.iterdir()}
    assert left == {"rxe [1] {a}", "mlx*", "link", "out"}


def test_a_second_report_replaces_the_first_and_keeps_the_trend(tmp_path):
    results = write_results(tmp_path / "results", RXE)
    for _ in range(2):
        made = make_report([results], tmp_path / "out", history=tmp_path / "trend.jsonl")
    assert made.is_file()
    assert len((tmp_path / "trend.jsonl").read_text().splitlines()) == 2


def test_a_directory_that_is_no_report_is_not_touched(tmp_path):
    results = write_results(tmp_path / "results", RXE)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis").write_text("years")
    with pytest.raises(ReportError, match="is no earlier report"):
        make_report([results], tmp_path / "work")
    assert (tmp_path / "work" / "thesis").read_text() == "years"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"labels": 1}', '{"labels": [{}]}', "\udcff"])
def test_a_damaged_result_is_named(tmp_path, text):
    (tmp_path / "a-result.json").write_text(text, errors="surrogateescape")
    with pytest.raises(ReportError, match=r"a-result.json is no Allure result"):
        make_report([tmp_path], tmp_path / "out")


def test_no_results_say_how_to_get_them(tmp_path):
    with pytest.raises(ReportError, match="run pytest with --alluredir="):
        make_report([tmp_path / "missing"], tmp_path / "out")


def test_devices_are_told_apart_by_what_differs():
    def names(*devices):
        return [each["name"] for each in environments(devices).values()]

    rxe = ("rxe0", "rdma_rxe", "7.2.12", "", "65.0", "lab")
    assert names(rxe) == []
    assert names(rxe, ("rxe0", "rdma_rxe", "6.12", "", "65.0", "lab")) == [
        "rxe0 (rdma_rxe, kernel 7.2.12)",
        "rxe0 (rdma_rxe, kernel 6.12)",
    ]
    assert names(rxe, (*rxe[:-1], "other")) == [
        "rxe0 (rdma_rxe, host lab)",
        "rxe0 (rdma_rxe, host other)",
    ]
    assert names(rxe, ("a/b", "", "", "", "", "")) == ["rxe0 (rdma_rxe)", "a-b"]
    long = ("x" * 80, "driver", "k", "f", "c", "h")
    assert all(len(name) <= 64 for name in names(rxe, long))
    assert all(re.fullmatch("[A-Za-z0-9_-]{1,64}", key) for key in environments([rxe, long]))


def test_environments_of_long_names_differ():
    devices = [("x" * 80, "driver", kernel, "", "", "h") for kernel in ("1", "2")]
    names = [each["name"] for each in environments(devices).values()]
    assert len(set(names)) == 2


def test_no_node_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ReportError, match=r"needs node, .*apt install nodejs npm"):
        find_node()


def test_an_old_node_says_what_to_install(monkeypatch, tmp_path):
    for name in ("node", "npm"):
        (tmp_path / name).write_text("#!/bin/sh\necho v18.1.0\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(ReportError, match=r"is of version v18.1.0: install Node.js 20"):
        find_node()


def test_an_install_that_fails_leaves_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    failed = subprocess.CompletedProcess([], 1, "", "npm error code ENOTFOUND\n")
    monkeypatch.setattr(allure_report, "_run", lambda *_: failed)
    with pytest.raises(ReportError, match=r"npm error code ENOTFOUND.*registry"):
        install()
    assert list(cache_directory().parent.iterdir()) == []


def test_the_lock_file_names_no_download_address():
    for name in ("package.json", "package-lock.json"):
        text = Path(allure_report.__file__).with_name("allure3").joinpath(name).read_text()
        assert "://" not in text
