"""The command-line options, and what they mean as one frozen value."""

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import pytest

from rdma_conformance import twice
from rdma_conformance.plants import PLANTS
from rdma_conformance.visible import visible

DEFAULT_BOUND_S = 30.0
LONGEST_BOUND_S = 86400.0  # a worker can not wait for ever: asked to, it looked like a crash
DEFAULT_PORT = 1
DEFAULT_SEED = 1
PROFILES = ("quick", "standard", "exhaustive")  # each asks all that those before it ask
DEFAULT_PROFILE = "standard"


@dataclass(frozen=True, slots=True)
class Options:
    """A run as it was asked for; paths are absolute, `bound_s` is in seconds."""

    device: str | None
    peer: str | None
    port: int
    gid_index: int | None
    endpoint_python: str | None
    setup_rxe: bool
    list_devices: bool
    run_file: Path | None  # None: named after the device, in `results`
    results: Path
    deviations: tuple[Path, ...]
    allow_hazard: bool
    profile: str
    bound_s: float
    seed: int
    twice: str  # of the form twice.FORM
    plant: str | None
    resume: Path | None = None
    last_words: Path | None = None


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("rdma-conformance", "RDMA conformance")
    add = group.addoption
    add(
        "--device",
        metavar="NAME",
        help="the RDMA device under test, as `rdma link` names it (rxe0, mlx5_0). "
        "--list-devices shows those there are",
    )
    add(
        "--peer",
        metavar="WHERE",
        help="the other end: a device of this host (rxe1), 'loopback', 'netns=NAME//DEVICE', or "
        "'ssh=HOST//DEVICE'. Default: a device of the same driver in another network namespace "
        "if one answers, else loopback",
    )
    add(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        metavar="N",
        help="port of the device (default: %(default)s)",
    )
    add(
        "--gid-index",
        type=int,
        metavar="N",
        help="GID index of the device's port. Default: chosen by type (RoCE v2 IPv4 first)",
    )
    add(
        "--endpoint-python",
        metavar="PATH",
        help="the Python that has pyverbs, for the endpoint workers (default: this one)",
    )
    add(
        "--setup-rxe",
        action="store_true",
        help="make two network namespaces with an rxe device each for this run, and remove them "
        "at its end; needs root and a loaded rdma_rxe. The first one is tested: leave --device out",
    )
    add(
        "--list-devices",
        action="store_true",
        help="list this host's RDMA devices with driver, state and GIDs, then exit",
    )
    add(
        "--run-file",
        type=Path,
        metavar="PATH",
        help="where to write the run file, NDJSON (default: results/DEVICE.ndjson)",
    )
    add(
        "--resume",
        type=Path,
        metavar="RUN_FILE",
        help="go on with the run that wrote RUN_FILE and did not end, on the same device and with "
        "the same options: what has a result is not asked again. It goes on in one process",
    )
    add(
        "--last-words",
        type=Path,
        metavar="FILE",
        help="with --resume: what the kernel said when it died, as of a serial console. Then the "
        "case that it died of is a CRASH; else that is asked once more, last",
    )
    add(
        "--deviations",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="more known deviations (TOML), beside those that come with the suite; repeatable",
    )
    add(
        "--profile",
        choices=PROFILES,
        default=DEFAULT_PROFILE,
        help="how much to ask: quick (the first cases of each rule, for a smoke test), standard, "
        "or exhaustive (also what takes minutes or exhausts the device) (default: %(default)s)",
    )
    add(
        "--allow-hazard",
        action="store_true",
        help="also ask what can take a broken kernel down; those cases run last. "
        "Only on a machine that may crash, like the lab's",
    )
    add(
        "--bound",
        type=float,
        default=DEFAULT_BOUND_S,
        metavar="SECONDS",
        help="how long a case may take before it counts as hanging (default: %(default)s)",
    )
    add(
        "--seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help="seed of the bytes that the cases carry (default: %(default)s)",
    )
    add(
        "--twice",
        default=twice.DEFAULT,
        metavar="N|N%|all|0",
        help="how many of the cases, drawn by --seed, are asked twice: when the two answers do not "
        "agree the case is unstable and has the worse verdict. Hazards never are; what takes long "
        "only by 'all' (default: 1%%, rounded up)",
    )
    add(
        "--plant",
        metavar="NAME",
        help="for tests of the suite itself: make the endpoints misbehave in one known way, as "
        "`rdma-conformance faults` lists them. Such a run is never CONFORMING",
    )


def read_options(config: pytest.Config) -> Options:
    """The options of this run. Raises pytest.UsageError on a value that can't be meant."""
    get = config.getoption
    bound_s = get("--bound")
    if not 0 < bound_s <= LONGEST_BOUND_S:
        raise pytest.UsageError(
            f"--bound {bound_s:g}: give a number of seconds above 0, {LONGEST_BOUND_S:g} at most"
        )
    if get("--port") < 1:
        raise pytest.UsageError(f"--port {get('--port')}: ports are counted from 1")
    if get("--device") == "":
        raise pytest.UsageError("--device is empty: name a device, as --list-devices shows it")
    if (plant := get("--plant")) is not None and plant not in PLANTS:
        near = get_close_matches(plant, PLANTS, n=3, cutoff=0.5)
        mend = f"did you mean {' or '.join(near)}?" if near else "see `rdma-conformance faults`"
        raise pytest.UsageError(visible(f"--plant {plant}: there is no such fault: {mend}"))
    if get("--setup-rxe") and get("--device"):
        raise pytest.UsageError(
            f"--setup-rxe makes the devices that are asked: leave --device {get('--device')} out"
        )
    if not twice.FORM.fullmatch(get("--twice")):
        raise pytest.UsageError(
            f"--twice {get('--twice')}: give a number of cases, a share such as 5%, all, or 0"
        )
    for path in get("--deviations"):
        if not path.is_file():
            raise pytest.UsageError(visible(f"--deviations {path}: there is no such file"))
    base = config.invocation_params.dir
    run_file, resume, last_words = get("--run-file"), get("--resume"), get("--last-words")
    if resume is not None:
        if run_file is not None and base / run_file != base / resume:
            raise pytest.UsageError(
                f"--resume {resume} goes on in that file: leave --run-file {run_file} out"
            )
        run_file = resume
    elif last_words is not None:
        raise pytest.UsageError("--last-words is for a run that goes on: give --resume RUN_FILE")
    return Options(
        device=get("--device"),
        peer=get("--peer"),
        port=get("--port"),
        gid_index=get("--gid-index"),
        endpoint_python=get("--endpoint-python"),
        setup_rxe=get("--setup-rxe"),
        list_devices=get("--list-devices"),
        run_file=base / run_file if run_file else None,
        results=base / "results",
        deviations=tuple(base / path for path in get("--deviations")),
        allow_hazard=get("--allow-hazard"),
        profile=get("--profile"),
        bound_s=bound_s,
        seed=get("--seed"),
        twice=get("--twice"),
        plant=get("--plant"),
        resume=base / resume if resume else None,
        last_words=base / last_words if last_words else None,
    )
