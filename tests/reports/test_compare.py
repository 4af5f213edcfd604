"""Comparison: the kind of each change, what can't be compared, and the gate's exit status."""

import json

import pytest

from rdma_reports.command import main
from rdma_reports.compare import GATING, KINDS, as_json, compare
from rdma_reports.errors import ReportError
from rdma_reports.lines import FAILING, SEVERITY

from .runs import made_run, result, written


def named(verdict: str, **changes):
    return result(verdict, **{"case": "a/b.py::t[c]", **changes})


def change(before, after):
    old = made_run(*([before] if before else []), result("PASS"))
    new = made_run(*([after] if after else []), result("PASS"))
    (found,) = compare(("a", old), ("b", new)).changes
    return found


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("PASS", "FAIL", "newly_failing"),
        ("NOT_SUPPORTED", "CRASH", "newly_failing"),
        ("DEVIATION", "FIXED", "newly_failing"),
        ("FAIL", "ERROR", "still_failing"),
        ("FAIL", "FAIL", "still_failing"),
        ("FAIL", "PASS", "fixed"),
        ("FAIL", "DEVIATION", "fixed"),
        ("FAIL", "NOT_SUPPORTED", "no_longer_asked"),
        ("PASS", "NOT_SUPPORTED", "no_longer_asked"),
        ("NOT_SUPPORTED", "PASS", "changed_verdict"),
        ("PASS", "DEVIATION", "changed_verdict"),
        ("PASS", None, "vanished"),
        (None, "PASS", "new"),
        (None, "FAIL", "new_failing"),
    ],
)
def test_each_change_has_its_kind(before, after, kind):
    found = change(before and named(before), after and named(after))
    assert found.kind == kind
    assert found.case == "a/b.py::t[c]"


def test_every_pair_of_verdicts_has_a_kind_or_is_the_same():
    kinds = {key for key, _, _ in KINDS}
    for before in SEVERITY:
        for after in SEVERITY:
            old, new = made_run(named(before)), made_run(named(after))
            found = compare(("a", old), ("b", new))
            if before == after and before not in FAILING:
                assert found.same == 1
                continue
            assert found.changes[0].kind in kinds
            assert found.worse == (found.changes[0].kind in GATING)
            if after in FAILING and before not in FAILING:
                assert found.worse


def test_an_outcome_that_changed_without_the_verdict_is_told():
    found = change(
        named("NOTE", observed={"result": "EINVAL", "reported": 1}),
        named("NOTE", observed={"result": "EPERM", "reported": 1}),
    )
    assert found.kind == "changed_outcome"
    assert found.words == "NOTE (result EINVAL -> EPERM)"


def test_bytes_are_compared_only_under_one_seed():
    def with_bytes(data, seed):
        return named("PASS", observed={"region": [[0, 1, data]]}, seed=seed)

    assert change(with_bytes("80", 1), with_bytes("81", 1)).kind == "changed_outcome"
    old, new = made_run(with_bytes("80", 1)), made_run(with_bytes("81", 2))
    assert compare(("a", old), ("b", new)).same == 1


def test_what_changed_of_the_device_is_told():
    found = compare(("a", made_run(result())), ("b", made_run(result(), kernel="7.3")))
    assert found.identity == (("kernel", "7.2.12", "7.3"),)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"verdict": None}, "b is of a run that did not end"),
        ({"interrupted": True, "verdict": "INVALID"}, "b is of a run that did not end"),
        ({"planted": "dies-of-send"}, "b has a planted fault"),
        ({"catalogue": "ba9876543210"}, "different catalogues"),
        ({"driver": "siw"}, "a is of driver rdma_rxe and b of siw"),
        ({"deselected": 4}, "b asked a part of the suite only"),
        ({"unasked": ("MR-KEY",)}, "b asked a part of the suite only"),
    ],
)
def test_what_cannot_be_compared_says_why(changes, told):
    good, other = made_run(result()), made_run(result(), **changes)
    with pytest.raises(ReportError, match=told):
        compare(("a", good), ("b", other))
    with pytest.raises(ReportError):
        compare(("b", other), ("a", good))


def test_two_runs_of_one_part_are_compared():
    part = made_run(result(), deselected=4, unasked=("MR-KEY",))
    assert compare(("a", part), ("b", part)).same == 1


def test_the_json_has_each_kind(tmp_path):
    data = as_json([compare(("a", made_run(named("PASS"))), ("b", made_run(named("FAIL"))))])
    (device,) = json.loads(json.dumps(data))["devices"]
    assert device["worse"] is True
    assert device["newly_failing"][0]["before"] == "PASS"
    assert {key for key, _, _ in KINDS} <= device.keys()


@pytest.mark.parametrize("form", ["text", "md", "json"])
def test_the_command_gates(tmp_path, capsys, form):
    good = written(tmp_path / "good.ndjson", made_run(named("PASS")))
    bad = written(tmp_path / "bad.ndjson", made_run(named("FAIL")))
    assert main(["compare", str(good), str(good), "--format", form]) == 0
    capsys.readouterr()
    assert main(["compare", str(good), str(bad), "--format", form]) == 1
    assert "a/b.py::t[c]" in capsys.readouterr().out
    assert main(["compare", str(bad), str(bad)]) == 0
    out = tmp_path / "out" / "c"
    assert main(["compare", str(good), str(bad), "--format", form, "-o", str(out)]) == 1
    assert "a/b.py::t[c]" in out.read_text()


def test_folders_pair_by_file_name(tmp_path, capsys):
    for night, verdict in (("one", "PASS"), ("two", "FAIL")):
        written(tmp_path / night / "rxe0.ndjson", made_run(named("PASS")))
        written(tmp_path / night / "mlx5_0.ndjson", made_run(named(verdict), device="mlx5_0"))
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert main(["compare", one, two]) == 1
    text = capsys.readouterr().out
    assert "mlx5_0 (rdma_rxe, 7.2.12): WORSE" in text
    assert "rxe0 (rdma_rxe, 7.2.12): no worse" in text
    (tmp_path / "two" / "rxe0.ndjson").unlink()
    assert main(["compare", one, two]) == 2
    assert "has no rxe0.ndjson" in capsys.readouterr().err
    assert main(["compare", one, f"{two}/mlx5_0.ndjson"]) == 2
