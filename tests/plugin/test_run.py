"""A run's parts without a session: its records, the line that asks again, where suites may lie."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from conformance.spec import oracle
from rdma_conformance import collection
from rdma_conformance.asking import unasked
from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.options import Options
from rdma_conformance.run import Run, again, case_id
from rdma_conformance.suites import SUITES, all_cases, names_case, root_of

OPTIONS = Options(
    device=None,
    peer=None,
    port=1,
    gid_index=None,
    endpoint_python=None,
    setup_rxe=True,
    list_devices=False,
    run_file=None,
    results=Path("/somewhere/results"),
    deviations=(),
    allow_hazard=False,
    profile="standard",
    bound_s=30.0,
    seed=1,
    twice="1%",
    plant=None,
)
NAME, CASE = next(iter(all_cases().items()))


@pytest.fixture
def run():
    return Run(OPTIONS, OPTIONS, load_catalogue(), ())


def item(root: Path):
    file = NAME.partition("::")[0]
    mark = pytest.mark.requirement(oracle.requirement(CASE)).mark
    return SimpleNamespace(
        path=root / file,
        nodeid=f"conformance/{NAME}",
        callspec=SimpleNamespace(params={"case": CASE}),
        get_closest_marker=lambda name: mark if name == "requirement" else None,
    )


def answered(run: Run, verdict: str) -> dict:
    rule = run.catalogue[oracle.requirement(CASE)]
    return {**unasked(NAME, rule, CASE, "as it is"), "verdict": verdict}


def test_a_test_that_breaks_after_its_answer_does_not_pass(run):
    case = item(SUITES)
    run.keep(case, answered(run, "PASS"), 0.5)
    record = run.settle(case, "AssertionError: not as it should be")
    assert record["verdict"] == "ERROR"
    assert record["reason"] == "AssertionError: not as it should be"
    assert record["duration"] == 0.5


def test_a_test_that_asks_nothing_is_an_error(run):
    record = run.settle(item(SUITES), None)
    assert (record["verdict"], record["case"]) == ("ERROR", NAME)


def test_the_run_file_is_named_after_a_device_that_was_made(run):
    run.identity = {"device": "rxe7a"}
    assert run.run_file() == Path("/somewhere/results/rxe7a.ndjson")


def test_again_says_all_by_which_the_case_was_asked():
    asked = replace(
        OPTIONS,
        setup_rxe=False,
        device="mlx5_0",
        port=2,
        gid_index=3,
        deviations=(Path("/a b.toml"),),
        allow_hazard=True,
        profile="exhaustive",
        seed=9,
    )
    assert again("x::y[z]", asked) == (
        "pytest 'x::y[z]' --device mlx5_0 --port 2 --gid-index 3 --deviations '/a b.toml' "
        "--allow-hazard --profile exhaustive --seed 9"
    )


@pytest.fixture
def checkout(tmp_path):
    """A checkout beside the installed suite, as after `pip install .`."""
    return Path(shutil.copytree(SUITES, tmp_path / "conformance"))


def test_the_suites_of_a_checkout_are_the_installed_ones(checkout):
    case = item(checkout)
    assert root_of(case.path) == checkout
    assert collection.is_case(case)
    assert case_id(case) == NAME
    collection.check_origin([case])


def test_a_checkout_of_another_release_is_refused(checkout):
    case = item(checkout)
    case.path.write_text(case.path.read_text() + "# changed\n")
    with pytest.raises(pytest.UsageError, match="not as in the installed suite"):
        collection.check_origin([case])


@pytest.mark.parametrize("below", ["conformance", "conformance/remote", "."])
def test_all_suites_are_collected_from_their_folder_or_above(checkout, below):
    options = {"ignore": None, "ignore_glob": None}
    config = SimpleNamespace(
        getoption=options.get,
        invocation_params=SimpleNamespace(dir=checkout.parent),
        args=[below],
    )
    assert collection.covers_everything(config) is (below != "conformance/remote")


def test_a_node_id_alone_tells_a_case():
    assert names_case(f"../site/conformance/{NAME}")
    assert not names_case("tests/plugin/test_closing.py::test_conforming")
