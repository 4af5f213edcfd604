"""A headless Chromium for the tests, driven through its DevTools pipe: no dependency at all."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from rdma_reports.pdf import BROWSERS

PATIENCE_S = 60


def chromium() -> str | None:
    """A browser of this host, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


class Browser:
    """One page in a browser; a context manager. Messages are JSON that end in a zero byte."""

    def __init__(self, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        self._view = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._dark = dark
        self._number = 0
        self._rest = b""
        self.problems: list[str] = []

    def __enter__(self) -> Self:
        self._profile = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        words = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        words += [
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile.name}",
            "--no-startup-window",
        ]
        # The browser reads commands from descriptor 3 and writes answers to 4.
        shell = f'exec 8<&{theirs_in} 9>&{theirs_out} 3<&8 4>&9; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *words],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._session: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        found = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._call(f"{domain}.enable")
        self._call("Emulation.setDeviceMetricsOverride", **self._view)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if self._dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def open(self, page: Path, hash_: str = "") -> None:
        """Open a file, and wait until it is loaded."""
        url = page.absolute().as_uri()
        self._call("Page.navigate", url=url + hash_)
        there = f"location.href.startsWith({json.dumps(url)})"
        self.until(f"document.readyState === 'complete' && {there}")

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        found = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"])
        return found["result"].get("value")

    def until(self, script: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + PATIENCE_S
        while not self.run(script):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.05)

    def click(self, selector: str, text: str = "") -> None:
        """Click on the middle of the first match that shows and has `text`."""
        script = f"""(() => {{
          const all = [...document.querySelectorAll({json.dumps(selector)})];
          const one = all.find((each) => each.getClientRects().length
            && each.textContent.includes({json.dumps(text)}));
          if (!one) return null;
          one.scrollIntoView({{block: "center", behavior: "instant"}});
          const box = one.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        }})()"""
        self.until(f"{script} !== null")
        x, y = self.run(script)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def type(self, text: str) -> None:
        self._call("Input.insertText", text=text)
        self.settle()

    def settle(self) -> None:
        """Wait until the page has been drawn twice: what an event started has then run."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        return self.run("document.documentElement.scrollWidth - innerWidth")

    def screenshot(self, path: Path, whole: bool = False) -> None:
        shot = self._call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(answer["params"])[:500])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], PATIENCE_S)
            assert ready, "the browser does not answer"
            data = os.read(self._from, 1 << 20)
            assert data, "the browser is gone"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)
