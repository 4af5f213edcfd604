"""What is changed in the page that Allure made. Pure.

Its data are packed, which makes the page a fifth of its size or less; each case tells its rule in
plain words; and nothing is reported to a third party.
"""

import base64
import gzip
import json
import re
from collections.abc import Mapping

from rdma_conformance.catalogue import Catalogue
from rdma_conformance.deviations import Deviation
from rdma_reports.errors import ReportError
from rdma_reports.explain import explain
from rdma_reports.pages import embedded_json, render

# Allure's page reports its use to a statistics service of its makers, with no option against it.
_STATISTICS = re.compile(
    r'<script async src="https://www\.googletagmanager\.com/[^"]*"></script>\s*'
    r"<script>\s*window\.dataLayer.*?</script>",
    re.DOTALL,
)
_STATISTICS_HOST = "googletagmanager"
# A narrow screen cuts long words of the failure block off otherwise.
_STYLE = "<style>pre, code { overflow-wrap: anywhere }</style>"
_DATA = re.compile(
    r"<script defer>\s*Promise\.allSettled\(\[(.*?)\]\)\s*\.then\(.*?</script>", re.DOTALL
)
_ENTRY = re.compile(r'd\("([^"]+)","([A-Za-z0-9+/=]*)"\),?')
_CHANGED = "allure has changed: pin another version"


def finish(page: str, rules: Mapping[str, str]) -> str:
    """The page as it is given to people. Raises ReportError for one of another Allure.

    `rules` has the HTML that explains a requirement, by its id.
    """
    page = _STATISTICS.sub("", page)
    if _STATISTICS_HOST in page:
        raise ReportError(f"the page would report its use to a third party: {_CHANGED}")
    found = _DATA.search(page)
    if found is None or "allureReportDataReady" not in found[0]:
        raise ReportError(f"the page does not hold its data where it did: {_CHANGED}")
    if left := _ENTRY.sub("", found[1]).strip():
        raise ReportError(f"the page holds data of an unknown form ({left[:40]!r}): {_CHANGED}")
    packed = render("allure_data.html", packed=embedded_json(pack(found[1], rules)))
    page = page[: found.start()] + packed + page[found.end() :]
    return page.replace("</head>", f"{_STYLE}</head>", 1)


def pack(entries: str, rules: Mapping[str, str]) -> str:
    """The entries of the page's data, and the rules, as base64 of gzip of a JSON object."""
    texts: dict[str, str] = {}
    binary: dict[str, str] = {}
    for name, value in _ENTRY.findall(entries):
        try:
            texts[name] = base64.b64decode(value).decode()
        except UnicodeDecodeError:
            binary[name] = value
    data = json.dumps({"texts": texts, "binary": binary, "rules": rules}, separators=(",", ":"))
    return base64.b64encode(gzip.compress(data.encode(), 6, mtime=0)).decode()


def unpack(page: str) -> Mapping[str, Mapping[str, str]]:
    """Inverse of `pack`, from a page that `finish` made."""
    found = re.search(r'<script type="application/json" id="packed">"([^"]*)"</script>', page)
    if found is None:
        raise ReportError("the page holds no packed data")
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def rule_texts(catalogue: Catalogue, deviations: tuple[Deviation, ...]) -> dict[str, str]:
    """The HTML that explains each requirement, by its id."""
    return {
        rule.id: render("allure_rule.html", each=explain(rule.id, catalogue, deviations))
        for rule in catalogue
    }
