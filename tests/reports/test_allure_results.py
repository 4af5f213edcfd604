"""The Allure results of a session with allure-pytest: a case's are the suite's, others stay."""

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from rdma_reports.allure_model import environment
from rdma_reports.lines import SEVERITY, as_dict

from .runs import result

CONFTEST = """
    import json
    import pathlib
    import pytest
    from rdma_conformance import allure_results

    RECORDS = json.loads(pathlib.Path(__file__).with_name("records.json").read_text())
    IDENTITY = {
        "device": "rxe0", "driver": "rdma_rxe", "kernel": "7.2.12", "rdma_core": "65.0",
        "firmware": None, "mtu": 1024,
    }
    LINKS = {"ibv_reg_mr(3) DESCRIPTION, flags": "https://man7.org/reg_mr"}

    def pytest_cmdline_main(config):
        allure_results.check_directory(config)

    def pytest_configure(config):
        config.addinivalue_line("markers", "requirement(id): the rule")
        if hasattr(config, "workerinput"):
            allure_results.install(config, IDENTITY, LINKS)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(session):
        if not hasattr(session.config, "workerinput"):
            allure_results.install(session.config, IDENTITY, LINKS)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item, call):
        report = yield
        record = RECORDS.get(item.name.partition("[")[2].rstrip("]"))
        if call.when == "call" and record:
            allure_results.attach_record(item.nodeid, record)
            report.outcome = "failed" if record["verdict"] in ("FAIL", "CRASH") else "passed"
        return report

    def pytest_runtest_logreport(report):
        if report.when == "???":
            allure_results.write_crash(RECORDS["CRASH"])
"""
CASES = """
    import os
    import shutil
    import pytest


    @pytest.fixture
    def endpoint():
        yield
        TEARDOWN

    @pytest.mark.requirement("MR-RIGHT-READ")
    @pytest.mark.parametrize("case", {verdicts})
    def test_case(case, endpoint):
        CALL
"""


@dataclass(frozen=True)
class Session:
    """A pytest session that has ended: its directory, exit status and output."""

    path: Path
    ret: int
    output: str

    def files(self, pattern: str = "*") -> list[Path]:
        return sorted((self.path / "results").glob(pattern))

    @property
    def results(self) -> dict[str, dict]:
        """Allure's results by name."""
        found = [json.loads(path.read_text()) for path in self.files("*-result.json")]
        return {each["name"]: each for each in found}

    @property
    def by_verdict(self) -> dict[str, dict]:
        return {labels(data)["verdict"]: data for data in self.results.values()}


