"""The options of pytest, whatever is given to them: values that can be meant, or one error."""

import argparse
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rdma_conformance.fabric.settings import FabricError, parse_peer
from rdma_conformance.options import LONGEST_BOUND_S, Options, add_options, read_options

from .mutations import ANY_TEXT, bounded, shows_itself

NAMES = (
    *("--device", "--peer", "--port", "--gid-index", "--endpoint-python", "--run-file"),
    *("--deviations", "--profile", "--bound", "--seed", "--plant"),
)


class _Parser(argparse.ArgumentParser):
    """Takes the options as pytest's own parser does."""

    def getgroup(self, *_):
        return self

    addoption = argparse.ArgumentParser.add_argument


PARSER = _Parser(exit_on_error=True)
add_options(PARSER)


@bounded(150)
@given(st.lists(st.tuples(st.sampled_from(NAMES), ANY_TEXT), min_size=1, max_size=3))
@example([("--bound", "nan")])
@example([("--bound", "1e999")])
@example([("--port", "9" * 5000)])
@example([("--device", "")])
@example([("--run-file", "")])
@example([("--deviations", "\udcff")])
@example([("--deviations", "/")])
def test_options(tmp_path, capsys, given_options):
    words = [f"{name}={value}" for name, value in given_options]
    try:
        found = PARSER.parse_args(words)
    except SystemExit as ended:
        assert ended.code == 2
        capsys.readouterr()
        return
    config = SimpleNamespace(
        getoption=lambda name: getattr(found, name.strip("-").replace("-", "_")),
        invocation_params=SimpleNamespace(dir=tmp_path),
    )
    try:
        options = read_options(config)
    except pytest.UsageError as error:
        assert shows_itself(str(error)), ascii(str(error))
        return
    assert isinstance(options, Options)
    assert 0 < options.bound_s <= LONGEST_BOUND_S
    assert options.device != ""


@bounded(200)
@given(ANY_TEXT | st.builds("{}={}//{}".format, ANY_TEXT, ANY_TEXT, ANY_TEXT))
@example("ssh=-oProxyCommand=x//rxe0")
@example("netns=../../etc//rxe0")
@example("netns=a;touch x//rxe0")
@example("ssh=host --option//rxe0")
def test_peers(text):
    try:
        peer = parse_peer(text, "rxe0")
    except FabricError as error:
        assert shows_itself(str(error)), ascii(str(error))
        return
    for place in (peer.netns, peer.ssh):
        if place is not None:  # it becomes a word of a command
            assert not place.startswith("-")
            assert "/" not in place
            assert place not in (".", "..") or peer.ssh
            assert len(place.split()) == 1
            assert place.isascii()
            assert place.isprintable()
            assert not set(place) & set(";&|$`\"'\\<>(){}*?!#~")
