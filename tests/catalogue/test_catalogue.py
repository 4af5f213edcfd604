"""The catalogue is complete and strict, and no bytes get past its loader but as CatalogueError."""

import random
import re
import shutil
from pathlib import Path

import pytest

from conformance.spec.vocabulary import Level
from rdma_conformance.catalogue import Catalogue, CatalogueError, load_catalogue
from rdma_conformance.entries import package_directory

SUBJECTS = ("SEND", "WRITE", "WRITE-IMM", "READ", "ATOMIC", "ATOMIC-WRITE", "FLUSH")
WINDOW_SUBJECTS = (
    "ALLOC",
    "BIND-RIGHT",
    "BIND-RANGE",
    "BIND-CALL",
    "DOMAIN",
    "ACCESS-BITS",
    "RIGHT",
    "RANGE",
    "QUEUE-PAIR",
    "KEY",
    "REBIND",
    "TRAFFIC",
    "END",
    "INVALIDATE",
    "INVALIDATE-UNBOUND",
    "QP-DESTROYED",
    "ZERO-BASED",
)
END_SUBJECTS = (
    "KEY",
    "KEY-REUSE",
    "RECEIVE",
    "WINDOW-BOUND",
    "TWICE",
    "WRONG-ORDER",
    "MIDWAY",
    "ROUNDS",
    "FORK",
    "KILLED",
)
PAGING_SUBJECTS = (
    "UNTOUCHED",
    "PLACE",
    "SHARED",
    "FOLLOWS",
    "READ-ONLY",
    "UNMAPPED",
    "PREFETCH",
    "IMPLICIT",
)
RULES = {
    "REG-FLAGS-LEGAL",
    "REG-REMOTE-NEEDS-LOCAL",
    "REG-UNDEFINED-BIT",
    "REG-OPTIONAL-BITS",
    "REG-CAPABILITY",
    "REG-FLUSH-PERSISTENT",
    "REG-NO-RIGHTS",
    "REG-BUFFER",
    "REG-UNMAPPED",
    "REG-READ-ONLY",
    "REG-OVERFLOW",
    "REG-ZERO-LENGTH",
    "REG-FAILURE-LEAVES-NOTHING",
    "REG-VERBS-AGREE",
    "REG-OVERLAP",
    "REG-KEYS-DISTINCT",
    "REG-CHURN",
    "REG-MAX",
    "REG-LISTED",
    "REG-FORK",
    "REG-REMAP",
    "ZB-REMOTE",
    "ZB-ATOMIC",
    "ZB-LOCAL",
    "ZB-PAGE-OFFSET",
    "ZB-WRAP",
    "MEM-LIMIT",
    "MEM-TOO-LOW",
    "MEM-UNLIMITED",
    "MEM-PAGES",
    "MEM-COUNTED-AGAIN",
    "MEM-RETURNED",
    "MEM-LOWERED",
    "MEM-CONTENTION",
    "MEM-PROCESS-ENDS",
    "MEM-ON-DEMAND",
    *(f"MR-RIGHT-{subject}" for subject in SUBJECTS),
    *(f"QP-RIGHT-{subject}" for subject in SUBJECTS),
    "EVENT-ACCESS-ERR",
    "EVENT-REQ-ERR",
    "MR-KEY",
    "MR-RANGE",
    "MR-DOMAIN",
    "MR-ZERO-LENGTH",
    *(f"MW-{subject}" for subject in WINDOW_SUBJECTS),
    *(f"DEREG-{subject}" for subject in END_SUBJECTS),
    "DEALLOC-IN-USE",
    *(f"ODP-{subject}" for subject in PAGING_SUBJECTS),
    *(f"REREG-{subject}" for subject in ("CHANGE", "INVALID", "READ-ONLY", "WINDOW")),
    *(f"LOC-{what}" for what in ("KEY", "DOMAIN", "RANGE", "RIGHT", "ZERO-LENGTH", "INLINE")),
    *(f"RECV-{what}" for what in ("KEY", "DOMAIN", "RANGE", "RIGHT", "ZERO-LENGTH", "LENGTH")),
    *(f"ATOMIC-{what}" for what in ("ALIGNMENT", "SIZE", "RESULT", "CONTENTION")),
    "DATA-EXACT",
    "UC-REFUSAL",
    "UD-RECEIVE",
    "TRANSPORT-OPERATION",
    "RECEIVER-NOT-READY",
    "REFUSAL-RECOVERY",
    "TWO-FAULTS",
    "FLUSH-ZERO-LENGTH",
}
# What no document decides is recorded, and fails no run.
RECORDED = {
    "LOC-ZERO-LENGTH": Level.SHOULD,
    "RECV-ZERO-LENGTH": Level.SHOULD,
    "FLUSH-ZERO-LENGTH": Level.IMPL,
}
# IBTA numbers of which evidence was seen; another one needs evidence first.
CLAUSES = {
    "C9-222.1.1",
    "C9-88",
    "9.9.3.1.3",
    "10.10.2.3",
    "Table 63",
    "A19.4.2",
    "A19.4.1.1",
    "oA19-13",
    "oA19-28",
    "C10-72",
    "C10-73",
    "C10-74",
    "C10-75",
    "o10-36.2.2",
    "o10-37.2.26",
    "o10-37.2.30",
    "o10-37.2.32",
    "o10-37.2.34",
    "o10-37.2.35",
    "o10-37.2.40",
    "10.6.7.2.6",
}

