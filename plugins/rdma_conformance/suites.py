"""Where the suites lie, and all their cases without collecting them as pytest does."""

import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import conformance
from conformance.spec.model import Case
from rdma_conformance.options import PROFILES

SUITES = Path(conformance.__file__).resolve().parent


@cache
def all_cases() -> Mapping[str, Case]:
    """Every case of every suite by its case id, in the order in which pytest collects them."""
    return {
        name: case for file in sorted(SUITES.glob("*/test_*.py")) for name, case in _cases_of(file)
    }


@cache
def hazardous() -> frozenset[str]:
    """The ids of the cases that carry the mark hazard."""
    return frozenset(
        name
        for file in sorted(SUITES.glob("*/test_*.py"))
        for name, _ in _cases_of(file, marked="hazard")
    )


@cache
def root_of(file: Path) -> Path | None:
    """The folder of suites that `file` lies in: the installed one or a checkout's, else None."""
    for folder in file.resolve().parents:
        if folder == SUITES or (folder.name == SUITES.name and (folder / "requirements").is_dir()):
            return folder
    return None


def names_case(nodeid: str) -> bool:
    """Whether a node id, of which nothing else is known here, is that of a case."""
    return case_of(nodeid) is not None


def case_of(nodeid: str) -> str | None:
    """The case id in a node id, of which nothing else is known here; None if it is no case's."""
    file, _, test = nodeid.partition("::")
    place = "/".join(file.split("/")[-2:])
    return f"{place}::{test}" if _is_suite(place) else None


@cache
def _is_suite(place: str) -> bool:
    return (SUITES / place).is_file()


@cache
def cases_of_profile(profile: str) -> Mapping[str, Case]:
    """The cases that a whole run of `profile` asks, by case id."""
    asked = PROFILES[: PROFILES.index(profile) + 1]
    return {
        name: param.values[0]
        for file in sorted(SUITES.glob("*/test_*.py"))
        for name, param in _params_of(file)
        if all(mark.args[0] in asked for mark in _marks(param) if mark.name == "profile")
    }


def _marks(param: Any) -> Iterator[Any]:
    """The marks of a parameter, of which pytest keeps some with their decorator."""
    return (getattr(mark, "mark", mark) for mark in param.marks)


def _cases_of(file: Path, marked: str | None = None) -> Iterator[tuple[str, Case]]:
    return ((name, param.values[0]) for name, param in _params_of(file, marked))


def _params_of(file: Path, marked: str | None = None) -> Iterator[tuple[str, Any]]:
    place = file.relative_to(SUITES)
    module = importlib.import_module(".".join(("conformance", *place.with_suffix("").parts)))
    for name, function in vars(module).items():
        if not name.startswith("test_"):
            continue
        if marked and all(mark.name != marked for mark in function.pytestmark):
            continue
        for mark in function.pytestmark:
            for param in mark.args[1] if mark.name == "parametrize" else ():
                yield f"{place.as_posix()}::{name}[{param.id}]", param
