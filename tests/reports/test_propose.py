"""Proposed deviations: patterns that cover just what failed, and a file that waits for a person."""

import re
import tomllib
from datetime import date

import pytest

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import DeviationError, load_deviations
from rdma_reports.command import main
from rdma_reports.propose import as_toml, patterns, propose

from .runs import made_run, result, written

CATALOGUE = load_catalogue()
TODAY = date(2026, 1, 2)


def failing(case: str, observed="SUCCESS", fact="requester", rule="MR-RIGHT-READ"):
    differs = {"fact": fact, "allowed": [["REM_ACCESS_ERR"]], "observed": observed}
    return result("FAIL", case=case, differences=[differs], requirement=rule)


@pytest.mark.parametrize(
    ("cases", "others", "found"),
    [
        (["a.py::t[x-1]", "a.py::t[x-2]"], ["a.py::t[y-1]"], ["a.py::t[x-*"]),
        (["a.py::t[x-1]", "a.py::t[y-1]"], [], ["a.py::t[*"]),
        (["a.py::t[x-1]"], ["a.py::t[x-1-2]"], ["a.py::t[x-1]"]),
        (["a.py::t[x]"], ["a.py::t[x]y"], ["a.py::t[x]"]),
        (["a.py::t"], ["a.py::tt"], ["a.py::t"]),
        (
            ["a.py::t[at:1]", "a.py::t[at:-1]"],
            ["a.py::t[at:10]"],
            ["a.py::t[at:1]", "a.py::t[at:-*"],
        ),
    ],
)
def test_patterns_cover_what_failed_and_nothing_else(cases, others, found):
    assert patterns(cases, others) == found


def test_cases_that_failed_alike_are_one_entry():
    run = made_run(
        failing("a.py::t[read-1]"),
        failing("a.py::t[read-2]"),
        failing("a.py::t[write-1]", observed="LOC_PROT_ERR"),
        result("PASS", case="a.py::t[write-2]"),
    )
    first, second = propose(run, ())
    assert first.patterns == ("a.py::t[read-*",)
    assert first.observed == {"requester": ("SUCCESS",)}
    assert second.patterns == ("a.py::t[write-1]",)


def test_bytes_that_differ_from_case_to_case_are_one_fault():
    run = made_run(
        failing("a.py::t[read-1]", [[0, 1, "80"]], "region"),
        failing("a.py::t[read-2]", [[0, 1, "81"]], "region"),
    )
    (only,) = propose(run, ())
    assert only.observed == {"region": ([[0, 1, "80"]], [[0, 1, "81"]])}


def test_a_hang_is_not_proposed():
    assert propose(made_run(result("FAIL", differences=[])), ()) == []


def test_ids_go_on_from_those_that_are_known():
    known = load_deviations((), CATALOGUE)
    (only,) = propose(made_run(failing("a.py::t[1]")), known)
    taken = [int(each.id[-3:]) for each in known if each.driver == "rdma_rxe"]
    assert only.id == f"RXE-{max(taken) + 1:03}"
    (other,) = propose(made_run(failing("a.py::t[1]"), driver="mlx5_core"), known)
    assert other.id == "MLX5CORE-001"


def test_the_file_loads_once_a_person_has_written_why(tmp_path):
    run = made_run(
        failing('remote/t.py::t[read-"1"]', ["SUCCESS", {"a b": 1}]),
        result("FIXED", case="remote/t.py::t[other]"),
    )
    known = load_deviations((), CATALOGUE)
    text = as_toml(run, propose(run, known), TODAY)
    assert "# RXE-001: 1 case conform now" in text
    path = tmp_path / "vendor.toml"
    path.write_text(text)
    with pytest.raises(DeviationError, match="'reason' is missing"):
        load_deviations([path], CATALOGUE)
    path.write_text(re.sub(r'# (reason|cause|url) = "(.*)"', r'\1 = "\2x.org"', text))
    *_, entry = load_deviations([path], CATALOGUE)
    assert entry.covers("rdma_rxe", "7.2.12+deb14-amd64", "", "MR-RIGHT-READ", run.lines[0].case)
    assert not entry.covers("rdma_rxe", "7.2.13", "", "MR-RIGHT-READ", run.lines[0].case)
    assert entry.explains({"requester": ["SUCCESS", {"a b": 1}]}, ["requester"])
    assert entry.found == TODAY


def test_the_command_proposes_and_says_when_nothing_is_to_be(tmp_path, capsys):
    bad = written(tmp_path / "bad.ndjson", made_run(failing("remote/t.py::t[read]")))
    out = tmp_path / "vendor.toml"
    assert main(["deviations", "propose", str(bad), "-o", str(out)]) == 0
    assert len(tomllib.loads(out.read_text())) == 1
    capsys.readouterr()
    good = written(tmp_path / "good.ndjson", made_run(result()))
    assert main(["deviations", "propose", str(good)]) == 0
    assert "no case failed" in capsys.readouterr().err


def test_check_names_what_covers_nothing_and_what_is_late(tmp_path, capsys):
    assert main(["deviations", "check"]) == 0
    assert "RXE-001" in capsys.readouterr().out
    text = as_toml(made_run(), propose(made_run(failing("remote/gone.py::t[x]")), ()), TODAY)
    text = re.sub(r'# (reason|cause|url) = "(.*)"', r'\1 = "\2x.org"', text)
    path = tmp_path / "vendor.toml"
    path.write_text(text.replace("[RDMARXE-001]", "[OWN-001]").replace("2026-07-03", "2026-01-03"))
    assert main(["deviations", "check", str(path)]) == 1
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("OWN-001")
    assert "covers no case of this suite" in line
    assert "was to be reviewed by 2026-01-03" in line
