"""A known deviation is read strictly, covers just the cases it names, and excuses one outcome."""

import random
from datetime import date
from pathlib import Path

import pytest

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import (
    Deviation,
    DeviationError,
    in_range,
    load_deviations,
    match,
    overdue,
    version,
)

CATALOGUE = load_catalogue()
CASE = "remote/test_events.py::test_request_error[write-region:LW-qp:LW+RR]"
ENTRY = """
[TST-001]
driver = "rdma_rxe"
kernel = ">=6.3,<7.4"
requirement = "EVENT-REQ-ERR"
cases = ["remote/test_events.py::*[write-*"]
observed = {requester = ["REM_INV_REQ_ERR", "REM_OP_ERR"], responder_events = [[]]}
reason = "r"
cause = "do_class_ac_error()"
url = "https://example.org/thread"
found = 2026-01-31
review = 2026-07-31
"""


def loaded(directory: Path, text: str | bytes) -> tuple[Deviation, ...]:
    file = directory / "rdma_rxe.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_deviations([file], CATALOGUE)


@pytest.fixture
def deviation(tmp_path: Path) -> Deviation:
    return next(item for item in loaded(tmp_path, ENTRY) if item.id == "TST-001")


def found(deviations, *, driver="rdma_rxe", kernel="7.2.12+deb14-amd64", case=CASE):
    return match(deviations, driver, kernel, "", "EVENT-REQ-ERR", case)


def test_those_that_come_with_the_suites_load():
    load_deviations([], CATALOGUE)


def test_the_values_are_typed(deviation: Deviation):
    assert deviation.observed["responder_events"] == ([],)
    assert deviation.found == date(2026, 1, 31)
    assert deviation.firmware is None


def test_it_covers_its_driver_versions_requirement_and_cases(deviation: Deviation):
    assert found([deviation]) is deviation
    assert found([deviation], driver="siw") is None
    assert found([deviation], kernel="7.4.0") is None
    assert found([deviation], kernel="6.1.192") is None
    assert found([deviation], kernel="unknown") is None
    assert found([deviation], case=CASE.replace("[write", "[read")) is None
    assert match([deviation], "rdma_rxe", "7.2", "", "EVENT-ACCESS-ERR", CASE) is None
    assert match([], "rdma_rxe", "7.2", "", "EVENT-REQ-ERR", CASE) is None


def test_it_may_say_what_else_comes_of_it(tmp_path: Path, deviation: Deviation):
    assert deviation.also == ()
    (one,) = [
        each
        for each in loaded(tmp_path, ENTRY + 'also = ["leak", "kernel"]')
        if each.id == "TST-001"
    ]
    assert one.also == ("leak", "kernel")
    for wrong in ('"leak"', "[]", '["leaks"]', "[1]"):
        with pytest.raises(DeviationError, match=r"TST-001.*'also'.*write some of leak, kernel"):
            loaded(tmp_path, ENTRY + f"also = {wrong}")


def test_two_that_cover_one_case_are_an_error(tmp_path: Path):
    two = loaded(tmp_path, ENTRY + ENTRY.replace("TST-001", "TST-002"))
    with pytest.raises(DeviationError, match=r"TST-001 and TST-002.*narrow"):
        found(two)


def test_firmware_bounds_a_deviation_too(tmp_path: Path):
    (one,) = [
        d
        for d in loaded(tmp_path, ENTRY.replace('kernel = ">=6.3,<7.4"', 'firmware = "<=20.31.1"'))
        if d.id == "TST-001"
    ]
    assert match([one], "rdma_rxe", "1", "20.31.1", "EVENT-REQ-ERR", CASE) is one
    assert match([one], "rdma_rxe", "1", "20.31.1014", "EVENT-REQ-ERR", CASE) is None
    assert match([one], "rdma_rxe", "1", "", "EVENT-REQ-ERR", CASE) is None


def test_it_explains_only_the_outcome_that_it_lists(deviation: Deviation):
    seen = {"requester": "REM_OP_ERR", "responder_events": [], "region": []}
    differing = ["responder_events"]
    assert deviation.explains(seen, differing)
    assert not deviation.explains({**seen, "requester": "SUCCESS"}, differing)
    assert not deviation.explains({**seen, "responder_events": ["QP_FATAL"]}, differing)
    assert not deviation.explains({"requester": "REM_OP_ERR"}, differing)
    assert not deviation.explains(seen, [*differing, "region"])


