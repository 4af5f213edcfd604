"""Boots one guest for one job, and sees to it that nothing of it stays."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rdma_lab import cpio, modules
from rdma_lab.accelerator import choose, default_cpus
from rdma_lab.building import LAB
from rdma_lab.cache import Cache
from rdma_lab.death import dying_with_parent
from rdma_lab.endmark import new_end_mark
from rdma_lab.errors import GuestDied, LabError
from rdma_lab.job import Job, Stream, guest_folder, passed_on
from rdma_lab.machine import Machine, Sockets, first_files, qemu_command, run_files
from rdma_lab.options import Options
from rdma_lab.prepared import Prepared
from rdma_lab.progress import say
from rdma_lab.relay import Ended, HostEnds, Limits, Relay, window_size

BOOT_SECONDS = 120.0
_CRY = re.compile(r"Kernel panic|Oops|BUG:|kernel BUG")
_SHOWN_OF_CRY, _SHOWN_WITHOUT = 40, 15
_STREAM_NAMES = ("terminal", "control", "stdin", "stdout", "stderr")
_SCRIPTS = {
    "init": LAB / "guest" / "init",
    "session": LAB / "guest" / "session",
    "heart": LAB / "guest" / "heart",
    "rxe-pair": LAB.parent / "plugins" / "rdma_conformance" / "fabric" / "rxe-pair",
}


def run(
    options: Options,
    prepared: Prepared,
    cache: Cache,
    owner: tuple[int, int],
    *,
    console: Path,
    tickets: Path,
    timeout: float | None,
) -> Ended:
    """Runs the command in a guest; how it ended. Raises LabError when the lab failed.

    The guest's console is appended to the file ``console``; ``tickets`` is the folder that outlives
    it; ``timeout`` is in seconds. Raises GuestDied when it is the guest that failed.
    """
    job = make_job(options, dict(os.environ))
    # qemu makes the files that the guest writes: under sudo they are to be the caller's.
    user = owner if os.geteuid() == 0 and owner[0] != 0 else None
    archive = cpio.archive(
        [
            *_kernel_files(options.module, prepared),
            *run_files(job, {name: path.read_bytes() for name, path in _SCRIPTS.items()}),
        ]
    )
    with contextlib.ExitStack() as stack:
        initramfs = stack.enter_context(_in_memory("initramfs", archive))
        ends, guest_ends = _socket_pairs(stack)
        kernel = prepared.kernel_folder / "vmlinux"
        accelerator = choose(cache.kvm_probe, kernel, user)
        machine = Machine(
            accelerator=accelerator,
            cpus=options.cpus or default_cpus(accelerator, os.cpu_count() or 1),
            memory=options.memory,
            kernel=kernel,
            initramfs=Path(f"/proc/self/fd/{initramfs}"),
            root=prepared.root / "root.erofs",
            modules=prepared.kernel_folder / "modules.erofs",
            checkout=LAB.parent,
            bytecode=prepared.bytecode,
            tickets=tickets,
            console=console,
            sockets=Sockets(**{name: end.fileno() for name, end in guest_ends.items()}),
        )
        say(
            f"booting kernel {prepared.kernel.upstream} on {accelerator.label},"
            f" {machine.cpus} CPU{'s' if machine.cpus > 1 else ''}, {machine.memory} MiB"
        )
        command = qemu_command(machine)
        if options.verbose:
            say(shlex.join(command))
        return _supervise(
            command,
            job,
            limits=Limits(BOOT_SECONDS, timeout, options.silence if options.survive else None),
            initramfs=initramfs,
            ends=ends,
            guest_ends=guest_ends,
            user=user,
        )


def make_job(options: Options, environment: dict[str, str]) -> Job:
    """The job that ``options`` asks for, with this process's streams as they are."""
    outputs = [Stream.TERMINAL if os.isatty(number) else Stream.PIPE for number in (1, 2)]
    stdin = Stream.NOTHING
    if options.shell or options.stdin:
        interactive = os.isatty(0) and outputs[0] is Stream.TERMINAL
        stdin = Stream.TERMINAL if interactive else Stream.PIPE
    return Job(
        command=("bash", "-i") if options.shell else options.command,
        folder=guest_folder(LAB.parent, Path.cwd().resolve()),
        environment=passed_on(environment),
        stdin=stdin,
        stdout=outputs[0],
        stderr=outputs[1],
        window=window_size(),
        fabric=options.rxe,
        mtu=options.mtu,
        end_mark=new_end_mark(),
        live=options.shell,
    )


