"""What is checked when the suites are collected: requirement ids, coverage, hazards."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.spec.vocabulary import Level
from rdma_conformance.catalogue import Catalogue
from rdma_conformance.options import DEFAULT_PROFILE, PROFILES
from rdma_conformance.suites import SUITES, root_of

ANSWERED = pytest.StashKey[Mapping[str, Any]]()  # of an item: the record that it has already


def is_answered(item: pytest.Item) -> bool:
    """Whether an item has its result from before this session."""
    return ANSWERED in item.stash


def is_case(item: pytest.Item) -> bool:
    """Whether an item belongs to the suites: it lies in their folder and names a requirement."""
    return item.get_closest_marker("requirement") is not None and root_of(item.path) is not None


def check_origin(items: Iterable[pytest.Item]) -> None:
    """Raise pytest.UsageError for a suite of a checkout that is not as the installed one.

    The catalogue and the oracle are the installed ones: a suite of another release would be
    judged by rules that it was not written for.
    """
    for file in sorted({item.path for item in items}):
        root = root_of(file)
        if root == SUITES:
            continue
        installed = SUITES / file.resolve().relative_to(root)
        if not installed.is_file() or installed.read_bytes() != file.read_bytes():
            raise pytest.UsageError(
                f"{file} is not as in the installed suite ({SUITES}): install this checkout again "
                "(pip install .), or so that it is used in place (pip install -e .)"
            )


def check_requirements(items: Iterable[pytest.Item], catalogue: Catalogue, whole: bool) -> None:
    """Raise pytest.UsageError for an unknown requirement, or a MUST that no test names.

    Coverage is judged only for `whole`: all the suites were collected.
    """
    named = set()
    for item in items:
        for mark in item.iter_markers("requirement"):
            named.update(mark.args)
            for name in mark.args:
                if name not in catalogue:
                    raise pytest.UsageError(
                        f"{item.nodeid} names the requirement {name}, which the catalogue does "
                        "not have: correct the id or add the entry under conformance/requirements"
                    )
    missing = [rule.id for rule in catalogue if rule.level is Level.MUST and rule.id not in named]
    if whole and missing:
        raise pytest.UsageError(
            f"no test names {', '.join(missing)}: each MUST of the catalogue needs a case "
            "(@asks in a file under conformance)"
        )


def covers_everything(config: pytest.Config) -> bool:
    """Whether this run collects all the suites, before -k, -m and --deselect take any away."""
    if config.getoption("ignore") or config.getoption("ignore_glob"):
        return False
    base = config.invocation_params.dir
    places = [Path(base, arg) for arg in config.args if "::" not in arg]
    return any(_holds_suites(place.resolve()) for place in places)


def _holds_suites(place: Path) -> bool:
    """Whether all the suites lie at or below `place`."""
    inner = place / SUITES.name / "requirements"
    return root_of(place / "any") == place or inner.is_dir() or place in SUITES.parents


def beyond(items: list[pytest.Item], profile: str) -> Sequence[pytest.Item]:
    """Take the cases out that `profile` does not ask; those taken out."""
    asked = PROFILES[: PROFILES.index(profile) + 1]
    taken_out = [item for item in items if _profile_of(item) not in asked]
    items[:] = [item for item in items if _profile_of(item) in asked]
    return taken_out


def is_standard(item: pytest.Item) -> bool:
    """Whether a run of the standard profile asks an item."""
    return PROFILES.index(_profile_of(item)) <= PROFILES.index(DEFAULT_PROFILE)


def _profile_of(item: pytest.Item) -> str:
    """The least profile that asks an item; tests that are no cases are always run."""
    mark = item.get_closest_marker("profile")
    return mark.args[0] if mark else PROFILES[0]


def order_hazards(items: list[pytest.Item], allowed: bool) -> Sequence[pytest.Item]:
    """Put hazardous cases last, or take them out when they are not `allowed`; those taken out."""
    hazards = [item for item in items if item.get_closest_marker("hazard")]
    if hazards:
        items[:] = [item for item in items if not item.get_closest_marker("hazard")]
        if allowed:
            items += hazards
    return () if allowed else hazards
