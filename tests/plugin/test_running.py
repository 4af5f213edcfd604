"""The file of the running cases: it names them at any moment, and goes with the run."""

from rdma_conformance.running import Running
from rdma_conformance.suites import all_cases, case_of


def named(path):
    return path.read_text().split()


def test_the_running_cases_are_named(tmp_path):
    path = tmp_path / "run.running"
    path.write_text("of an earlier run")
    running = Running(path)
    assert named(path) == []
    running.start("a case with a long name".replace(" ", "-"))
    running.start("b")
    assert named(path) == ["a-case-with-a-long-name", "b"]
    running.end("a-case-with-a-long-name")
    running.end("never-started")
    running.start("c")
    assert named(path) == ["b", "c"]
    running.close()
    assert not path.exists()
    running.start("d")
    running.close()


def test_without_a_place_there_is_no_file(tmp_path):
    running = Running(tmp_path / "none" / "run.running")
    running.start("a")
    running.end("a")
    running.close()


def test_a_full_disk_ends_the_file_and_not_the_run(tmp_path):
    path = tmp_path / "run.running"
    path.symlink_to("/dev/full")
    running = Running(path)
    running.start("a")
    assert not path.is_symlink()
    running.start("b")


def test_a_node_id_has_its_case_id():
    name = next(iter(all_cases()))
    assert case_of(f"../site/conformance/{name}") == case_of(f"conformance/{name}") == name
    assert case_of("tests/plugin/test_closing.py::test_conforming") is None
