"""The run file: what is written is read again, and nothing else is."""

import json
import os
import resource
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_reports.runfile import Run, RunFileError, RunWriter, as_dict, discard, read_run
from rdma_reports.schema import KEYWORDS, definitions

from .runs import EVERY_VERDICT, HEADER, result


def written(path: Path, results=EVERY_VERDICT, finish: bool = True) -> bytes:
    with RunWriter(path, HEADER) as run:
        for each in results:
            run.result(each)
        if finish:
            run.finish("NOT CONFORMING", exit_status=1, unasked=["QP-RIGHT-READ"])
    return path.read_bytes()


def as_json(line) -> dict:
    return json.loads(json.dumps(as_dict(line)))


def rewritten(path: Path, number: int, **changes) -> Path:
    """The run file with members of one line changed; None takes a member away."""
    lines = path.read_text().splitlines()
    data = json.loads(lines[number]) | changes
    lines[number] = json.dumps({name: value for name, value in data.items() if value != "away"})
    path.write_text("\n".join(lines) + "\n")
    return path


def test_what_is_written_is_read(tmp_path):
    written(tmp_path / "run.ndjson")
    run = read_run(tmp_path / "run.ndjson")
    assert run.complete
    assert as_json(run.header) == as_json(HEADER)
    assert [as_json(line) for line in run.lines] == [as_json(line) for line in EVERY_VERDICT]
    assert run.counts == run.footer.counts == {line.verdict: 1 for line in EVERY_VERDICT}
    assert run.footer.unasked == ["QP-RIGHT-READ"]


def test_each_line_is_in_the_file_at_once(tmp_path):
    path = tmp_path / "run.ndjson"
    with RunWriter(path, HEADER) as run:
        assert read_run(path).lines == ()
        run.result(EVERY_VERDICT[0])
        assert len(read_run(path).lines) == 1
        assert not read_run(path).complete


def test_every_prefix_reads_or_says_why_not(tmp_path):
    path = tmp_path / "run.ndjson"
    data = written(path, EVERY_VERDICT[:2])
    ends = {index for index, byte in enumerate(data) if byte == ord("\n")}
    for end in range(len(data) + 1):
        path.write_bytes(data[:end])
        if end < min(ends):
            with pytest.raises(RunFileError):
                read_run(path)
            continue
        run = read_run(path)
        assert run.complete == (end >= len(data) - 1)
        assert len(run.lines) == min(2, len([each for each in ends if each <= end]) - 1)


