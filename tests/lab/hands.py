"""In the guest: runs of the suite in wrong hands, one after the other; a JSON line tells each.

`test_wrong_hands.py` looks at what it tells.
"""

import ctypes
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from spoiling import PLACE, Started

from rdma_conformance.suites import all_cases

RESULTS = Path(tempfile.gettempdir(), "hands")  # not in the checkout: nobody may write there
SMALL = "conformance/remote/test_events.py"
MANY = "conformance/remote/test_events_of_keys.py"
NOBODY = shlex.split(
    "setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --inh-caps=-all"
)
REFUSE = "--refuse-verbs"
# Named so that it is seen before rxe1, which the runs are to find.
THIRD = (
    "ip link add third type dummy",
    "ip link set third up",
    "ip address add 198.51.100.1/24 dev third",
    "rdma link add rxe00 type rxe netdev third",
)
# These change by themselves.
RESTLESS = ("random", "ns_last_pid", "dentry-state", "file-nr", "inode", "pty/nr", "aio-nr")

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
IOCTL, RDMA_VERBS_IOCTL, EACCES = 16, 0xC0181B01, 13  # x86-64

NEIGHBOUR = """
import ctypes, mmap, time
from rdma_conformance.endpoint.libibverbs import Domain
page = mmap.mmap(-1, 4096)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
held = []
while True:
    for name in ("rxe0", "rxe1"):
        domain = Domain(name)
        held.append((domain, domain.register(address, 4096, 7)))
    print(len(held), flush=True)
    time.sleep(0.3)
"""


class Filter(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("count", ctypes.c_ushort), ("program", ctypes.c_char_p))


def refuse_verbs() -> None:
    """From here on each verb's ioctl(2) answers EACCES, as under a security module."""

    def step(code: int, true: int, false: int, value: int) -> bytes:
        return struct.pack("=HBBI", code, true, false, value)

    program = (
        step(0x20, 0, 0, 0)  # the number of the call
        + step(0x15, 0, 3, IOCTL)
        + step(0x20, 0, 0, 24)  # its second argument
        + step(0x15, 0, 1, RDMA_VERBS_IOCTL)
        + step(0x06, 0, 0, 0x00050000 | EACCES)
        + step(0x06, 0, 0, 0x7FFF0000)
    )
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    made = Filter(len(program) // 8, program)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(made), 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def start(name: str, *words: str, through: Sequence[str] = ()) -> Started:
    """Begin a run, by another command that runs it if need be."""
    usual = ("--device", "rxe0", "--tb=no", "-r", "")
    return Started(name, *usual, cases=words, place=RESULTS, through=through)


def finish(run: Started) -> None:
    """Tell how a run came out."""
    status = run.end()
    lines = run.run_file.read_text().splitlines() if run.run_file.exists() else []
    results = [json.loads(line) for line in lines]
    told = {
        "name": run.run_file.stem,
        "status": status,
        "said": run.output.read_text().splitlines()[-12:],
        "footer": results[-1] if results and results[-1]["type"] == "footer" else None,
        "bad": [
            [each["verdict"], each["reason"]]
            for each in results
            if each["type"] == "result" and each["verdict"] in ("FAIL", "ERROR", "CRASH", "FIXED")
        ],
    }
    print(json.dumps(told), flush=True)


def run(name: str, *words: str, through: Sequence[str] = ()) -> None:
    finish(start(name, *words, through=through))


def do(command: str) -> str:
    """What a command prints. Raises CalledProcessError when it fails."""
    return subprocess.check_output(shlex.split(command), text=True)


def cut(name: str, command: str) -> None:
    """Run `command` in the middle of a run."""
    process = start(name, MANY, "--bound", "5")
    process.wait_for(3)
    do(command)
    finish(process)


def host() -> dict[str, object]:
    """What no run may change: sysctls, modules, and a device that it was not told of."""
    found: dict[str, object] = {
        "modules": sorted(path.name for path in Path("/sys/module").iterdir()),
        "devices": sorted(path.name for path in Path("/sys/class/infiniband").iterdir()),
        "links": do("ip -o link"),
        "namespaces": sorted(path.name for path in Path("/run/netns").iterdir()),
        "unnamed": do("rdma resource show rxe00"),
    }
    for path in Path("/proc/sys").rglob("*"):
        if path.is_file() and not any(word in str(path) for word in RESTLESS):
            try:
                found[str(path)] = path.read_bytes().decode(errors="replace")
            except OSError:
                found[str(path)] = "not readable"
    return found


def counters() -> str:
    """What was sent and received by the unnamed device."""
    folder = Path("/sys/class/infiniband/rxe00/ports/1/hw_counters")
    return " ".join(
        f"{path.name}={path.read_text().strip()}"
        for path in sorted(folder.iterdir())
        if path.name != "lifespan"
    )


def main() -> None:
    RESULTS.mkdir()
    RESULTS.chmod(0o777)
    PLACE.mkdir(exist_ok=True)
    assert all_cases()  # imports the suites
    for command in THIRD:
        do(command)
    run("limited", SMALL, through=NOBODY)
    run("policy", SMALL, through=[sys.executable, __file__, REFUSE])
    run("no-sys", SMALL, through=["unshare", "-m", "sh", "-c", 'umount -l /sys; exec "$@"', "-"])

    neighbour = subprocess.Popen([sys.executable, "-c", NEIGHBOUR], stdout=subprocess.PIPE)
    neighbour.stdout.readline()
    before, sent = host(), counters()
    other = start("other", "conformance/windows/test_binding.py", "--profile", "quick")
    counts = ("conformance/lifetime/test_traffic.py", "-k", "killed and write-retries:6")
    run("neighbours", *counts)
    finish(other)
    after = host()
    changed = sorted(name for name in before | after if before.get(name) != after.get(name))
    sent_since = counters() != sent
    neighbour.kill()
    neighbour.communicate()
    print(json.dumps({"name": "untouched", "changed": changed, "sent": sent_since}), flush=True)

    unlimited = ["prlimit", "--memlock=unlimited", *NOBODY]
    run("nobody", "conformance/memlock/test_limit.py", through=unlimited)

    cut("port-down", "ip -n left link set dev rp-left down")
    do("ip -n left link set dev rp-left up")
    time.sleep(2)
    cut("device-gone", "rdma link delete rxe0")


if sys.argv[1:2] == [REFUSE]:
    refuse_verbs()
    os.execvp(sys.argv[2], sys.argv[2:])
main()
