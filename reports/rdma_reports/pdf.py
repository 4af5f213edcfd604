"""A page as PDF, printed by a Chromium that the host has."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from rdma_reports.errors import ReportError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_S = 120


def print_pdf(html: str) -> bytes:
    """The PDF of a self-contained page. Raises ReportError without a browser, or if it fails."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise ReportError(
            "a PDF needs Chromium, and none is on the PATH: install it (Debian: apt install "
            "chromium), or write .html with -o and print it from any browser"
        )
    with tempfile.TemporaryDirectory(prefix="statement-", ignore_cleanup_errors=True) as scratch:
        page, made = Path(scratch, "page.html"), Path(scratch, "page.pdf")
        page.write_text(html, encoding="utf-8")
        words = [browser, "--headless", "--disable-gpu", f"--user-data-dir={scratch}/profile"]
        if os.geteuid() == 0:  # Chromium's sandbox does not work for root
            words.append("--no-sandbox")
        words += ["--no-pdf-header-footer", f"--print-to-pdf={made}", page.as_uri()]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            raise ReportError(
                f"{browser} did not print the page within {PATIENCE_S} s: write .html instead"
            ) from None
        if not made.is_file():
            last = next(iter(done.stderr.strip().splitlines()[-1:]), "no message")
            raise ReportError(f"{browser} printed no PDF ({last}): write .html instead")
        return made.read_bytes()
