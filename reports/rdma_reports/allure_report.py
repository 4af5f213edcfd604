"""Makes the HTML report from Allure results, with the pinned Allure 3 under Node.js."""

import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.deviations import load_deviations
from rdma_reports.allure_model import IDENTITY
from rdma_reports.allure_page import finish, rule_texts
from rdma_reports.errors import ReportError

MINIMAL_NODE = 20
# The labels that tell one device from another: two hosts may have the same.
DEVICE = (*IDENTITY, "host")
_PINNED = ("package.json", "package-lock.json")


def make_report(
    results: Sequence[Path], out: Path, *, name: str | None = None, history: Path | None = None
) -> Path:
    """Make one HTML page from directories of Allure results; returns its path in `out`.

    Each device becomes an environment of the report. `history` is a file that collects the trend
    from report to report. Raises ReportError.
    """
    out = out.absolute()
    devices = sorted({each for directory in results for each in _devices(directory)})
    if out.exists() and not _is_report(out):
        raise ReportError(
            f"{out} exists and is no earlier report: name a new directory with -o, or remove it"
        )
    node = find_node()
    allure = install()
    settings = {
        "name": name
        or "RDMA memory registration: " + ", ".join(dict.fromkeys(d[0] for d in devices)),
        "history": str(history.absolute()) if history else None,
        "environments": environments(devices),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as scratch:
        made = Path(scratch, "report")
        _generate([str(node), str(allure)], results, made, settings)
        page = made / "index.html"
        catalogue = load_catalogue()
        rules = rule_texts(catalogue, load_deviations((), catalogue))
        page.write_text(finish(page.read_text(encoding="utf-8"), rules), encoding="utf-8")
        if out.exists():
            shutil.rmtree(out)
        made.replace(out)
    return out / "index.html"


def environments(devices: Iterable[tuple[str, ...]]) -> dict[str, dict[str, Any]]:
    """Allure's environments for devices, each a tuple of the values of DEVICE ('' if unknown).

    Keys are ids; a name says what tells the device from the others of its name. None for a single
    device, which the report's metadata describe.
    """
    found: dict[str, dict[str, Any]] = {}
    devices = list(devices)
    if len(devices) < 2:
        return found
    for values in devices:
        labels = {name: value for name, value in zip(DEVICE, values, strict=True) if value}
        same = [other for other in devices if other[0] == values[0]]
        differing = [
            name
            for index, name in enumerate(DEVICE)
            if index == 1 or len({other[index] for other in same}) > 1
        ]
        words = ", ".join(
            labels[name] if name == "driver" else f"{name} {labels[name]}"
            for name in differing
            if name in labels
        )
        title = f"{values[0]} ({words})" if words else values[0]
        identity = hashlib.sha256("\n".join(values).encode()).hexdigest()[:8]
        found[f"{re.sub('[^A-Za-z0-9_-]', '-', values[0])[:40]}-{identity}"] = {
            "name": _environment_name(title, {each["name"] for each in found.values()}),
            "labels": labels,
            "variables": labels,
        }
    return found


def find_node() -> Path:
    """The node command. Raises ReportError when it or npm is missing or too old."""
    mend = f"install Node.js {MINIMAL_NODE} or newer with npm (Debian: apt install nodejs npm)"
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        missing = "npm" if node else "node"
        raise ReportError(f"the HTML report needs {missing}, which is not on the PATH: {mend}")
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"v(\d+)\.", done.stdout)
    if not version or int(version[1]) < MINIMAL_NODE:
        raise ReportError(f"{node} is of version {done.stdout.strip() or 'unknown'}: {mend}")
    return Path(node)


def cache_directory() -> Path:
    """Where the pinned Allure is installed: named by the content of its lock file."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    pinned = b"".join(_pinned(name) for name in _PINNED)
    return Path(base, "rdma-conformance", f"allure-{hashlib.sha256(pinned).hexdigest()[:12]}")


def install() -> Path:
    """The command file of the pinned Allure, installed on first use. Raises ReportError."""
    target = cache_directory()
    command = Path("node_modules", "allure", "cli.js")
    if (target / command).is_file():
        return target / command
    version = json.loads(_pinned("package.json"))["dependencies"]["allure"]
    print(f"installing allure {version} into {target} (once)", file=sys.stderr)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".allure-", dir=target.parent) as scratch:
            for name in _PINNED:
                Path(scratch, name).write_bytes(_pinned(name))
            npm = [
                shutil.which("npm") or "npm",
                "ci",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
            ]
            done = _run(npm, Path(scratch), {})
            if done.returncode:
                raise ReportError(
                    f"npm could not install allure {version}: {_last(done)}. "
                    "It needs a package registry: see `npm config get registry`"
                )
            if not target.exists():  # another process may have been faster
                Path(scratch).rename(target)
                Path(scratch).mkdir()
    except OSError as error:
        raise ReportError(
            f"allure cannot be installed into {target}: {error.strerror}. "
            "Name another place with XDG_CACHE_HOME"
        ) from error
    return target / command


def _generate(
    command: Sequence[str], results: Sequence[Path], made: Path, settings: Mapping[str, Any]
) -> None:
    patterns = [_pattern(directory) for directory in results]
    with as_file(files("rdma_reports").joinpath("allure3", "allurerc.mjs")) as configuration:
        arguments = ["generate", "--config", str(configuration), "--output", str(made), *patterns]
        variables = {"RDMA_ALLURE_SETTINGS": json.dumps(settings)}
        done = _run([*command, *arguments], made.parent, variables)
    if done.returncode or not (made / "index.html").is_file():
        raise ReportError(f"allure made no report: {_last(done)}")


def _pattern(directory: Path) -> str:
    # Allure takes glob patterns, and passes symbolic links over.
    return re.sub(r"[?*()\[\]{}]", r"[\g<0>]", os.path.realpath(directory))


def _devices(directory: Path) -> set[tuple[str, ...]]:
    """The devices of the results in a directory, as values of DEVICE."""
    found = set()
    paths = list(directory.glob("*-result.json"))
    if not paths:
        raise ReportError(
            f"{directory} holds no Allure results: run pytest with --alluredir={directory}"
        )
    for path in paths:
        try:
            data = json.loads(path.read_bytes())
            labels = {label["name"]: label["value"] for label in data.get("labels", ())}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ReportError(f"{path} is no Allure result: remove it, and run again") from error
        if "device" in labels:
            found.add(tuple(str(labels.get(name, "")) for name in DEVICE))
    return found


def _environment_name(title: str, taken: Container[str]) -> str:
    # Allure takes at most 64 characters, none of them a slash, and no name twice.
    name = re.sub(r"[/\\\x00-\x1f\x7f-\x9f]", "-", title)
    numbered = (f"{name[:60]} {number}" for number in itertools.count(2))
    return next(each for each in itertools.chain([name[:64]], numbered) if each not in taken)


def _is_report(out: Path) -> bool:
    return out.is_dir() and (not any(out.iterdir()) or (out / "summary.json").is_file())


def _pinned(name: str) -> bytes:
    return files("rdma_reports").joinpath("allure3", name).read_bytes()


def _run(
    command: Sequence[str], directory: Path, more: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _last(done: subprocess.CompletedProcess[str]) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stderr or done.stdout)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[:3]) or f"it ended with status {done.returncode}"
