"""A run that was killed leaves namespaces and devices behind, and the next one takes them away."""

import shutil

import pytest

from .conftest import CHECKOUT

pytestmark = pytest.mark.lab

SCRIPT = """
set -- -q --setup-rxe -p no:cacheprovider
pytest "$@" --run-file {results}/killed.ndjson conformance/remote & killed=$!
until [ "$(cat {results}/killed.ndjson 2>/dev/null | wc -l)" -ge 20 ]; do sleep 0.1; done
kill -9 $killed
echo after-the-kill: $(ip netns list | wc -l) $(ls /sys/class/infiniband | wc -l)
# Of a kill in the middle of the setup: the links are not in the namespaces yet.
ip netns add rdmac-4194305-77-a; ip netns add rdmac-4194305-77-b
half=rp-$(printf %s rdmac-4194305-77-a | cksum | cut -d ' ' -f 1)
ip link add "$half" type veth peer name rp-half
pytest "$@" --run-file {results}/next.ndjson conformance/remote/test_events.py; echo status $?
echo left: $(ip netns list) $(ls /sys/class/infiniband) $(ls /sys/class/net)
"""


def test_the_next_run_removes_what_a_killed_one_left(lab, tmp_path):
    results = CHECKOUT / "results" / f"leftovers-{tmp_path.parent.name}-{tmp_path.name}"
    results.mkdir(parents=True)
    try:
        script = SCRIPT.replace("{results}", str(results.relative_to(CHECKOUT)))
        done = lab("--no-rxe", "sh", "-c", script)
    finally:
        shutil.rmtree(results)
    said = done.stdout.decode()
    assert "after-the-kill: 2 2\n" in said, done
    assert "\nstatus 0\n" in said
    assert said.endswith("\nleft: lo\n")
