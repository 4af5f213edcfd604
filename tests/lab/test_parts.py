"""The lab's pure parts: command line, package sources, cache key, kernel choice, quoting."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest
from rdma_lab import accelerator, aptsources, cache, cpio, debian, job, kernels, modules, options
from rdma_lab.endmark import EndMarkedStream
from rdma_lab.errors import LabError
from rdma_lab.kernels import KernelPackage
from rdma_lab.prepared import cached_kernel, package_list

# Options.


def test_the_command_keeps_its_own_options():
    found = options.parse(["--kernel", "6.12", "pytest", "-k", "x", "--mtu", "9"], host_cpus=8)
    assert found.command == ("pytest", "-k", "x", "--mtu", "9")
    assert (found.kernel, found.mtu, found.memory, found.rxe) == ("6.12", 1500, 2048, True)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--cpus", "9", "true"],
        ["--cpus", "0", "true"],
        ["--memory", "2", "true"],
        ["--memory", "100M", "true"],
        ["--mtu", "100", "true"],
        ["--timeout", "-1", "true"],
        ["--timeout", "nan", "true"],
        ["--module", "/nowhere.ko", "true"],
        ["--shell", "true"],
        ["--kern", "6.1", "true"],
    ],
    ids=" ".join,
)
def test_a_wrong_option_is_a_usage_error(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        options.parse(arguments, host_cpus=8)
    assert ended.value.code == 2
    assert "lab/run: error:" in capsys.readouterr().err


def test_sizes():
    assert options.parse(["--memory", "3G", "true"]).memory == 3072
    assert options.parse(["--memory", "700m", "true"]).memory == 700


# Package sources.

DEB822 = """\
# a comment
Types: deb deb-src
URIs: http://mirror.example/debian/
Suites: trixie trixie-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
URIs: http://mirror.example/old
Suites: bookworm
Components: main
Enabled: no
"""


def test_deb822_sources():
    assert aptsources.parse_deb822(DEB822) == [
        aptsources.Source("http://mirror.example/debian/", "trixie", ("main", "contrib")),
        aptsources.Source("http://mirror.example/debian/", "trixie-updates", ("main", "contrib")),
    ]
    assert aptsources.debian_mirror(aptsources.parse_deb822(DEB822)) == (
        "http://mirror.example/debian"
    )


def test_one_line_sources():
    text = (
        "# deb http://off.example/debian forky main\n"
        "deb-src http://src.example/debian forky main\n"
        "deb [arch=amd64 signed-by=/k] https://third.example/apt stable-x main\n"
        "deb\thttp://sec.example/debian-security bookworm-security main # later\n"
        "deb [arch=amd64] http://mirror.example/debian bookworm main contrib # why\n"
    )
    sources = aptsources.parse_one_line(text)
    assert [source.uri for source in sources] == [
        "https://third.example/apt",
        "http://sec.example/debian-security",
        "http://mirror.example/debian",
    ]
    assert sources[-1].components == ("main", "contrib")
    assert aptsources.debian_mirror(sources) == "http://mirror.example/debian"


def test_a_machine_without_debian_sources_has_no_mirror(tmp_path):
    assert aptsources.host_mirror(tmp_path) is None
    (tmp_path / "sources.list").write_text("deb http://mirror.example/ubuntu noble main\n")
    assert aptsources.host_mirror(tmp_path) is None


def test_only_an_expired_release_file_is_forgiven():
    expired = "E: Release file for http://m/InRelease is expired (invalid since 23d 9h)."
    follows = "E: apt-get update --error-on=any failed\nE: mmdebstrap failed to run"
    assert debian.is_expired_release(f"{expired} Updates will not be applied.\n{follows}")
    assert not debian.is_expired_release(f"{expired}\nE: The repository is not signed.\n{follows}")
    assert not debian.is_expired_release("E: Unable to locate package x")


# Cache.


def test_the_root_key_follows_what_is_installed():
    project = '[project]\nname = "p"\ndependencies = ["a"]\n[tool.ruff]\nline-length = {}\n'
    key = cache.root_key(["a", "b"], project.format(80), "forky", [b"source"])
    assert key == cache.root_key(["b", "a"], project.format(100), "forky", [b"source"])
    assert key != cache.root_key(["a"], project.format(80), "forky", [b"source"])
    assert key != cache.root_key(["a", "b"], project.format(80), "sid", [b"source"])
    assert key != cache.root_key(["a", "b"], project.format(80), "forky", [b"other"])
    assert key != cache.root_key(["a", "b"], project.replace('"a"', '"c"'), "forky", [b"source"])


def test_the_cache_folder(tmp_path):
    home = Path("/home/x")
    assert cache.choose_folder(None, {}, home) == Path("/home/x/.cache/rdma-conformance/lab")
    assert cache.choose_folder(None, {"XDG_CACHE_HOME": "/c"}, home) == Path(
        "/c/rdma-conformance/lab"
    )
    assert cache.choose_folder(None, {"RDMA_CONFORMANCE_CACHE": "/d"}, home) == Path("/d")
    assert cache.choose_folder(tmp_path, {"RDMA_CONFORMANCE_CACHE": "/d"}, home) == tmp_path


def test_only_complete_things_are_in_the_cache(tmp_path):
    place = cache.Cache(tmp_path)
    place.kernel("7.2.12-x", "key").mkdir(parents=True)
    assert place.kernels("key") == []
    built = tmp_path / "building" / "kernel"
    built.mkdir(parents=True)
    kernel = KernelPackage("7.2.12-x", "7.2.12-1", "forky")
    cache.write_kernel(built, kernel)
    cache.put_in_place(built, place.kernel("7.2.12-x", "key"))
    assert place.kernels("key") == [kernel]
    assert place.kernels("other") == []
    cache.clear_temporary(place)
    assert list(place.temporary.iterdir()) == []


def test_the_package_list():
    assert package_list("# why\npython3\n\nkmod # tool\n") == ["python3", "kmod"]


# Kernels.

KERNELS = [
    KernelPackage("6.1.0-50-amd64", "6.1.192-1", "bookworm"),
    KernelPackage("6.12.95+deb12-amd64", "6.12.95-1~bpo12+1", "bookworm-backports"),
    KernelPackage("6.12.117+deb13-amd64", "6.12.117-1", "trixie"),
    KernelPackage("7.2.12+deb14-amd64", "7.2.12-1", "forky"),
    KernelPackage("7.3.4+deb13-amd64", "7.3.4-1~bpo13+1", "trixie-backports"),
]


@pytest.mark.parametrize(
    ("request_", "release"),
    [
        (None, "7.2.12+deb14-amd64"),
        ("6.1", "6.1.0-50-amd64"),
        ("6.12", "6.12.117+deb13-amd64"),
        ("6.12.95", "6.12.95+deb12-amd64"),
        ("6", "6.12.117+deb13-amd64"),
        ("7.3", "7.3.4+deb13-amd64"),
        ("7.2.12+deb14-amd64", "7.2.12+deb14-amd64"),
    ],
)
def test_the_newest_fitting_kernel(request_, release):
    assert kernels.choose(request_, KERNELS).release == release
    found = cached_kernel(request_, KERNELS)
    assert found is not None
    assert found.release == release


def test_an_unknown_kernel_names_those_there_are():
    with pytest.raises(LabError, match=r"no kernel 5\.4: .* 6\.1, 6\.12, 7\.2, 7\.3 "):
        kernels.choose("5.4", KERNELS)


def test_variants_are_no_kernels_of_ours():
    assert kernels.release_of("linux-image-6.1.0-50-amd64") == "6.1.0-50-amd64"
    for name in (
        "linux-image-amd64",
        "linux-image-6.1.0-50-rt-amd64",
        "linux-image-6.1.0-50-cloud-amd64",
        "linux-image-7.2.12+deb14-rt-amd64",
        "linux-image-7.2.12+deb14-amd64-dbg",
        "linux-image-7.2.12+deb14-amd64-unsigned",
    ):
        assert kernels.release_of(name) is None


def test_modules_load_after_what_they_need():
    dep = (
        "kernel/a/rdma_rxe.ko.xz: kernel/b/ib-core.ko.xz kernel/b/udp_tunnel.ko.xz\n"
        "kernel/b/ib-core.ko.xz:\nkernel/b/udp_tunnel.ko.xz:\n"
    )
    tree = modules.parse_tree(Path("/m"), dep, "kernel/c/virtio-pci.ko\n")
    order = modules.load_order(tree, ("virtio_pci", "rdma_rxe"))
    assert order == ("udp_tunnel", "ib_core", "rdma_rxe")
    with pytest.raises(LabError, match="no module veth"):
        modules.load_order(tree, ("veth",))


def test_a_module_for_another_kernel_is_refused():
    ours = b"\x7fELF\0vermagic=7.2.12+deb14-amd64 SMP mod_unload \0depends=\0"
    theirs = ours.replace(b"7.2.12", b"6.12.9")
    modules.check_vermagic(Path("x.ko"), ours, ours)
    with pytest.raises(LabError, match=r"'6\.12\.9\S* SMP .*the guest runs '7\.2\.12"):
        modules.check_vermagic(Path("x.ko"), theirs, ours)


# Job and streams.


def _job(**changes):
    values = {
        "command": ("true",),
        "folder": PurePosixPath("/suite"),
        "environment": (),
        "stdin": job.Stream.NOTHING,
        "stdout": job.Stream.PIPE,
        "stderr": job.Stream.PIPE,
        "window": (24, 80),
        "fabric": True,
        "mtu": 1500,
        "end_mark": "mark",
        "live": False,
    }
    return job.Job(**values | changes)


def test_the_command_is_quoted(tmp_path):
    words = ("printf", r"[%s]\n", "", "a b", "$HOME `x`", "it's", "new\nline", "\udcff", "*")
    script = job.command_script(_job(command=words)).replace(b"/run/", f"{tmp_path}/".encode())
    done = subprocess.run(["sh"], input=script, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"[]\n[a b]\n[$HOME `x`]\n[it's]\n[new\nline]\n[\xff]\n[*]\n"


def test_settings_are_quoted():
    text = job.settings(_job(environment=(("TERM", "x'; exit 3"),), folder="/suite/a b"))
    script = text + b'printf "%s|%s" "$TERM" "$cwd"'
    done = subprocess.run(["sh"], input=script, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"x'; exit 3|/suite/a b"


def test_a_nul_byte_is_refused():
    with pytest.raises(LabError, match="NUL"):
        job.command_script(_job(command=("echo", "a\0b")))


def test_the_folder_in_the_guest():
    assert str(job.guest_folder(Path("/c"), Path("/c/tests/x"))) == "/suite/tests/x"
    assert str(job.guest_folder(Path("/c"), Path("/elsewhere"))) == "/suite"


def test_only_the_terminals_variables_are_passed_on():
    found = dict(job.passed_on({"TERM": "xterm", "CI": "true", "SECRET": "s", "PATH": "/x"}))
    assert found == {"TERM": "xterm", "CI": "true"}


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_end_mark_is_found_across_pieces(size):
    data = b"some <e <en output<end>late"
    stream = EndMarkedStream(b"<end>")
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert b"".join(map(stream.feed, pieces)) == b"some <e <en output"
    assert stream.ended


def test_only_a_possible_mark_is_held_back():
    stream = EndMarkedStream(b"<end>")
    assert stream.feed(b"line\n") == b"line\n"
    assert stream.feed(b"x<en") == b"x"
    assert stream.close() == b"<en"


# Machine.


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("QEMU emulator version 7.2.22 (Debian)", accelerator.Accelerator.TCG),
        ("QEMU emulator version 8.0.5", accelerator.Accelerator.TCG),
        ("QEMU emulator version 8.1.0", accelerator.Accelerator.TCG_PARALLEL),
        ("QEMU emulator version 10.0.2", accelerator.Accelerator.TCG_PARALLEL),
        ("something else", accelerator.Accelerator.TCG),
    ],
)
def test_emulation_on_several_threads_needs_a_qemu_that_does_it_right(version, expected):
    assert accelerator.emulation(version) is expected


def test_an_archive_that_the_systems_cpio_reads(tmp_path):
    data = cpio.archive(
        [
            cpio.directory("d"),
            cpio.regular("d/file", b"12345", 0o755),
            cpio.symlink("d/link", "file"),
        ]
    )
    subprocess.run(
        ["busybox", "cpio", "-i", "-d"], input=data, cwd=tmp_path, check=True, capture_output=True
    )
    assert (tmp_path / "d/file").read_bytes() == b"12345"
    assert (tmp_path / "d/file").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "d/link").readlink() == Path("file")