def last_words(console: bytes) -> list[str]:
    """The lines at the end of a guest's console log, none when it is empty.

    That is from the kernel's first cry on, which may be long before its end, and from its last one
    on; a few lines if it died without any.
    """
    lines = console.decode(errors="replace").splitlines()
    cries = [number for number, line in enumerate(lines) if _CRY.search(line)]
    shown = range(len(lines))[-_SHOWN_WITHOUT:]
    if cries:
        shown = sorted({at + more for at in (cries[0], cries[-1]) for more in range(_SHOWN_OF_CRY)})
    return [lines[at].rstrip() for at in shown if at < len(lines) and lines[at].strip()]


def _supervise(
    command: list[str],
    job: Job,
    *,
    limits: Limits,
    initramfs: int,
    ends: HostEnds,
    guest_ends: dict[str, socket.socket],
    user: tuple[int, int] | None,
) -> Ended:
    numbers = (initramfs, *(end.fileno() for end in guest_ends.values()))
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            pass_fds=numbers,
            # A terminal's Ctrl-C goes to the whole group; qemu is not to hear of it.
            process_group=0,
            preexec_fn=dying_with_parent(user),  # noqa: PLW1509 - no thread runs here
        ) as qemu,
    ):
        try:
            for end in guest_ends.values():
                end.close()
            streams = {"stdin": job.stdin, "stdout": job.stdout, "stderr": job.stderr}
            return Relay(
                ends,
                process=qemu.pid,
                streams=streams,
                mark=job.end_mark,
                limits=limits,
                say=say,
            ).run()
        except LabError as error:
            guilty = isinstance(error, GuestDied) and error.guilty and not qemu.poll()
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
            told = f"{error}" + (f"\nqemu: {said}" if said else "")
            if qemu.returncode is not None and qemu.returncode < 0:
                told += f"\nqemu was killed by {signal.Signals(-qemu.returncode).name}"
            if isinstance(error, GuestDied):
                raise GuestDied(told, guilty=guilty) from error
            raise LabError(told) from error
        finally:
            qemu.kill()


def _kernel_files(module: Path | None, prepared: Prepared) -> list[cpio.Entry]:
    folder = prepared.kernel_folder / "modules"
    order = json.loads((folder / "order.json").read_text())
    images = {
        part: {name: (folder / f"{name}.ko").read_bytes() for name in names}
        for part, names in order.items()
    }
    if module:
        image, name = modules.read_module(module), modules.module_name(module.name)
        modules.check_vermagic(module, image, next(iter(images["boot"].values())))
        part = "boot" if name in images["boot"] else "fabric"
        images[part][name] = image
        say(f"module {name} from {module}")
    busybox = (prepared.root / "busybox").read_bytes()
    return first_files(busybox, images["boot"], images["fabric"])


@contextlib.contextmanager
def _in_memory(name: str, data: bytes) -> Iterator[int]:
    """A file that is in no folder, so that there is nothing to leave behind."""
    number = os.memfd_create(name)
    try:
        os.write(number, data)
        yield number
    finally:
        os.close(number)


def _socket_pairs(stack: contextlib.ExitStack) -> tuple[HostEnds, dict[str, socket.socket]]:
    host, guest = {}, {}
    for name in _STREAM_NAMES:
        host[name], guest[name] = socket.socketpair()
        stack.enter_context(host[name])
        stack.enter_context(guest[name])
    return HostEnds(**host), guest
