"""Catalogue and deviations from strangers: checked values, or one line that names the mend."""

from hypothesis import example, given
from hypothesis import strategies as st

from rdma_conformance.catalogue import CatalogueError, load_catalogue
from rdma_conformance.deviations import DeviationError, in_range, load_deviations, version
from rdma_conformance.entries import EntryError, package_directory

from .mutations import ANY_TEXT, bounded, damaged, shows_itself

CATALOGUE = load_catalogue()


def _real(folder: str) -> list[bytes]:
    files = sorted(package_directory(folder).iterdir(), key=lambda each: each.name)
    return [each.read_bytes()[:6000] for each in files if each.name.endswith(".toml")]


def _one_line(error: EntryError) -> None:
    assert shows_itself(str(error)), ascii(str(error))
    assert "\n" not in str(error)
    assert len(str(error)) < 2000


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from (*_texts(name), *_texts(each))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


@bounded(150)
@given(damaged(_real("requirements")) | st.binary(max_size=60))
def test_a_catalogue(tmp_path, content):
    (tmp_path / "x.toml").write_bytes(content)
    try:
        found = load_catalogue(tmp_path)
    except CatalogueError as error:
        _one_line(error)
        return
    for rule in found:
        texts = (rule.id, rule.title, rule.statement, rule.why, rule.failure, rule.asked)
        assert all(map(shows_itself, (*texts, *map(str, rule.sources))))


@bounded(100)
@given(damaged(_real("deviations")) | st.binary(max_size=60))
def test_deviations(tmp_path, content):
    path = tmp_path / "x.toml"
    path.write_bytes(content.replace(b"[RXE-", b"[MINE-"))
    try:
        found = load_deviations([path], CATALOGUE)
    except DeviationError as error:
        _one_line(error)
        return
    for each in found:
        each.covers("rdma_rxe", "7.2.12", "", each.requirement, "remote/test_x.py::test[y]")
        told = (each.id, each.driver, each.kernel, each.reason, each.cause, each.url, each.cases)
        assert all(map(shows_itself, _texts(told))), ascii(told)
        assert all(map(shows_itself, _texts(dict(each.observed)))), ascii(each.observed)


@bounded(200)
@given(ANY_TEXT, ANY_TEXT)
@example("9" * 5000, ">=" + "9" * 5000)
@example("1." * 5000, ">=1")
def test_versions(text, bounds):
    version(text)
    try:
        in_range(text, bounds)
    except ValueError as error:
        assert len(bounds) > 100 or repr(bounds.split(",")[0])[1:-1][:3] in str(error)
