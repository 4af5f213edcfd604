"""The nightly job's commands for the lab: each is one that the lab can go on with."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rdma_lab import options
from rdma_lab.tickets import ticket_for

from .conftest import CHECKOUT

RECORD = f"""#!{sys.executable}
import json, sys
with open("said-" + sys.argv[0].rpartition("/")[2], "a") as said:
    said.write(json.dumps(sys.argv[1:]) + "\\n")
"""


def executable(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(RECORD)
    path.chmod(0o755)


def said(folder: Path, name: str) -> list[str]:
    """The arguments of the one call of a recorded command."""
    (line,) = (folder / f"said-{name}").read_text().splitlines()
    return json.loads(line)


@pytest.mark.parametrize(
    ("kernel", "loopback"), [("default", False), ("7.3", False), ("7.1.3", True), ("6.12", True)]
)
def test_the_lab_can_go_on_with_what_a_night_asks(tmp_path, kernel, loopback):
    (tmp_path / ".ci").mkdir()
    shutil.copy(CHECKOUT / ".ci/nightly", tmp_path / ".ci")
    executable(tmp_path / "lab/run")
    subprocess.run([tmp_path / ".ci/nightly", "run", kernel, "out put"], check=True)
    asked = options.parse(said(tmp_path, "run"))
    assert asked.kernel == (None if kernel == "default" else kernel)
    assert asked.rxe is not loopback
    assert asked.console == Path(f"out put/rxe0-{kernel}.console.log")

    # What the guest would run, and the ticket that pytest would leave there.
    for name in ("pytest", "modprobe", "ip", "rdma"):
        executable(tmp_path / "bin" / name)
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    subprocess.run(asked.command, cwd=tmp_path, env={"PATH": path}, check=True)
    assert (tmp_path / "said-rdma").exists() is loopback
    arguments = said(tmp_path, "pytest")
    assert arguments == [
        *("conformance/", "--device", "rxe0", "--run-file", f"out put/rxe0-{kernel}.ndjson"),
        *("--alluredir", f"out put/allure-{kernel}"),
    ]
    ticket = {"arguments": arguments, "run_file": "/suite/run.ndjson", "running": "/suite/running"}
    (tmp_path / "ticket-1.json").write_text(json.dumps(ticket | {"part": 0, "stuck": False}))
    assert ticket_for(tmp_path, asked.command) is not None
