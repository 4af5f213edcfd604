"""A guest that dies in the middle of a run that the lab can't go on with, as pytest is but a part
of its command: the results stay, and so does the case's name.
"""

import shutil

import pytest

from rdma_reports.places import cut_off, running_of
from rdma_reports.runfile import read_run

from .conftest import CHECKOUT

pytestmark = pytest.mark.lab

# The kernel panics while cases are asked: when some are done.
SCRIPT = """
pytest conformance/remote --device rxe0 -q --run-file {run_file} &
until [ "$(cat {run_file} 2>/dev/null | wc -l)" -ge 60 ]; do sleep 0.1; done
echo c >/proc/sysrq-trigger
sleep 99
"""


def test_a_panic_costs_the_running_case_and_no_other(lab, tmp_path):
    results = CHECKOUT / "results" / f"cut-off-{tmp_path.parent.name}-{tmp_path.name}"
    results.mkdir(parents=True)
    run_file = results / "run.ndjson"
    try:
        script = SCRIPT.format(run_file=run_file.relative_to(CHECKOUT))
        done = lab("--console", str(tmp_path / "console.log"), "sh", "-c", script)
        assert done.returncode == 125
        assert b"Kernel panic - not syncing: sysrq triggered crash" in done.stderr
        run = read_run(run_file)
        assert len(run.lines) >= 58
        assert not run.complete
        (running,) = running_of(run_file).read_text().split()
        # The panic may come between two cases: then the last one has its result.
        assert cut_off(run_file, run) == ([running] if running != run.lines[-1].case else [])
        assert running.startswith("remote/test_")
    finally:
        shutil.rmtree(results)
