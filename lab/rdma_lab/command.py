"""lab/run: from the command line to an exit status."""

from __future__ import annotations

import os
import platform
import pwd
import signal
import sys
from pathlib import Path

from rdma_lab import hostpackages, kernelbuild
from rdma_lab.aptsources import host_mirror
from rdma_lab.cache import Cache, choose_folder
from rdma_lab.errors import HostNeedsPackages, LabError
from rdma_lab.kernels import version_key
from rdma_lab.options import Options, parse
from rdma_lab.prepared import prepare
from rdma_lab.progress import say
from rdma_lab.survival import run

USAGE, LAB_FAILED = 2, 125


def main(arguments: list[str]) -> int:
    """The exit status of lab/run with ``arguments``."""
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return _main(options)
    except HostNeedsPackages as error:
        say(str(error))
        return USAGE
    except LabError as error:
        say(f"failed: {error}")
        return LAB_FAILED
    except KeyboardInterrupt:
        say("interrupted")
        return 128 + signal.SIGINT
    except BrokenPipeError:
        return 128 + signal.SIGPIPE


def _main(options: Options) -> int:
    if platform.machine() != "x86_64":
        raise LabError(f"the lab's guest is x86_64, this machine is {platform.machine()}")
    user = invoking_user(os.environ)
    cache = Cache(choose_folder(options.cache, os.environ, Path(user.pw_dir)))
    if options.list_kernels:
        return _list_kernels(options, cache)
    owner = (user.pw_uid, user.pw_gid)
    prepared = prepare(options, cache, owner)
    if options.build_only:
        return 0
    hostpackages.provide(hostpackages.RUN)
    return run(options, prepared, cache, owner)


def invoking_user(environment: os._Environ[str] | dict[str, str]) -> pwd.struct_passwd:
    """Whose run this is: under sudo the one who called it, so that results are theirs."""
    if os.geteuid() == 0 and environment.get("SUDO_UID", "0") != "0":
        return pwd.getpwuid(int(environment["SUDO_UID"]))
    return pwd.getpwuid(os.geteuid())


def _list_kernels(options: Options, cache: Cache) -> int:
    hostpackages.provide(hostpackages.BUILD)
    mirror = options.mirror or host_mirror() or ""
    _, found = kernelbuild.read_index(cache.package_index, mirror, all_suites=True)
    for kernel in sorted(found, key=lambda kernel: version_key(kernel.version)):
        print(f"{kernel.upstream:12} {kernel.suite:20} {kernel.release}")
    return 0