@settings(deadline=None)  # a busy machine is no fault
@given(st.binary(max_size=200))
def test_any_bytes_read_or_say_why_not(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "run.ndjson"
    path.write_bytes(data)
    with pytest.raises(RunFileError):
        read_run(path)


@settings(deadline=None)
@given(place=st.integers(0, 10_000), byte=st.binary(min_size=1, max_size=3))
def test_a_damaged_file_reads_or_says_why_not(tmp_path_factory, place, byte):
    path = tmp_path_factory.mktemp("damaged") / "run.ndjson"
    data = written(path)
    place %= len(data)
    path.write_bytes(data[:place] + byte + data[place + len(byte) :])
    try:
        assert isinstance(read_run(path), Run)
    except RunFileError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize(
    ("number", "changes", "says"),
    [
        (0, {"schema": 2}, "schema 2"),
        (0, {"schema": "x" * 10}, "schema 'x"),
        (0, {"workers": -1}, "workers is -1, below 0"),
        (0, {"selected": True}, "selected is true where integer is meant"),
        (0, {"started": "yesterday"}, "started is"),
        (0, {"catalogue": ""}, "catalogue is"),
        (0, {"capabilities": {"claims": {}}}, "capabilities lacks denials"),
        (1, {"verdict": "GOOD"}, "verdict is .*not one of"),
        (1, {"case": ""}, "case is empty"),
        (1, {"extra": 1}, "extra is not part of the format"),
        (1, {"asked": "away"}, "it lacks asked"),
        (1, {"expected": [{"name": "x", "facts": {"a": 1}}]}, r"expected\[0\].facts.a is 1"),
        (1, {"type": "footer"}, "it lacks finished"),
        (1, {"type": []}, "type of header, result or footer"),
        (9, {"counts": {"PASS": 9}}, "the footer counts"),
        (9, {"counts": {"WELL": 9}}, "the name counts.WELL is"),
        (9, {"verdict": "CONFORMING"}, "its counts do not"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, number, changes, says):
    path = tmp_path / "run.ndjson"
    written(path)
    with pytest.raises(RunFileError, match=says):
        read_run(rewritten(path, number, **changes))


def test_two_runs_in_one_file(tmp_path):
    data = written(tmp_path / "run.ndjson")
    (tmp_path / "both").write_bytes(data + data)
    with pytest.raises(RunFileError, match="Two runs"):
        read_run(tmp_path / "both")


def test_half_a_line_after_the_footer_is_no_run(tmp_path):
    data = written(tmp_path / "run.ndjson")
    (tmp_path / "more").write_bytes(data + b'{"type":"res')
    with pytest.raises(RunFileError, match="line 11"):
        read_run(tmp_path / "more")


def test_of_several_lines_for_a_case_the_worst_counts(tmp_path):
    path = tmp_path / "run.ndjson"
    crash = replace(result("CRASH"), case="a")
    written(path, [replace(result("PASS"), case="a"), crash, replace(result("FAIL"), case="a")])
    run = read_run(path)
    assert len(run.lines) == 3
    assert {case: each.verdict for case, each in run.results.items()} == {"a": "CRASH"}
    assert run.counts == {"CRASH": 1}


def test_the_earlier_run_stays_until_the_new_one_has_started(tmp_path):
    path = tmp_path / "run.ndjson"
    data = written(path)
    with pytest.raises(RunFileError, match="does not fit in JSON"):  # noqa: SIM117
        with RunWriter(path, replace(HEADER, seed=object())):
            pass
    assert path.read_bytes() == data
    with RunWriter(path, HEADER):
        assert read_run(path).lines == ()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["missing/run.ndjson", "."])
def test_a_place_that_cannot_hold_the_file(tmp_path, place):
    with pytest.raises(RunFileError, match=r"Make its directory|name a file"):  # noqa: SIM117
        with RunWriter(tmp_path / place, HEADER):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_once_and_leaves_whole_lines(tmp_path):
    path = tmp_path / "run.ndjson"
    data = written(path, EVERY_VERDICT[:2], finish=False)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with RunWriter(path, HEADER) as run:
        run.result(EVERY_VERDICT[0])
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(data) - 10, before[1]))
        try:
            with pytest.raises(RunFileError, match="make room"):
                run.result(EVERY_VERDICT[1])
            run.finish("INVALID", exit_status=3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
    assert run.failed
    assert path.read_bytes().endswith(b"}\n")
    assert [line.case for line in read_run(path).lines] == [EVERY_VERDICT[0].case]


def test_a_result_that_is_no_json_names_its_case(tmp_path):
    with RunWriter(tmp_path / "run.ndjson", HEADER) as run:
        with pytest.raises(RunFileError, match=r"test_region_rights.*does not fit in JSON"):
            run.result(result(observed={"requester": b"bytes"}))
        run.result(result())
    assert len(read_run(tmp_path / "run.ndjson").lines) == 1


def test_a_symbolic_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "run.ndjson").symlink_to(os.path.join("there", "run.ndjson"))  # noqa: PTH118
    written(tmp_path / "run.ndjson")
    assert (tmp_path / "run.ndjson").is_symlink()
    assert read_run(tmp_path / "there" / "run.ndjson").complete


def test_the_schema_uses_only_what_is_checked():
    def keywords(schema):
        if isinstance(schema, dict):
            yield from schema
            for name in ("properties", "$defs"):
                for each in schema.get(name, {}).values():
                    yield from keywords(each)
            for name in ("items", "additionalProperties", "propertyNames"):
                yield from keywords(schema.get(name))

    found = {word for each in definitions().values() for word in keywords(each)}
    assert found <= KEYWORDS


def test_what_a_killed_run_began_is_removed_by_the_next(tmp_path):
    """A process id above the kernel's limit belongs to nobody."""
    begun, other = tmp_path / ".run.ndjson.4194305.part", tmp_path / ".b.ndjson.4194305.part"
    living = tmp_path / ".run.ndjson.1.part"
    for path in (begun, other, living):
        path.touch()
    with RunWriter(tmp_path / "run.ndjson", HEADER) as writer:
        writer.finish("INVALID", exit_status=5)
    assert not begun.exists()
    assert other.exists() and living.exists()


def test_a_file_that_is_being_written_is_not_taken(tmp_path):
    path = tmp_path / "run.ndjson"
    with RunWriter(path, HEADER) as writer:
        for take in (lambda: discard(path), RunWriter(path, HEADER).__enter__):
            with pytest.raises(RunFileError, match="another run is writing"):
                take()
        writer.finish("INVALID", exit_status=5)
    discard(path)
    assert not path.exists()
    discard(path)


def test_a_file_that_went_meanwhile_is_no_whole_run(tmp_path):
    path = tmp_path / "run.ndjson"
    with RunWriter(path, HEADER) as writer:
        path.unlink()
        with pytest.raises(RunFileError, match="was removed or replaced while the run wrote it"):
            writer.finish("INVALID", exit_status=5)
    assert writer.failed