def test_reviews_are_overdue_after_their_day(deviation: Deviation):
    assert overdue([deviation], date(2026, 7, 31)) == ()
    assert overdue([deviation], date(2026, 8, 1)) == (deviation,)


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        (CASE, True),
        ("remote/test_events.py::*", True),
        ("*qp:LW+RR]", True),
        ("remote/*[write-*qp:*]", True),
        ("*[write-*-qp:LW*", True),
        ("remote/test_event?.py::*", False),
        ("remote/test_events.py::test_request_error[wxyz]*", False),
        ("remote/test_events.py", False),
        ("*RR]RR]", False),
        (CASE + "*" + CASE, False),
        (CASE[:30] + "*" + CASE[20:], False),
        ("*region*write*", False),
    ],
)
def test_only_the_star_is_special(tmp_path: Path, pattern: str, covered: bool):
    text = ENTRY.replace("remote/test_events.py::*[write-*", pattern)
    assert (found(loaded(tmp_path, text)) is not None) is covered


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("7.2.12+deb14-amd64", (7, 2, 12)),
        ("6.8.0-45-generic", (6, 8)),
        ("7.0-rc1", (7,)),
        ("20.31.1014", (20, 31, 1014)),
        ("0.0.0", ()),
        ("v6.1", None),
        ("", None),
    ],
)
def test_a_version_is_its_leading_dotted_numbers(text: str, numbers: tuple[int, ...] | None):
    assert version(text) == numbers


@pytest.mark.parametrize(
    ("text", "bounds", "within"),
    [
        ("6.10", ">6.9", True),
        ("6.3", ">=6.3.0,<7.4", True),
        ("6.3.0-1-amd64", "==6.3", True),
        ("7.4-rc2", "<7.4", False),
        ("7.3.99", " >= 6.3 , < 7.4 ", True),
        ("6.3", ">6.3", False),
        ("6.3", "<=6.3", True),
    ],
)
def test_bounds_compare_numbers(text: str, bounds: str, within: bool):
    assert in_range(text, bounds) is within


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('">=6.3,<7.4"', '"6.3-7.4"', "write bounds such as"),
        ('">=6.3,<7.4"', '">=6.3,"', "write bounds such as"),
        ('kernel = ">=6.3,<7.4"\n', "", "no versions are named"),
        ('"EVENT-REQ-ERR"', '"EVENT-REQ"', "no requirement 'EVENT-REQ'"),
        ('["remote/test_events.py::*[write-*"]', '["**"]', "covers every case"),
        ('["remote/test_events.py::*[write-*"]', "[]", "'cases' is not a list"),
        ("responder_events = [[]]", "responder_events = []", "has no value"),
        ("responder_events = [[]]", "responder_events = [1.5]", "number with a point"),
        ("responder_events = [[]]", "responder_events = [2026-01-01]", "a date"),
        ("observed = {", "observed = 1 # {", "names no fact"),
        ("found = 2026-01-31", 'found = "2026-01-31"', "is not a day"),
        ("found = 2026-01-31", "found = 2026-01-31T00:00:00", "is not a day"),
        ("review = 2026-07-31", "review = 2026-01-30", "before 'found'"),
        ('reason = "r"', "", "'reason' is missing"),
        ('reason = "r"', 'reason = "r"\nuntil = "8.0"', "unknown key 'until'"),
        ('"https://example.org/thread"', '"example.org"', "https://"),
        ("[TST-001]", "[RXE001]", "this is no id"),
    ],
)
def test_one_error_names_file_entry_and_mend(tmp_path: Path, old: str, new: str, told: str):
    assert old in ENTRY
    with pytest.raises(DeviationError) as raised:
        loaded(tmp_path, ENTRY.replace(old, new, 1))
    assert str(raised.value).startswith("rdma_rxe.toml: ")
    assert told in str(raised.value)


def test_a_missing_file_is_one_error(tmp_path: Path):
    with pytest.raises(DeviationError, match="cannot be read"):
        load_deviations([tmp_path / "none.toml"], CATALOGUE)


@pytest.mark.parametrize(
    ("depth", "told"),
    [(100, "nested deep"), (5_000, "nested")],  # newer Pythons do not read such a key
)
def test_a_fact_that_is_nested_without_end_is_an_error(tmp_path: Path, depth: int, told: str):
    deep = "[TST-001.observed" + ".a" * depth + "]\nb = 1\n"
    text = ENTRY.replace("observed = {", "# {") + deep
    with pytest.raises(DeviationError, match=told):
        loaded(tmp_path, text)


@pytest.mark.parametrize("seed", range(4))
def test_any_damage_loads_or_is_one_error(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    taken = 0
    for _ in range(250):
        content = bytearray(ENTRY.encode())
        at = chance.randrange(len(content))
        content[at : at + chance.randrange(12)] = chance.choice(
            [b"", chance.randbytes(3), b'"', b"]", b"{", b"= ", b"\n", b"[[[[", b"2026-01-01"]
        )
        try:
            for deviation in loaded(tmp_path, bytes(content)):
                found([deviation])
            taken += 1
        except DeviationError as error:
            assert str(error)
    assert 0 < taken < 250
