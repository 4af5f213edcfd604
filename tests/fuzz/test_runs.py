"""Run files, side files and Allure results from strangers, through the command that reads them."""

import json
import os
import re
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from runs import EVERY_VERDICT, HEADER, made_run, result, written

from rdma_reports.command import main
from rdma_reports.errors import ReportError
from rdma_reports.lines import as_dict
from rdma_reports.places import cut_off
from rdma_reports.runfile import read_run

from .mutations import ANY_TEXT, ODD_TEXT, bounded, damaged, shows_itself


def _real() -> list[bytes]:
    run = made_run(*EVERY_VERDICT)
    lines = [json.dumps(as_dict(line)).encode() for line in (run.header, *run.lines, run.footer)]
    return [b"\n".join([*lines, b""]), b"\n".join([lines[0], lines[1], b""])]


REAL = _real()
OVERLAY = b'[X-1]\ndriver = "d"\n'
OUTPUTS = ("matrix.html", "matrix.md", "run.xml", "bundle.tar.gz")


def _commands(run, folder):
    yield ["validate", run]
    yield ["compare", run, run]
    yield ["matrix", run, "-o", f"{folder}/matrix.html", "-o", f"{folder}/matrix.md"]
    yield ["junit", run, "-o", f"{folder}/run.xml"]
    yield ["deviations", "propose", run]
    yield ["bundle", run, "--redact", "-o", f"{folder}/bundle.tar.gz"]


@bounded(40)
@given(damaged(REAL))
@example(REAL[0].replace(b"rxe0", b"\\u001b[31mrxe\\ud800"))
@example(REAL[0].replace(b"7.2.12", b"\\u202e\\u0000<script>alert(1)</script>"))
@example(REAL[0].replace(b"test_rights.py", b"</script>\\u2028\\u0085"))
def test_a_run_file(tmp_path, capsys, content):
    path = tmp_path / "run.ndjson"
    path.write_bytes(content)
    for words in _commands(str(path), tmp_path):
        for name in OUTPUTS:
            (tmp_path / name).unlink(missing_ok=True)
        status = main(words)
        out, err = capsys.readouterr()
        assert status in (0, 1, 2), words
        assert shows_itself(out), ascii(out)
        assert shows_itself(err), ascii(err)
        if status == 2 and words[0] != "validate":
            assert err.startswith("rdma-conformance: ")
            assert err.count("\n") == 1
            assert len(err) < 2000
        for name in OUTPUTS[:3]:
            if (tmp_path / name).exists():
                assert shows_itself((tmp_path / name).read_text()), name


class _Scripts(HTMLParser):
    """Counts what a page can run."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        if tag == "script" or any(name.startswith("on") for name, _ in attributes):
            self.found.append((tag, attributes))


@cache
def _clean(folder):
    return _scripts(written(folder / "clean.ndjson", made_run(result("FAIL"))), folder)


def _scripts(run, folder):
    assert main(["matrix", str(run), "-o", str(folder / "page.html")]) == 0
    page = _Scripts()
    page.feed((folder / "page.html").read_text())
    return page.found


@bounded(12)
@given(st.sampled_from(("title", "reason", "again", "case", "area")), ODD_TEXT)
def test_a_page_runs_nothing_of_a_run_file(tmp_path, capsys, name, text):
    odd = json.loads(REAL[1].split(b"\n")[1]) | {"verdict": "FAIL", name: text or "x"}
    odd["observed"] = odd["asked"] = {text: [text]}
    path = tmp_path / "odd.ndjson"
    path.write_text(f"{json.dumps(as_dict(HEADER))}\n{json.dumps(odd)}\n")
    assert _scripts(path, tmp_path) == _clean(tmp_path)
    capsys.readouterr()


@bounded(60)
@given(st.binary(max_size=200) | damaged([b"remote/test_rights.py::x[y]\n\n\n"]))
def test_the_names_of_running_cases(tmp_path, content):
    path = tmp_path / "run.ndjson"
    path.write_bytes(REAL[1])
    (tmp_path / "run.running").write_bytes(content)
    for case in cut_off(path, read_run(path)):
        assert shows_itself(case), ascii(case)


@bounded(60)
@given(damaged([b'{"labels": [{"name": "device", "value": "rxe0"}], "name": "x"}']))
def test_allure_results(tmp_path, monkeypatch, capsys, content):
    # What comes behind the reading needs Node.js, and is not asked here.
    monkeypatch.setattr("rdma_reports.allure_report.find_node", _no_node)
    (tmp_path / "x-result.json").write_bytes(content)
    assert main(["allure", str(tmp_path), "-o", str(tmp_path / "report")]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "no node" in err or "is no Allure result" in err


def _no_node():
    raise ReportError("no node")


def _can_be_typed(text):
    """What execve(2) can hand over."""
    try:
        return "\0" not in text and bool(os.fsencode(text))
    except UnicodeEncodeError:
        return False


COMMANDS = "validate compare matrix junit deviations propose check bundle explain statement allure"
OPTIONS = "--deviations --format -o --redact --name --help -- - . / json text MR-RIGHT-READ RXE-002"
WORDS = st.sampled_from([*COMMANDS.split(), *OPTIONS.split()])


@bounded(120)
@given(st.lists(WORDS | ANY_TEXT.filter(_can_be_typed), max_size=4))
@example(["explain", "\x1b[31m"])
@example(["validate", "\udcff"])
@example(["matrix", "\udcff", "-o", "\x1b.html"])
@example(["explain", "--deviations", "x\x1b[31m.toml"])
@example(["explain", "-o", "\udcff.html"])
def test_a_command_line(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(words)
    except SystemExit as ended:  # argparse: a wrong option, or --help
        status = ended.code
    out, err = capsys.readouterr()
    assert status in (0, 1, 2)
    assert shows_itself(out), ascii(out)
    assert shows_itself(err), ascii(err)
    if re.match("rdma-conformance: (?!error)", err) and "validate" not in words:
        assert err.count("\n") == 1


@pytest.mark.parametrize("size", [3000, 200_000])
def test_nesting_without_end_is_one_line(tmp_path, capsys, size):
    path = tmp_path / "run.ndjson"
    for each in (b"[" * size, b'{"type":' * size):
        path.write_bytes(REAL[0] + each + b"\n")
        assert main(["validate", str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
