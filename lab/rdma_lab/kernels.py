"""Which Debian kernels there are, and which of them a request means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rdma_lab.errors import LabError

SUITES = (
    "bookworm",
    "bookworm-backports",
    "trixie",
    "trixie-backports",
    "forky",
)
DEFAULT_SUITE = "forky"
_IMAGE = re.compile(r"linux-image-(\d[\w.~+-]*-amd64)")
_NOT_GENERIC = re.compile(r"-(?:rt|cloud)-|-(?:rt|cloud)-?amd64$")
# From 7.3 an image is split into several packages; before, linux-image holds everything.
PARTS = ("linux-image", "linux-binary", "linux-modules", "linux-base")


@dataclass(frozen=True)
class KernelPackage:
    """One kernel of one suite: ``release`` as uname -r says it, ``version`` of its package."""

    release: str
    version: str
    suite: str

    @property
    def upstream(self) -> str:
        """The kernel's own version, such as 6.12.95."""
        return re.split(r"[-~+]", self.version)[0]


def release_of(package: str) -> str | None:
    """The kernel release of a ``linux-image-*`` package, or None for others and variants."""
    match = _IMAGE.fullmatch(package)
    if not match or _NOT_GENERIC.search(package):
        return None
    return match.group(1)


def version_key(version: str) -> tuple[tuple[int, ...], str]:
    """Orders kernel versions: numbers as numbers."""
    upstream = re.split(r"[-~+]", version)[0]
    return tuple(int(part) for part in re.findall(r"\d+", upstream)), version


def matches(request: str, release: str, version: str) -> bool:
    """Whether ``--kernel REQUEST`` means this kernel: its release, or the beginning of its version.

    6.1 means 6.1.192, not 6.12.95.
    """
    upstream = re.split(r"[-~+]", version)[0]
    return request in (release, upstream, version) or upstream.startswith(request + ".")


def choose(request: str | None, kernels: list[KernelPackage]) -> KernelPackage:
    """The newest of ``kernels`` that ``request`` means; of the default suite without a request.

    Raises LabError naming those there are.
    """
    if request is None:
        fitting = [kernel for kernel in kernels if kernel.suite == DEFAULT_SUITE]
    else:
        fitting = [k for k in kernels if matches(request, k.release, k.version)]
    if not fitting:
        series = {".".join(kernel.upstream.split(".")[:2]) for kernel in kernels}
        known = ", ".join(sorted(series, key=version_key)) or "none"
        raise LabError(
            f"no kernel {request or 'in ' + DEFAULT_SUITE}: the mirror has {known}"
            " (lab/run --list-kernels)"
        )
    return max(fitting, key=lambda kernel: version_key(kernel.version))
