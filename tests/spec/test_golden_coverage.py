"""The golden rows against the catalogue: no rule is without, and two answers don't make a third."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.spec.buffer import Buffer, BufferRegistration
from conformance.spec.model import Registration
from conformance.spec.vocabulary import Access, Verdict
from rdma_conformance.catalogue import load_catalogue

from .golden import BARE, LW, Row, agrees
from .test_golden_registration import NOT_TAKEN, OK


def golden_rows() -> Iterator[Row]:
    """The rows of all tables beside this file."""
    for path in sorted(Path(__file__).parent.glob("test_golden_*.py")):
        module = importlib.import_module(f".{path.stem}", __package__)
        for name, test in vars(module).items():
            for mark in getattr(test, "pytestmark", ()) if name.startswith("test_") else ():
                if mark.name == "parametrize" and mark.args[0] == "row":
                    yield from (param.values[0] for param in mark.args[1])


def test_every_requirement_has_a_golden_row():
    asked = {row.requirement for row in golden_rows()}
    assert asked == {rule.id for rule in load_catalogue()}


EITHER = {Verdict.PASS: OK, Verdict.NOT_SUPPORTED: NOT_TAKEN}
WEAK = Registration(LW | Access.REMOTE_ATOMIC)


def test_a_row_agrees():
    agrees(Row("REG-FLAGS-LEGAL", WEAK, EITHER, BARE))


@pytest.mark.parametrize(
    "allowed",
    [
        {Verdict.PASS: OK},
        {**EITHER, Verdict.NOTE: OK},
        {**EITHER, Verdict.PASS: {**OK, "result": ["OK", "EINVAL"]}},
        {**EITHER, Verdict.PASS: [OK, NOT_TAKEN]},
        {**EITHER, Verdict.PASS: {**OK, "colour": ["red"]}},
    ],
    ids=["missing", "more", "wider", "another", "unknown-fact"],
)
def test_a_row_that_says_something_else_does_not_agree(allowed):
    with pytest.raises(AssertionError):
        agrees(Row("REG-FLAGS-LEGAL", WEAK, allowed, BARE))


def test_what_two_answers_allow_apart_is_no_third():
    refused = {"result": ["EINVAL"], "left": [[]]}
    registered = {"result": ["OK"], "left": [[]]}
    empty = BufferRegistration(Buffer(length=0), LW)
    agrees(Row("REG-ZERO-LENGTH", empty, {Verdict.PASS: [refused, registered]}))
    for other in ([{**refused, "result": ["EINVAL", "OK"]}], [refused], [registered]):
        with pytest.raises(AssertionError):
            agrees(Row("REG-ZERO-LENGTH", empty, {Verdict.PASS: other}))
