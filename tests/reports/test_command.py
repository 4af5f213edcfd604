"""The command: exit statuses and one clear line for what cannot be used."""

import pytest

from rdma_reports.command import main
from rdma_reports.runfile import RunWriter

from .runs import HEADER, made_run, result, written


@pytest.mark.parametrize(
    ("found", "verdict", "status"),
    [
        ("PASS", "CONFORMING", 0),
        ("FAIL", "NOT CONFORMING", 1),
        ("ERROR", "INVALID", 2),
        ("PASS", None, 2),
    ],
)
def test_validate_tells_the_verdict(tmp_path, capsys, found, verdict, status):
    path = tmp_path / "run.ndjson"
    with RunWriter(path, HEADER) as run:
        run.result(result(found))
        if verdict:
            run.finish(verdict, exit_status=status)
    assert main(["validate", str(path)]) == status
    text = capsys.readouterr().out
    assert text.startswith(f"{path}: {verdict or 'INCOMPLETE'}")
    assert text.endswith(f"rxe0 rdma_rxe 7.2.12: 1 {found}\n")


def test_validate_tells_what_a_run_was_asking_when_it_was_cut_off(tmp_path, capsys):
    path = tmp_path / "run.ndjson"
    done = result("PASS")
    with RunWriter(path, HEADER) as run:
        run.result(done)
        (tmp_path / "run.running").write_text(f"{done.case}\nremote/test_rights.py::x[y]\n\n\n")
    assert main(["validate", str(path)]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "  cut off while it asked remote/test_rights.py::x[y]",
        f"  to go on: the same pytest command with --resume {path}",
    ]


def test_validate_goes_on_after_a_file_that_is_none(tmp_path, capsys):
    with RunWriter(tmp_path / "good", HEADER) as run:
        run.result(result("PASS"))
        run.finish("CONFORMING", exit_status=0)
    (tmp_path / "bad").write_text("x\n")
    assert main(["validate", str(tmp_path / "bad"), str(tmp_path / "good")]) == 2
    out, err = capsys.readouterr()
    assert "CONFORMING" in out
    assert err.count("\n") == 1
    assert "bad, line 1: it is no JSON" in err


def test_validate_tells_what_a_run_left_out(tmp_path, capsys):
    with RunWriter(tmp_path / "part", HEADER) as run:
        run.result(result("PASS"))
        run.finish("CONFORMING", exit_status=0, unasked=["LOC-KEY", "MW-KEY", "MEM-LIMIT", "X"])
    assert main(["validate", str(tmp_path / "part")]) == 0
    assert (
        "  partial run: no case of LOC-KEY, MW-KEY, MEM-LIMIT and 1 more" in capsys.readouterr().out
    )


def test_validate_takes_a_folder(tmp_path, capsys):
    for name in ("a.ndjson", "b.ndjson"):
        written(tmp_path / name, made_run(result("PASS")))
    assert main(["validate", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("CONFORMING") == 2
    (tmp_path / "none").mkdir()
    assert main(["validate", str(tmp_path / "none")]) == 2
    assert "holds no run file" in capsys.readouterr().err


def test_allure_without_results_is_one_line(tmp_path, capsys):
    assert main(["allure", str(tmp_path), "-o", str(tmp_path / "out")]) == 2
    err = capsys.readouterr().err
    assert err.startswith("rdma-conformance: ")
    assert err.count("\n") == 1


def test_no_subcommand_shows_the_help(capsys):
    assert main([]) == 2
    assert "allure" in capsys.readouterr().err