def session(path: Path, *args: str, allure: bool = True, **files: str) -> Session:
    """Run pytest in `path` over test files given by name."""
    root = Path(__file__).parents[2]
    places = (root, root / "plugins", root / "reports")
    records = {verdict: as_dict(result(verdict)) for verdict in SEVERITY}
    for record in records.values():
        del record["type"]
    (path / "records.json").write_text(json.dumps(records))
    (path / "pytest.ini").write_text("[pytest]\n")
    for name, text in {"conftest": CONFTEST, **files}.items():
        (path / f"{name}.py").write_text(textwrap.dedent(text))
    plain = ["-p", "no:cacheprovider", "-p", "no:rdma_conformance"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plain, *["--alluredir=results"][:allure], *args],
        cwd=path,
        env={**os.environ, "PYTHONPATH": ":".join(map(str, places))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Session(path, done.returncode, done.stdout + done.stderr)


def cases(*verdicts: str, **replaced: str) -> str:
    """A test file of one case for each verdict, with parts of its text replaced."""
    text = CASES.format(verdicts=list(verdicts))
    for name, new in {"CALL": "pass", "TEARDOWN": "pass", **replaced}.items():
        text = text.replace(name, new)
    return text


def labels(data: dict) -> dict[str, str]:
    return {label["name"]: label["value"] for label in data["labels"]}


@pytest.fixture(scope="module")
def ended(tmp_path_factory) -> Session:
    """A session over one case of every verdict."""
    return session(tmp_path_factory.mktemp("every"), test_cases=cases(*SEVERITY))


@pytest.mark.parametrize(
    ("verdict", "status", "says"),
    [
        ("PASS", "passed", None),
        ("NOTE", "passed", None),
        ("FAIL", "failed", "expected  requester [REM_ACCESS_ERR(10)]"),
        ("DEVIATION", "failed", "known deviation RXE-001\n\nDEVIATION  MR-RIGHT-READ"),
        ("FIXED", "failed", "delete RXE-001 from the deviations"),
        ("NOT_SUPPORTED", "skipped", "does not claim it: odp_caps.general_caps is 0"),
        ("ERROR", "broken", "the positive control was refused"),
        ("CRASH", "broken", "the endpoint worker died of signal 11"),
    ],
)
def test_status_and_message_follow_the_verdict(ended, verdict, status, says):
    data = ended.by_verdict[verdict]
    details = data.get("statusDetails", {})
    assert data["status"] == status
    assert details.get("known", False) is (verdict == "DEVIATION")
    if says:
        assert says in details["message"]
    else:
        assert details == {}
    assert len(data.get("attachments", ())) == (status in ("failed", "broken"))


def test_a_case_is_named_and_labelled_by_its_stable_id(ended):
    data = ended.by_verdict["FAIL"]
    case = "remote/test_rights.py::test_region_rights[read-region:fail]"
    assert data["name"] == "test_region_rights[read-region:fail]"
    assert data["fullName"] == labels(data)["ALLURE_ID"] == case
    expected = {
        "parentSuite": "remote",
        "suite": "MR-RIGHT-READ",
        "device": "rxe0",
        "driver": "rdma_rxe",
        "kernel": "7.2.12",
        "level": "MUST",
        "hazard": "no",
        "thread": "main",
    }
    assert expected.items() <= labels(data).items()
    assert "firmware" not in labels(data)
    assert data["parameters"] == [
        {"name": "case", "value": "read-region:fail"},
        {"name": "driver", "value": "rdma_rxe"},
        {"name": "device", "value": "rxe0", "excluded": True},
    ]
    assert [link["url"] for link in data["links"]] == ["https://man7.org/reg_mr"]
    assert labels(ended.by_verdict["CRASH"])["hazard"] == "yes"
    assert "Noted: accepted" in ended.by_verdict["NOTE"]["description"]


def test_evidence_holds_all_that_was_seen(ended):
    source = ended.by_verdict["FAIL"]["attachments"][0]["source"]
    text = next(path for path in ended.files(source)).read_text()
    assert "again     pytest" in text
    assert 'requester: ["SUCCESS"]' in text
    assert "expected: refused" in text
    assert "kernel log\n" in text


def test_there_are_no_other_files(ended):
    names = [path.name for path in ended.files("*")]
    bad = 5
    assert len([name for name in names if name.endswith("-result.json")]) == len(SEVERITY)
    assert len([name for name in names if name.endswith("-attachment.txt")]) == bad
    assert len(names) == len(SEVERITY) + bad + 1
    text = ended.files("environment.properties")[0].read_text()
    assert text.splitlines()[:2] == ["device=rxe0", "driver=rdma_rxe"]
    assert "firmware" not in text


def test_a_test_that_is_no_case_keeps_what_allure_pytest_writes(tmp_path):
    other = """
        import allure
        import pytest

        @pytest.fixture
        def thing():
            return 1

        @allure.title("A title")
        def test_other(thing):
            allure.attach("text", "an attachment")
            with allure.step("a step"):
                pass
    """
    found = session(tmp_path, test_cases=cases("PASS"), test_other=other).results
    data = found["A title"]
    assert data["status"] == "passed"
    assert data["fullName"] == "test_other#test_other"
    assert [step["name"] for step in data["steps"]] == ["a step"]
    assert data["attachments"][0]["name"] == "an attachment"
    assert len(found) == 2


def test_trouble_in_teardown_is_not_passed(tmp_path):
    broken = cases("PASS", "FAIL", TEARDOWN="raise RuntimeError('no way back')")
    found = session(tmp_path, test_cases=broken).by_verdict
    assert found["PASS"]["status"] == "broken"
    assert "no way back" in found["PASS"]["statusDetails"]["message"]
    assert found["FAIL"]["status"] == "failed"


def test_a_case_without_a_record_is_not_lost(tmp_path):
    setup = """
        import pytest

        @pytest.fixture
        def endpoint():
            raise RuntimeError("no endpoint")

        @pytest.mark.requirement("X")
        def test_setup(endpoint):
            pass

        @pytest.mark.requirement("X")
        @pytest.mark.skip(reason="not now")
        def test_skipped():
            pass

        @pytest.mark.requirement("X")
        def test_silent():
            pass
    """
    found = session(tmp_path, test_setup=setup).results
    assert {name: data["status"] for name, data in found.items()} == {
        "test_setup": "broken",
        "test_skipped": "skipped",
        "test_silent": "broken",
    }
    assert "no endpoint" in found["test_setup"]["statusDetails"]["message"]
    assert "not now" in found["test_skipped"]["statusDetails"]["message"]


def test_the_controller_writes_the_result_of_a_crashed_process(tmp_path):
    dies = cases("PASS", "NOTE", "CRASH", CALL="case == 'CRASH' and os._exit(9)")
    ended = session(tmp_path, "-n2", "--max-worker-restart=1", test_cases=dies)
    assert ended.by_verdict.keys() == {"PASS", "NOTE", "CRASH"}
    assert labels(ended.by_verdict["CRASH"])["thread"] == "main"
    assert labels(ended.by_verdict["PASS"])["thread"].startswith("gw")


@pytest.mark.parametrize("processes", ["0", "2"])
def test_results_that_cannot_be_written_end_the_run(tmp_path, processes):
    gone = cases("PASS", "NOTE", "FAIL", CALL="shutil.rmtree('results', True)")
    ended = session(tmp_path, "-n", processes, test_cases=gone)
    assert "Make room or leave --alluredir out" in ended.output
    assert "INTERNALERROR" not in ended.output
    assert ended.ret == pytest.ExitCode.INTERRUPTED


def test_a_place_for_no_directory_is_one_clear_error(tmp_path):
    (tmp_path / "results").write_text("a file")
    ended = session(tmp_path, test_cases=cases("PASS"))
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    assert "--alluredir=results cannot be made: File exists" in ended.output
    assert "Traceback" not in ended.output


def test_without_alluredir_nothing_is_kept(tmp_path):
    ended = session(tmp_path, allure=False, test_cases=cases("PASS"))
    assert ended.ret == 0
    assert not ended.files()


def test_environments_of_several_runs_stand_together():
    first = environment({"device": "rxe0", "driver": "rdma_rxe", "fw": None, "board": ""})
    assert first == "device=rxe0\ndriver=rdma_rxe\n"
    both = environment({"device": "mlx5_0", "driver": "rdma_rxe", "gid": "::1\n x"}, first)
    assert both == "device=rxe0; mlx5_0\ndriver=rdma_rxe\ngid=::1 x\n"
    assert environment({"device": "mlx5_0"}, both) == both
