"""The lab end to end: each test boots a real guest."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .conftest import CHECKOUT, LAB_RUN, children, lives, wait_for_line, wait_until

pytestmark = pytest.mark.lab

ALL_BYTES = bytes(range(256)) * 300


def test_status_streams_folder_and_environment(lab, tmp_path):
    payload = CHECKOUT / "tests" / "lab" / f".payload-{os.getpid()}"
    made = payload.with_suffix(".made")
    payload.write_bytes(ALL_BYTES)
    script = (
        f"cat {payload.name}; cat {payload.name} {payload.name} >&2; echo again >/dev/stderr\n"
        f"echo $PWD $CI $SECRET >{made.name}; test -t 1 && exit 8; exit 7"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environment |= {"CI": "yes", "SECRET": "x"}
    try:
        done = lab("sh", "-c", script, cwd=payload.parent, env=environment)
        assert done.returncode == 7
        assert done.stdout == ALL_BYTES
        lab_lines, _, after = done.stderr.partition(ALL_BYTES)
        assert after == ALL_BYTES + b"again\n"
        assert all(line.startswith(b"lab: ") for line in lab_lines.splitlines())
        assert re.search(rb"lab: up after [\d.]+ s\n$", lab_lines)
        assert made.read_text() == "/suite/tests/lab yes\n"
    finally:
        payload.unlink()
        made.unlink(missing_ok=True)


def test_the_guest_has_two_rxe_devices_and_the_suite(lab):
    script = (
        "rdma link; ip netns; cat /sys/class/infiniband/rxe?/ports/1/gids/1; ulimit -c\n"
        "grep -h HugePages_Total /proc/meminfo; python3 -c 'import pyverbs.mr, rdma_reports'\n"
        "python3 -c 'from importlib.metadata import entry_points as e;"
        ' print([p.value for p in e(group="pytest11") if p.name == "rdma_conformance"])\''
    )
    done = lab("sh", "-c", script)
    text = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert "rxe0/1 state ACTIVE" in text
    assert "rxe1/1 state ACTIVE" in text
    assert {"left", "right"} <= set(text.split())
    assert "ffff:c000:0201" in text
    assert "ffff:c000:0202" in text
    assert re.search(r"HugePages_Total: +32", text)
    assert "['rdma_conformance.plugin']" in text


def test_a_signalled_command_and_what_it_leaves_running(lab):
    done = lab("--no-rxe", "sh", "-c", "sleep 999 & rdma link; kill -9 $$")
    assert done.returncode == 137
    assert b"rxe" not in done.stdout


def test_standard_input_when_asked(lab):
    done = lab("--no-rxe", "-i", "cat", input=ALL_BYTES)
    assert done.stdout == ALL_BYTES
    done = lab("--no-rxe", "cat", input=ALL_BYTES)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "INT"), (signal.SIGTERM, "TERM")])
def test_a_signal_reaches_the_command_which_may_end_as_it_likes(start_lab, number, name):
    script = f"trap 'echo summary; exit 2' {name}; echo ready; while :; do sleep 0.1; done"
    process = start_lab("--no-rxe", "sh", "-c", script)
    wait_for_line(process.stdout, b"ready")
    process.send_signal(number)
    assert wait_for_line(process.stdout, b"summary") == [b"summary\n"]
    assert process.wait(30) == 2


def test_python_is_interrupted_as_usual(start_lab):
    script = (
        "import time\n"
        "try:\n print('ready', flush=True); time.sleep(99)\n"
        "except KeyboardInterrupt:\n raise SystemExit(9)"
    )
    process = start_lab("--no-rxe", "python3", "-c", script)
    wait_for_line(process.stdout, b"ready")
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 9


def test_a_second_interrupt_powers_off(start_lab):
    process = start_lab("--no-rxe", "sh", "-c", "trap : INT; echo ready; while :; do sleep 1; done")
    wait_for_line(process.stdout, b"ready")
    (qemu,) = children(process.pid)
    process.send_signal(signal.SIGINT)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(5) == 130
    assert not lives(qemu)


def test_a_killed_lab_takes_the_guest_along(start_lab):
    process = start_lab("--no-rxe", "sh", "-c", "echo ready; sleep 999")
    wait_for_line(process.stdout, b"ready")
    (qemu,) = children(process.pid)
    assert b"qemu" in Path(f"/proc/{qemu}/cmdline").read_bytes()
    process.kill()
    wait_until(lambda: not lives(qemu), 10)


def test_a_time_limit_for_the_whole_guest(lab):
    started = time.monotonic()
    done = lab("--no-rxe", "--timeout", "25", "sleep", "600")
    assert done.returncode == 124
    assert b"the time of --timeout is over" in done.stderr
    assert time.monotonic() - started < 40


def test_two_guests_at_once(start_lab):
    both = [start_lab("sh", "-c", f"rdma link; exit {status}") for status in (3, 4)]
    results = [process.communicate(timeout=180) for process in both]
    assert [process.returncode for process in both] == [3, 4], results
    assert all(output.count(b"state ACTIVE") == 2 for output, _ in results)


def test_a_panic_is_the_labs_failure_with_the_kernels_last_lines(lab, tmp_path):
    console = tmp_path / "console.log"
    written = CHECKOUT / "tests" / "lab" / f".written-{os.getpid()}"
    script = f"seq 9999 >{written.name}; echo before; echo c >/proc/sysrq-trigger; sleep 99"
    arguments = ["--no-rxe", "--console", str(console), "sh", "-c", script]
    done = lab(*arguments, cwd=written.parent)
    lines = written.read_text().splitlines()
    written.unlink()
    assert lines == [str(number) for number in range(1, 10000)]
    assert done.returncode == 125
    assert done.stdout == b"before\n"
    assert b"the guest stopped without an exit status" in done.stderr
    assert b"Kernel panic - not syncing: sysrq triggered crash" in done.stderr
    assert str(console).encode() in done.stderr
    assert b"Kernel panic" in console.read_bytes()


def test_a_command_that_does_not_exist(lab):
    done = lab("--no-rxe", "no-such-command")
    assert done.returncode == 127
    assert b"no-such-command: not found" in done.stderr


def test_on_a_terminal(built):
    """Size, colours' condition and line ends are those of the terminal that the lab runs on."""
    script = "stty size <&1; test -t 1 && test -t 2 && echo both; exit 6"
    output, status = _on_terminal([LAB_RUN, "--no-rxe", "sh", "-c", script])
    assert status == 6
    assert b"\r\n33 97\r\nboth\r\n" in output


