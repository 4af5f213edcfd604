"""Going on with a run: who is blamed for its end, and which run is the same."""

from dataclasses import replace

import pytest

from rdma_conformance.resuming import (
    Blame,
    CannotResume,
    Unfinished,
    blame,
    check,
    read_unfinished,
    resumed,
    selection_digest,
)
from rdma_reports.commands.validate import summary
from rdma_reports.lines import Footer, Header, Result
from rdma_reports.places import running_of
from rdma_reports.runfile import Run, RunWriter, read_run

HEADER = Header(
    suite="1",
    catalogue="0123456789ab",
    device={"device": "mlx5_0", "driver": "mlx5_core", "gid": "::1", "node_guid": "1", "mtu": 1024},
    fabric="loopback",
    capabilities={"claims": {}, "denials": {}},
    seed=1,
    argv=["--device", "mlx5_0"],
    selected=4,
    deselected=0,
    workers=0,
    selection="ba9876543210",
    boot="first",
)


def result(case: str, verdict: str = "PASS") -> Result:
    return Result(
        case=case,
        area="remote",
        requirement="MR-RIGHT-READ",
        level="MUST",
        verdict=verdict,
        title="",
        asked={},
        again="pytest",
        seed=1,
        duration=0.5,
    )


def left(running=(), words=None, results=("a",), **changes) -> Unfinished:
    header = replace(HEADER, **changes)
    run = read_run_of(header, results)
    return Unfinished(None, run, tuple(running), words)


def read_run_of(header, results, footer=None):
    return Run(header, tuple(map(result, results)), footer)


def went_on(*suspects: str, boot: str = "second"):
    return {"at": "2026-01-01T00:00:00Z", "boot": boot, "suspects": list(suspects)}


@pytest.mark.parametrize(
    ("unfinished", "found"),
    [
        # One case that ran alone when the kernel is said to have died.
        (left("b", ("panic",)), Blame(("b",))),
        (left("b", ()), Blame(("b",))),
        # Nobody says so: the machine may have lost its power.
        (left("b"), Blame((), ("b",))),
        # Alone for the second time.
        (left("b", resumed=[went_on("b")]), Blame(("b",))),
        (left("b", resumed=[went_on("b", "c")]), Blame(("b",), ("c",))),
        # One of several ran last; of two processes' cases one may not have been named yet.
        (left("bc", ("panic",), workers=2), Blame((), ("b", "c"))),
        (left("b", ("panic",), workers=2), Blame((), ("b",))),
        # Going on is by one process.
        (left("d", ("panic",), workers=2, resumed=[went_on("b", "c")]), Blame(("d",), ("b", "c"))),
        # A suspect that has answered is none; the machine went down between two cases.
        (left("c", (), results="ab", resumed=[went_on("b", "c")]), Blame(("c",))),
        (left((), ("panic",)), Blame()),
    ],
)
def test_who_is_blamed_when_the_machine_went_down(unfinished, found):
    assert blame(unfinished, "third") == found


def test_nobody_is_blamed_in_the_same_boot():
    assert blame(left("b", ("panic",)), "first") == Blame()
    assert blame(left("b", ("panic",), resumed=[went_on()]), "second") == Blame()
    # A kernel that does not tell its boot.
    assert blame(left("b", ("panic",), boot=None), None) == Blame(("b",))


