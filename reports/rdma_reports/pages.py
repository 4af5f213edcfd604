"""Pages from the templates beside this file: all in one file, nothing loaded from elsewhere."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

GLYPHS = {
    "PASS": "✓",
    "FAIL": "✕",
    "DEVIATION": "≠",
    "FIXED": "↑",
    "NOT_SUPPORTED": "-",
    "NOTE": "i",
    "ERROR": "!",
    "CRASH": "‼",
}


def render(template: str, **values: Any) -> str:
    """The text of a template; values are escaped in *.html, not in *.md."""
    return _environment().get_template(template).render(**values)


def embedded_json(value: Any) -> Markup:
    """JSON that can stand in a script element, whatever strings it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028"))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("rdma_reports", "templates"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(glyphs=GLYPHS, inline=_inline)
    environment.filters.update(embedded_json=embedded_json, words=words, cell=_table_cell)
    return environment


def words(verdict: str) -> str:
    """A verdict as people write it: NOT_SUPPORTED is "not supported" to them."""
    return verdict.replace("_", " ")


def _table_cell(text: str) -> str:
    """A text that can stand in a cell of a Markdown table."""
    return str(text).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def _inline(name: str) -> Markup:
    return Markup(files("rdma_reports").joinpath("templates", name).read_text(encoding="utf-8"))