ENTRY = """
[MR-RIGHT-READ]
title = "READ from a region without REMOTE_READ is refused"
level = "MUST"
rows = ["REM 1"]
statement = '''
One
  two.'''
why = "w"
failure = "f"
asked = "a"
[[MR-RIGHT-READ.sources]]
document = "ibv_reg_mr(3)"
clause = "DESCRIPTION"
says = "s"
"""


def written(directory: Path, text: str | bytes, name: str = "remote.toml") -> Path:
    content = text.encode() if isinstance(text, str) else text
    (directory / name).write_bytes(content)
    return directory


def refusal(directory: Path, text: str | bytes) -> str:
    with pytest.raises(CatalogueError) as raised:
        load_catalogue(written(directory, text))
    return str(raised.value)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def test_it_holds_these_rules_and_no_other(catalogue: Catalogue):
    assert {rule.id for rule in catalogue} == RULES
    assert len(catalogue) == len(RULES)
    assert "MR-RIGHT-READ" in catalogue
    assert "MR-RIGHT" not in catalogue


def test_only_what_implementations_decide_is_not_a_must(catalogue: Catalogue):
    levels = {rule.id: rule.level for rule in catalogue if rule.level is not Level.MUST}
    assert levels == RECORDED


def test_the_area_is_the_file(catalogue: Catalogue):
    assert catalogue["REG-NO-RIGHTS"].area == "registration"
    assert catalogue["EVENT-REQ-ERR"].area == "remote"


def test_every_ibta_clause_is_one_that_was_seen(catalogue: Catalogue):
    cited = {
        clause
        for rule in catalogue
        for source in rule.sources
        if source.document.startswith("IBTA")
        for clause in source.clause.split(", ")
    }
    assert cited <= CLAUSES


def test_a_rule_does_not_rest_on_one_driver_alone(catalogue: Catalogue):
    for rule in catalogue:
        assert any("/sw/" not in source.clause for source in rule.sources), rule.id


def test_titles_fit_a_line_of_the_report(catalogue: Catalogue):
    assert [rule.id for rule in catalogue if len(rule.title) > 90] == []


def test_the_digest_follows_every_byte_and_every_name(tmp_path: Path, catalogue: Catalogue):
    copy = tmp_path / "copy"
    copy.mkdir()
    for item in package_directory("requirements").iterdir():
        shutil.copy(str(item), copy)
    assert load_catalogue(copy).digest == catalogue.digest
    assert re.fullmatch(r"[0-9a-f]{12}", catalogue.digest)
    with (copy / "remote.toml").open("a") as file:
        file.write("#")
    changed = load_catalogue(copy).digest
    (copy / "remote.toml").rename(copy / "other.toml")
    assert len({catalogue.digest, changed, load_catalogue(copy).digest}) == 3


