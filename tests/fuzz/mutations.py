"""Strategies for files that anyone may have written: real ones, damaged on purpose.

Bounded, and the same in every run, so that a CI job is never red by chance. What a longer search
finds becomes an example.
"""

import unicodedata
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

# Bytes at which parsers stumble: terminal escapes, NUL, what is no UTF-8, lone surrogates, text
# that runs the other way, numbers and nesting without end, and what structures a file.
ODD = (
    *(b"\0", b"\xff", b"\x1b[31m", b"\xc2\x9b31m", b"\x7f", b"\\u001b]0;x\\u0007", b"\\u0000"),
    *(b"\\ud800", b"\\udfff\\ud800", "\u202e\u2066".encode(), "\u2028".encode(), b"\\u202e"),
    *(b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"-0", b"0x1p9", b"1.5", "²".encode()),
    *(b"[" * 3000, b'{"a":' * 3000, b"]" * 9, b"a." * 3000, b"*" * 300, b"(a+)+$"),
    *(b"\n", b"\r\n", b"\n\n", b'"', b"'", b'"""', b",", b":", b"=", b"#", b"[", b"]", b"{", b"}"),
    *(b"null", b"true", b"[]", b"{}", b'""', b"0", b"-1", b"2026-02-30", b"</script><script>"),
    *(b'"type":"header"', b'"verdict":"PASS"', b"../../../etc/passwd", b"%s%n", b"{{7*7}}"),
)
DIRECTIONS = ("LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI")
ODD_TEXT = st.sampled_from([each.decode("utf-8", "replace") for each in ODD] + ["\ud800", ""])
ANY_TEXT = st.text(max_size=12) | ODD_TEXT


def bounded(examples: int) -> settings:
    """So many examples, the same ones each time; a busy machine is no fault."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


@st.composite
def damaged(draw: Any, originals: Sequence[bytes]) -> bytes:
    """One of some real files with one to four places cut out, or odd bytes put in."""
    data = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(data)))
        gone = draw(st.sampled_from((0, 0, 1, 2, 7, 64)))
        new = draw(st.sampled_from(ODD) | st.binary(max_size=4))
        data = data[:place] + new + data[place + gone :]
    return data


def shows_itself(text: str) -> bool:
    """Whether a text can go to a terminal or into a page: nothing in it does more than it shows."""
    return all(
        letter in "\n\t"
        or (
            unicodedata.category(letter) not in ("Cc", "Cs")
            and unicodedata.bidirectional(letter) not in DIRECTIONS
        )
        for letter in text
    )
