"""The command line of lab/run."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

_EXAMPLES = """\
examples:
  lab/run pytest conformance/ --device rxe0         the suite on two rxe devices
  lab/run --shell                                   look around in the guest
  lab/run --kernel 6.12 pytest conformance/ --device rxe0
  lab/run --module rdma_rxe.ko pytest conformance/ --device rxe0
                                                    the driver that you have just built
  lab/run --mtu 9000 rdma link                      path MTU 4096

when the guest dies or hangs, COMMAND is a pytest, and a run of the suite is under way: the case
  that was asked is a CRASH in the run file, the guest boots again, and COMMAND with --resume goes
  on with the rest. Other commands end with the guest.
exit status: COMMAND's own; 124 when --timeout is over; 125 when the lab itself failed;
  2 for a wrong option or a machine that lacks what the lab needs.
results: the checkout is /suite in the guest, read-write: what COMMAND writes there is here.
cache: --cache, else $RDMA_CONFORMANCE_CACHE, else ~/.cache/rdma-conformance/lab.
"""

SILENCE_SECONDS = 60.0
_SILENCE = f"without a sign of life of the guest it counts as hanging ({SILENCE_SECONDS:g})"


@dataclass(frozen=True)
class Options:
    """What was asked; memory in MiB, timeout in seconds, mtu in bytes."""

    command: tuple[str, ...]
    shell: bool
    stdin: bool
    kernel: str | None
    list_kernels: bool
    module: Path | None
    cpus: int | None
    memory: int
    mtu: int
    rxe: bool
    timeout: float | None
    console: Path | None
    rebuild: bool
    build_only: bool
    mirror: str | None
    cache: Path | None
    survive: bool
    silence: float
    verbose: bool


def parse(arguments: list[str], host_cpus: int | None = None) -> Options:
    """Reads ``arguments``; ends the process with status 2 and a message when they are wrong.

    ``host_cpus``: how many CPUs the guest may have at most.
    """
    parser = _parser()
    found = parser.parse_args(arguments)
    most = host_cpus or os.cpu_count() or 1
    if found.cpus is not None and not 1 <= found.cpus <= most:
        parser.error(f"--cpus {found.cpus}: this machine has {most}")
    asked = (found.shell, found.list_kernels, found.build_only, bool(found.command))
    if not any(asked):
        parser.error("no COMMAND: say what to run in the guest, or --shell")
    if found.shell and found.command:
        parser.error("--shell takes no COMMAND")
    return Options(**vars(found) | {"command": tuple(found.command)})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lab/run",
        usage="lab/run [OPTIONS] COMMAND [ARGUMENT...]",
        description="Runs COMMAND in a virtual machine that has two RDMA devices: rxe0 in network"
        " namespace left, rxe1 in right, joined by a veth pair.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND", help=argparse.SUPPRESS)
    add("--shell", action="store_true", help="an interactive shell in place of COMMAND")
    add("-i", "--stdin", action="store_true", help="give COMMAND this standard input")
    add("--kernel", metavar="VERSION", help="another Debian kernel: the newest VERSION, as 6.12")
    add("--list-kernels", action="store_true", help="list the kernels there are")
    add("--module", type=_file, metavar="PATH", help="load this .ko, not the packaged module")
    add("--cpus", type=int, metavar="N", help="2; 1 if emulated by qemu before 8.1")
    add("--memory", type=_mebibytes, default=2048, metavar="SIZE", help="as 2G or 3000M (2G)")
    add("--mtu", type=_mtu, default=1500, metavar="BYTES", help="of the veth pair (1500)")
    add("--no-rxe", dest="rxe", action="store_false", help="make no namespaces and devices")
    add("--timeout", type=_seconds, metavar="SECONDS", help="for the whole guest")
    add("--no-survive", dest="survive", action="store_false", help="end with the guest, or wait")
    add("--silence", type=_seconds, default=SILENCE_SECONDS, metavar="SECONDS", help=_SILENCE)
    add("--console", type=Path, metavar="FILE", help="where the guest's kernel log goes")
    add("--rebuild", action="store_true", help="build guest root and kernel anew")
    add("--build-only", action="store_true", help="build what is missing, boot nothing")
    add("--mirror", metavar="URL", help="Debian mirror for builds (this machine's own)")
    add("--cache", type=Path, metavar="DIR", help="where built things are kept")
    add("-v", "--verbose", action="store_true", help="print qemu's command line")
    return parser


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"no file {text}")
    return path.resolve()


def _mebibytes(text: str) -> int:
    units = {"M": 1, "G": 1024}
    number, unit = text[:-1], units.get(text[-1:].upper())
    if unit is None or not number.isdigit():
        raise argparse.ArgumentTypeError(f"{text}: give a size as 2G or 3000M")
    size = int(number) * unit
    if size < 512:
        raise argparse.ArgumentTypeError(f"{text}: the guest needs 512M or more")
    return size


def _mtu(text: str) -> int:
    if not text.isdigit() or not 1280 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text}: give 1280 to 65535 bytes")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e7:
        raise argparse.ArgumentTypeError(f"{text}: give seconds, more than 0")
    return seconds