def test_text_becomes_one_line(tmp_path: Path):
    assert load_catalogue(written(tmp_path, ENTRY))["MR-RIGHT-READ"].statement == "One two."


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('level = "MUST"', 'level = "must"', "MUST, SHOULD, IMPL"),
        ('level = "MUST"', 'levle = "MUST"', "'level' is missing"),
        ('why = "w"', 'why = "w"\nwho = "x"', "unknown key 'who'"),
        ('why = "w"', 'why = " "', "'why' is empty"),
        ('why = "w"', "why = 3", "'why' is not a string"),
        ('why = "w"', 'why = "\\u001b[31m"', "control character"),
        ('["REM 1"]', '["REM1"]', "row 'REM1'"),
        ('["REM 1"]', "[]", "'rows' is not a list"),
        ('["REM 1"]', '"REM 1"', "'rows' is not a list"),
        ("[MR-RIGHT-READ]", "[mr-right-read]", "capital letters"),
        ('says = "s"', 'says = "s"\nurl = "http://x.org"', "https://"),
        ('says = "s"', "", "'says' is missing"),
        ('says = "s"', 'says = "s"\npage = 3', "unknown key 'page'"),
        ('"ibv_reg_mr(3)"', '"IBTA vol 1"', "no evidence"),
        ("[[MR-RIGHT-READ.sources]]", "[MR-RIGHT-READ.sources]", "'sources' is not a list"),
        ("[MR-RIGHT-READ]", "x = 1\n[MR-RIGHT-READ]", "this is no id"),
        ("[MR-RIGHT-READ]", "X-1 = 1\n[MR-RIGHT-READ]", "X-1 is not a table"),
        ("[MR-RIGHT-READ]", "[MR-RIGHT-READ", "not TOML"),
    ],
)
def test_one_error_names_file_entry_and_mend(tmp_path: Path, old: str, new: str, told: str):
    assert old in ENTRY
    message = refusal(tmp_path, ENTRY.replace(old, new, 1))
    assert message.startswith("remote.toml: ")
    assert told in message
    assert "\n" not in message


def test_an_id_is_used_once_in_all_files(tmp_path: Path):
    written(tmp_path, ENTRY, "also.toml")
    message = refusal(tmp_path, ENTRY)
    assert "remote.toml: [MR-RIGHT-READ]" in message
    assert "also.toml" in message
    assert "not TOML" in refusal(tmp_path, ENTRY + ENTRY)


def test_a_folder_without_requirements_is_an_error(tmp_path: Path):
    assert "no requirement" in refusal(tmp_path, b"")
    with pytest.raises(CatalogueError, match="cannot be read"):
        load_catalogue(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"a = " + b"[" * 100_000,
        b"a = " + b"9" * 10_000,
        b"[" + b"A-1." * 5_000 + b"x]",
        b"a = 2026-02-31",
        b"\0",
        b'"\\ud800" = 1',
    ],
)
def test_hostile_bytes_are_an_error(tmp_path: Path, content: bytes):
    refusal(tmp_path, content)
    refusal(tmp_path, ENTRY.encode() + content)


@pytest.mark.parametrize("seed", range(4))
def test_any_damage_loads_or_is_one_error(tmp_path: Path, seed: int):
    chance = random.Random(seed)
    taken = 0
    for _ in range(250):
        content = bytearray(ENTRY.encode())
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(content))
            until = at + chance.randrange(12)
            content[at:until] = chance.choice(
                [b"", bytes(content[at:until]) * 2, chance.randbytes(3), b'"', b"]", b"= ", b"\n"]
            )
        try:
            load_catalogue(written(tmp_path, bytes(content)))
            taken += 1
        except CatalogueError as error:
            assert str(error)
    assert 0 < taken < 250
