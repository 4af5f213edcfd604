"""A requirement in plain words: the same in the terminal and on the page of all rules."""

import pytest

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations
from rdma_reports.command import main
from rdma_reports.explain import as_text, explain

CATALOGUE = load_catalogue()
DEVIATIONS = load_deviations((), CATALOGUE)


def test_every_rule_is_told_with_all_its_parts():
    for rule in CATALOGUE:
        text = as_text(explain(rule.id, CATALOGUE, DEVIATIONS))
        plain = " ".join(text.split())
        for part in (rule.title, rule.statement, rule.why, rule.asked, rule.failure):
            assert part in plain
        for source in rule.sources:
            assert str(source) in plain
            assert source.says in plain
        listed = text.partition("Known deviations\n")[2]
        for deviation in DEVIATIONS:
            assert (f"- {deviation.id}:" in listed) is (deviation.requirement == rule.id)
        # A title can be as long as 90, an address longer.
        assert max(len(line) for line in text.splitlines() if "://" not in line) <= 90


def test_a_deviation_leads_to_its_rule(capsys):
    one = DEVIATIONS[0]
    assert main(["explain", one.id.lower()]) == 0
    out = capsys.readouterr().out
    assert out.startswith(one.requirement)
    assert one.url in out


def test_no_id_lists_them(capsys):
    assert main(["explain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(CATALOGUE)


@pytest.mark.parametrize(
    ("name", "told"), [("MR-RIGT-READ", "did you mean MR-RIGHT-READ"), ("\x1b[1m", "see `rdma-")]
)
def test_an_unknown_id_is_one_line(capsys, name, told):
    assert main(["explain", name]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


def test_an_overlay_is_told_too(tmp_path, capsys):
    path = tmp_path / "none.toml"
    assert main(["explain", "MR-KEY", "--deviations", str(path)]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_the_page_has_an_anchor_for_each(tmp_path):
    assert main(["explain", "-o", str(tmp_path / "rules.html")]) == 0
    page = (tmp_path / "rules.html").read_text()
    for name in [*(rule.id for rule in CATALOGUE), *(each.id for each in DEVIATIONS)]:
        assert f'id="{name}"' in page
