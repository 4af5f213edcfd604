"""Text from elsewhere as it may be shown: a terminal or a browser takes no orders from it. Pure."""

import re

# Control characters (but for line end and tab), half of a surrogate pair, and what turns the
# direction of the text behind it.
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_PICTURES = 0x2400  # of the control characters, in the same order
_DELETE = "\u2421"
_REPLACEMENT = "\ufffd"


def visible(text: str) -> str:
    """`text` with a picture, or U+FFFD, for each character that does more than show itself."""
    return text if text.isprintable() else _ODD.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(_PICTURES + code)
    return _DELETE if code == 0x7F else _REPLACEMENT
