"""Runs apt and mmdebstrap, strictly first, and leniently only about an expired Release file."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from rdma_lab.aptsources import parse_one_line
from rdma_lab.errors import LabError
from rdma_lab.progress import say

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_EXPIRED = re.compile(r"Release file .* is (?:expired|not valid anymore)")
_LENIENT = 'Acquire::Check-Valid-Until "false"'


def is_expired_release(output: str) -> bool:
    """Whether apt's only complaint is a Release file past its Valid-Until date."""
    errors = [line for line in output.splitlines() if line.startswith("E: ")]
    # mmdebstrap says, after apt's own error, that apt and so it itself failed.
    apt_errors = [line for line in errors if not line.startswith(("E: apt-get", "E: mmdebstrap"))]
    return bool(_EXPIRED.search(output)) and all(_EXPIRED.search(line) for line in apt_errors)


def run_strictly_first(
    what: str, command: Callable[[str | None], list[str]], cwd: Path | None = None
) -> str:
    """Runs ``command(None)``; once more as ``command(OPTION)`` when a Release file has expired.

    OPTION is an apt.conf(5) line. Returns the standard output; raises LabError with the tool's
    last lines otherwise.
    """
    done = _run(command(None), cwd)
    if done.returncode != 0 and is_expired_release(done.stderr):
        say("  the mirror's Release file is past its Valid-Until date: its age is not checked")
        done = _run(command(_LENIENT), cwd)
    if done.returncode != 0:
        tail = "\n".join(done.stderr.strip().splitlines()[-12:])
        raise LabError(f"{what} failed (--mirror URL chooses another mirror):\n{tail}")
    return done.stdout


def _run(command: list[str], cwd: Path | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        cwd=cwd,
        check=False,
    )


def default_mirror(suite: str) -> str:
    """The mirror that mmdebstrap takes for ``suite`` on a machine that has none configured.

    It says so only to a hook, which then stops it: nothing has been downloaded by then.
    """
    with tempfile.TemporaryDirectory(prefix="rdma-lab-") as folder:
        hook = 'cat "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/* 2>/dev/null; exit 1'
        command = ["mmdebstrap", "--variant=custom", "--format=null", f"--setup-hook={hook}"]
        done = _run([*command, suite, "-"], Path(folder))
    # The hook's output is among mmdebstrap's own messages.
    sources = parse_one_line(done.stdout + done.stderr)
    mirror = next((source.uri for source in sources if source.suite == suite), None)
    if mirror is None:
        raise LabError(f"no mirror for Debian {suite} is known here: give one with --mirror URL")
    return mirror


class PackageIndex:
    """apt's view of some suites of a mirror, kept in a folder of its own.

    The host's apt configuration (proxy, certificates) holds; its sources and state don't.
    """

    def __init__(self, folder: Path, mirror: str, suites: tuple[str, ...]) -> None:
        self._folder, self._suites = folder, suites
        for part in ("state/lists/partial", "cache/archives/partial"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        sources = folder / "sources.list"
        sources.write_text(
            "".join(f"deb [signed-by={KEYRING}] {mirror} {suite} main\n" for suite in suites)
        )
        self._options = {
            "Dir::Etc::sourcelist": str(sources),
            "Dir::Etc::sourceparts": "-",
            "Dir::Etc::preferencesparts": "-",
            "Dir::State": str(folder / "state"),
            "Dir::State::status": "/dev/null",
            "Dir::Cache": str(folder / "cache"),
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }

    def _command(self, tool: str, *words: str, option: str | None = None) -> list[str]:
        options = [word for item in self._options.items() for word in ("-o", "=".join(item))]
        if option:
            name, value = option.split(" ", 1)
            options += ["-o", f"{name}={value.strip(chr(34))}"]
        return [tool, *options, *words]

    def update(self) -> None:
        """Fetches the package lists."""
        words = ("-q", "--error-on=any", "update")
        run_strictly_first(
            f"reading the package lists of {', '.join(self._suites)}",
            lambda option: self._command("apt-get", *words, option=option),
        )

    def names(self, prefix: str) -> list[str]:
        """The package names that begin with ``prefix``."""
        return run_strictly_first(
            "asking for package names", lambda _: self._command("apt-cache", "pkgnames", prefix)
        ).split()

    def versions(self, names: list[str]) -> list[tuple[str, str, str]]:
        """(name, version, suite) of each of ``names`` in each suite."""
        if not names:
            return []
        table = run_strictly_first(
            "asking for package versions", lambda _: self._command("apt-cache", "madison", *names)
        )
        rows = []
        for line in table.splitlines():
            name, version, origin = (field.strip() for field in line.split("|"))
            words = origin.split()
            if words[-1] == "Packages":
                rows.append((name, version, words[1].split("/")[0]))
        return rows

    def download(self, packages: list[tuple[str, str]], into: Path) -> list[Path]:
        """Fetches (name, version) packages as files in ``into``."""
        wanted = [f"{name}={version}" for name, version in packages]
        run_strictly_first(
            f"downloading {' '.join(wanted)}",
            lambda option: self._command("apt-get", "-q", "download", *wanted, option=option),
            cwd=into,
        )
        return sorted(into.glob("*.deb"))