def test_the_header_tells_each_time_that_a_run_went_on():
    once = resumed(HEADER, "second", Blame((), ("b",)))
    twice = resumed(once, "third", Blame())
    assert [entry["suspects"] for entry in twice.resumed] == [["b"], []]
    assert replace(twice, resumed=()) == HEADER
    assert ", resumed 2 times: 1 PASS" in summary(read_run_of(twice, "a"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"suite": "2"}, "the suite was 1 and is 2"),
        ({"catalogue": "0" * 12}, "the catalogue was"),
        ({"seed": 2}, "the seed was 1 and is 2"),
        ({"planted": "any"}, "the planted fault was nothing and is any"),
        ({"kernel_watch": "off"}, "the kernel watch"),
        ({"selected": 5}, "the number of selected cases was 4 and is 5"),
        ({"selection": "0" * 12}, "the selection of cases"),
        ({"peer": "rxe1"}, "the peer was nothing and is rxe1"),
        ({"port": 2}, "the port was nothing and is 2"),
        ({"leak_guard": "off"}, "the leak guard was nothing and is off"),
        ({"deviations": "0" * 12}, "the digest of known deviations was nothing and is 0"),
        (
            {"capabilities": {"claims": {}, "denials": {"odp": "EPERM"}}},
            "the capability odp was nothing and is denied",
        ),
        ({"device": HEADER.device | {"node_guid": "2"}}, "the device's node_guid was 1 and is 2"),
        ({"device": HEADER.device | {"kernel": "7"}}, "the device's kernel was nothing and is 7"),
    ],
)
def test_another_run_is_not_gone_on_with(changes, said):
    with pytest.raises(CannotResume, match=rf"{said}.*run without --resume"):
        check(left(), replace(HEADER, **changes))


def test_what_changes_by_itself_is_no_other_run():
    check(left(), replace(HEADER, boot="second", device=HEADER.device | {"gid": "::2"}, workers=2))
    rxe = HEADER.device | {"driver": "rdma_rxe"}
    check(left(device=rxe), replace(HEADER, device=rxe | {"node_guid": "2"}))
    made = {"argv": ["--setup-rxe"], "device": rxe | {"device": "rxe1a"}}
    check(left(**made), replace(HEADER, **made | {"device": rxe | {"device": "rxe2a"}}))


def test_who_denies_a_capability_may_be_made_anew():
    denied = [{"claims": {}, "denials": {"odp": f"rxe{number}b: EPERM"}} for number in (1, 2)]
    check(left(capabilities=denied[0]), replace(HEADER, capabilities=denied[1]))


def test_after_a_stuck_task_a_reboot_comes_first():
    footer = Footer(verdict="INVALID", counts={"PASS": 1}, exit_status=2, stuck="a")
    unfinished = Unfinished(None, read_run_of(HEADER, "a", footer), (), None)
    with pytest.raises(CannotResume, match="a task is stuck in this kernel since a was asked"):
        check(unfinished, HEADER)
    check(unfinished, replace(HEADER, boot="second"))


def test_what_a_run_left_is_read(tmp_path):
    path = tmp_path / "run.ndjson"
    with RunWriter(path, HEADER) as writer:
        writer.result(result("a"))
    running_of(path).write_text("a\nb\n\n\n")
    (tmp_path / "console").write_text("BUG: x\r\n\n end\n")
    unfinished = read_unfinished(path, tmp_path / "console")
    assert unfinished.running == ("b",)
    assert unfinished.words == ("BUG: x", " end")
    assert read_unfinished(path).words is None
    with pytest.raises(CannotResume, match=r"--last-words .*: No such file"):
        read_unfinished(path, tmp_path / "none")
    with pytest.raises(CannotResume, match=r"--resume: .* cannot be read"):
        read_unfinished(tmp_path / "none")


def test_a_whole_run_has_nothing_to_go_on_with(tmp_path):
    path = tmp_path / "run.ndjson"
    with RunWriter(path, replace(HEADER, selected=1)) as writer:
        writer.result(result("a"))
    with pytest.raises(CannotResume, match="each of its 1 cases has a result"):
        read_unfinished(path)


def test_a_writer_that_goes_on_keeps_the_lines(tmp_path):
    path = tmp_path / "run.ndjson"
    with RunWriter(path, HEADER, [result("a", "FAIL"), result("b")]) as writer:
        assert len(read_run(path).lines) == 2
        writer.result(result("c"))
        writer.finish("NOT CONFORMING", exit_status=1)
    run = read_run(path)
    assert run.complete
    assert dict(run.footer.counts) == {"FAIL": 1, "PASS": 2}
    assert [line.case for line in run.lines] == ["a", "b", "c"]


def test_a_selection_is_known_by_its_cases():
    assert selection_digest(["a", "b"]) == selection_digest(["b", "a"]) != selection_digest(["a"])