def test_a_shell(built):
    output, status = _on_terminal([LAB_RUN, "--no-rxe", "--shell"], b"echo $((6*7)); exit 5\r")
    assert status == 5
    assert b"42\r\n" in output


def test_an_unknown_kernel(lab):
    done = lab("--kernel", "2.4", "true")
    assert done.returncode == 125
    assert re.search(rb"no kernel 2\.4: the mirror has .*6\.1", done.stderr)


def test_rxe_pair_makes_and_removes(lab):
    """Idempotent down, two pairs side by side, and nothing left of an up that failed."""
    script = r"""
    pair=plugins/rdma_conformance/fabric/rxe-pair
    ip netns; ls /sys/class/infiniband /sys/class/net | cat
    $pair down left right && $pair down left right && echo down-twice
    $pair up one two rx0 rx1 9000 && $pair up a-name-of-some-length b-name-of-some-length rx2 rx3
    rdma link | grep -c ACTIVE
    ip netns exec one cat /sys/class/net/rp-one/mtu
    $pair up one three rx4 rx5; echo status $?
    $pair up four five rx0 rx6; echo status $?
    $pair up four five rx7 rx7; echo status $?
    $pair up four five x/y rx6; echo status $?
    ip netns exec one ping -c 1 -W 2 192.0.2.2 >/dev/null 2>&1 || echo no-ping
    $pair down one two && $pair down a-name-of-some-length b-name-of-some-length
    echo left: $(ip netns) $(ls /sys/class/infiniband) $(ls /sys/class/net)
    """
    done = lab("sh", "-c", script)
    lines = done.stdout.decode().splitlines()
    assert "down-twice" in lines, done
    after = lines[lines.index("down-twice") + 1 :]
    assert after[:2] == ["4", "9000"]
    assert [line for line in after if line.startswith("status")] == ["status 1"] * 4
    assert after[-1] == "left: lo"
    errors = [e for e in done.stderr.decode().splitlines() if e.startswith("rxe-pair: ")]
    assert len(errors) == 4
    assert "namespace 'one' exists already" in errors[0]
    assert "RDMA device 'rx0' exists already" in errors[1]
    assert re.search(r"rdma link add rx7 .*failed: error: ", errors[2])
    assert "'x/y' is no name" in errors[3]


def test_a_machine_without_qemu_and_apt_is_told_what_it_lacks(lab, tmp_path):
    for name in ("env", "python3"):
        (tmp_path / name).symlink_to(Path("/usr/bin") / name)
    done = lab("true", env={"PATH": str(tmp_path), "HOME": str(Path.home())})
    assert done.returncode == 2
    assert re.search(rb"install what Debian calls\n +qemu-system-x86 +runs the guest", done.stderr)


def test_a_reader_that_goes_away_ends_the_guest(start_lab):
    process = start_lab("--no-rxe", "yes")
    wait_for_line(process.stdout, b"y")
    (qemu,) = children(process.pid)
    process.stdout.close()
    process.stdout = None
    assert process.wait(30) == 141
    assert not lives(qemu)


def _on_terminal(command: list[str], typed: bytes = b"") -> tuple[bytes, int]:
    """Runs ``command`` on a terminal of 33 rows and 97 columns; its output and exit status."""
    controller, terminal = pty.openpty()
    subprocess.run(["stty", "rows", "33", "columns", "97"], stdin=terminal, check=True)
    with subprocess.Popen(
        command,
        cwd=CHECKOUT,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    ) as process:
        os.close(terminal)
        output, end = b"", time.monotonic() + 120
        # Once the command has gone, reading its terminal is an error.
        with contextlib.suppress(OSError):
            while time.monotonic() < end:
                if select.select([controller], [], [], 0.5)[0]:
                    output += os.read(controller, 65536)
                if typed and output.rstrip(b" ").endswith(b"#"):
                    os.write(controller, typed)
                    typed = b""
        process.kill()
    os.close(controller)
    return output, process.returncode
