"""The bundle: what is in it, that it is the same each time, and that --redact leaves nothing."""

import hashlib
import json
import tarfile
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from rdma_reports.command import main
from rdma_reports.redact import Redactor
from rdma_reports.runfile import read_run

from .runs import EVERY_VERDICT, HEADER, made_run, result, written

SECRETS = (
    "host7.example.org",
    "host7",
    "alice",
    "0015:41ff:fe7d:bc0f",
    "fe80::15:41ff:fe7d:bc0f",
    "::ffff:192.0.2.17",
    "192.0.2.17",
    "02:00:00:aa:bb:cc",
    "0x001541fffe7dbc0f",
)
TOLD = ", ".join(SECRETS)


def contents(path):
    with tarfile.open(path) as archive:
        return {
            member.name.partition("/")[2]: archive.extractfile(member).read()
            for member in archive.getmembers()
        }


@pytest.fixture
def run_file(tmp_path):
    run = made_run(*EVERY_VERDICT, result("ERROR", case="a/b.py::secret", reason=TOLD))
    device = {**run.header.device, "node_guid": SECRETS[3], "gid": SECRETS[4]}
    header = replace(
        run.header,
        device=device,
        fabric=f"mlx5_0 <-> mlx5_1 (host host7.example.org), GID {SECRETS[5]}, MTU 1024",
        argv=["conformance/", "--peer", "ssh=alice@host7.example.org//mlx5_1"],
    )
    return written(tmp_path / "mlx5_0.ndjson", replace(run, header=header))


def test_it_holds_all_that_there_is(tmp_path, run_file):
    (tmp_path / "mlx5_0.kernel.log").write_text("[    1.000000] mlx5_core: up\n")
    assert main(["bundle", str(run_file)]) == 0
    found = contents(tmp_path / "mlx5_0.tar.gz")
    assert sorted(found) == [
        "SHA256SUMS",
        "capabilities.json",
        "configuration.json",
        "junit.xml",
        "kernel.log",
        "run.ndjson",
        "versions.json",
    ]
    assert found["run.ndjson"] == run_file.read_bytes()
    assert json.loads(found["versions.json"])["kernel"] == "7.2.12"
    assert json.loads(found["capabilities.json"]) == HEADER.capabilities
    for line in found["SHA256SUMS"].decode().splitlines():
        digest, name = line.split()
        assert hashlib.sha256(found[name]).hexdigest() == digest


def test_the_same_run_makes_the_same_bytes(tmp_path, run_file):
    for name in ("a", "b"):
        assert main(["bundle", str(run_file), "-o", str(tmp_path / name / "x.tar.gz")]) == 0
    first, second = ((tmp_path / name / "x.tar.gz").read_bytes() for name in ("a", "b"))
    assert first == second


def test_redacted_it_tells_no_host_and_no_address(tmp_path, run_file):
    log = tmp_path / "console.log"
    log.write_text(f"host7 kernel: {TOLD}\n")
    out = tmp_path / "out.tar.gz"
    words = ["--redact", "--kernel-log", str(log), "-o", str(out)]
    assert main(["bundle", str(run_file), *words]) == 0
    found = contents(out)
    for name, data in found.items():
        for secret in SECRETS:
            assert secret.encode() not in data, (name, secret)
    run = tmp_path / "run.ndjson"
    run.write_bytes(found["run.ndjson"])
    read = read_run(run)  # is still a run file, with the same cases
    assert [line.case for line in read.lines] == [line.case for line in read_run(run_file).lines]
    assert read.header.device["kernel"] == "7.2.12"
    assert json.loads(found["configuration.json"])["redacted"] is True


def test_a_redacted_one_is_not_mixed_up_with_the_plain_one(tmp_path, run_file, capsys):
    assert main(["bundle", str(run_file), "--redact"]) == 0
    assert (tmp_path / "mlx5_0.redacted.tar.gz").is_file()
    assert "look at it before you post it" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "remote/test_ranges.py::test_the_ends[write_imm-region:LW+RW-qp:RR-at:-1]",
        "TestX::test_a::b",
        "2026-01-02T03:04:05+00:00",
        "IBTA vol 1 9.9.3.1.3, Table 17-7",
        "sha256:5c8326fa20cb9b4d46c9018602d393a4",
        "firmware 20.31.1014",
        "device_cap_flags_ex 0x1425321c36",
        "max_mr_size is 0xffffffffffffffff",
        "iova 0x00007f1200001000",
        "std::vector",
    ],
)
def test_what_is_no_address_is_kept(text):
    assert Redactor(HEADER).text(text) == text


def test_a_version_of_four_numbers_is_no_address():
    header = replace(HEADER, device={**HEADER.device, "firmware": "1.2.3.4"})
    assert Redactor(header).text("1.2.3.4 at 1.2.3.5") == "1.2.3.4 at address-1"


def test_a_clause_of_four_numbers_is_no_address():
    """As in IBTA vol 1 10.6.3.1: what a source says is public."""
    redactor = Redactor(HEADER, kept=["IBTA vol 1 10.6.3.1"])
    assert redactor.text("see 10.6.3.1, from 10.6.3.2") == "see 10.6.3.1, from address-1"


def test_one_thing_has_one_word():
    redactor = Redactor(HEADER, ["node"])
    assert redactor.text("::1, ::2, ::1 on NODE.") == "address-1, address-2, address-1 on host-1."


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "x.zip"], "end the name in .tar.gz"),
        (["--kernel-log", "none.log"], "--kernel-log none.log cannot be read"),
    ],
)
def test_bad_words_are_one_line(capsys, monkeypatch, run_file, words, told):
    monkeypatch.chdir(run_file.parent)
    assert main(["bundle", str(run_file), *words]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


def test_junit_has_the_identity_and_each_case(tmp_path, capsys):
    evil = "a\x00b\x1b]<&>"
    run = made_run(*EVERY_VERDICT, result("FAIL", case="a/b.py::evil", title=evil, reason=evil))
    path = written(tmp_path / "rxe0.ndjson", run)
    assert main(["junit", str(path), "-o", str(tmp_path / "rxe0.xml")]) == 0
    suite = ET.parse(tmp_path / "rxe0.xml").getroot()[0]
    known = {each.attrib["name"]: each.attrib["value"] for each in suite.find("properties")}
    assert known["driver"] == "rdma_rxe"
    assert known["catalogue"] == HEADER.catalogue
    assert "fw" not in known  # nothing is known of it
    counted = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counted == {"tests": 9, "failures": 4, "errors": 1, "skipped": 2}
    for kind, number in (("failure", 4), ("error", 1), ("skipped", 2)):
        assert len(suite.findall(f"testcase/{kind}")) == number
    case = suite.find("testcase[@name='test_region_rights[read-region:deviation]']")
    told = {each.attrib["name"]: each.attrib["value"] for each in case.find("properties")}
    assert told["verdict"] == "DEVIATION"
    assert told["deviation"] == "RXE-001"
