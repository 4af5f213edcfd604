"""The evidence that each check can fail, as a table and as JSON."""

import json

import pytest

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.plants import PLANTS
from rdma_reports.command import main
from rdma_reports.faults import as_json, as_markdown, gather, summary, way

CATALOGUE = load_catalogue()
DRIVERS = {name: plant for name, plant in PLANTS.items() if not name.startswith("suite-")}
EVIDENCE = gather(CATALOGUE, PLANTS.values())


def test_every_fault_stands_with_its_requirement():
    lines = as_markdown(EVIDENCE).splitlines()
    for plant in DRIVERS.values():
        rule = CATALOGUE[plant.breaks]
        told = f"| {rule.id} | {rule.level} | {plant.name} | {way(plant)} | {plant.summary} |"
        assert told in lines
    assert not any("| none |" in line for line in lines)


def test_a_fault_of_the_suite_itself_is_no_evidence():
    assert set(PLANTS) - set(DRIVERS) == {each.name for each in PLANTS.values() if each.of_suite}
    only = [plant for plant in PLANTS.values() if plant.of_suite]
    assert not any(each.faults for each in gather(CATALOGUE, only))


def test_a_requirement_without_a_fault_is_shown():
    broken = [plant for plant in PLANTS.values() if plant.breaks != "MR-KEY"]
    found = gather(CATALOGUE, broken)
    assert "| MR-KEY | MUST | none | | |" in as_markdown(found).splitlines()
    assert summary(found).endswith("1 without")


def test_a_fault_that_acts_outweighs_one_that_is_told():
    performed, reported = PLANTS["leaks-pinned-page"], PLANTS["no-rights-is-a-sink"]
    assert (way(performed), way(reported)) == ("performed", "reported")
    (found,) = [each for each in EVIDENCE if each.rule.id == performed.breaks]
    assert found.faults == (performed, reported)
    assert found.strongest == "performed"


def test_the_json_has_each_fault_once():
    found = as_json(EVIDENCE)
    names = [fault["name"] for each in found["requirements"] for fault in each["faults"]]
    assert sorted(names) == sorted(DRIVERS)


@pytest.mark.parametrize(("words", "number"), [(["mr-key"], 1), ([], len(CATALOGUE))])
def test_the_command(tmp_path, words, number):
    path = tmp_path / "faults.json"
    assert main(["faults", *words, "-o", str(path)]) == 0
    assert len(json.loads(path.read_text())["requirements"]) == number


def test_an_unknown_id_is_one_line(capsys):
    assert main(["faults", "MR-NONE"]) == 2
    err = capsys.readouterr().err
    assert "no requirement is called MR-NONE" in err
    assert err.count("\n") == 1
