"""What other people's text may do to a terminal: nothing."""

import pytest

from rdma_conformance.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rxe0", "rxe0"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("größer ∞ 字", "größer ∞ 字"),
        ("\x1b[31mred", "\u241b[31mred"),
        ("over\rwritten\0\x7f", "over\u240dwritten\u2400\u2421"),
        ("\x9b31m", "\ufffd31m"),
        ("\ud800", "\ufffd"),
        ("abc\u202edef\u2066", "abc\ufffddef\ufffd"),
    ],
)
def test_it_shows_what_would_act(text, shown):
    assert visible(text) == shown
