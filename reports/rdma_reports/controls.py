"""Whether each refusal of a run was asked after its positive control had succeeded.

The oracle says which cases need one: what the run file says of itself is held against it.
"""

import importlib.metadata
from collections.abc import Iterator, Mapping

from conformance.spec import oracle
from conformance.spec.model import Capabilities, Case
from rdma_conformance.catalogue import load_catalogue
from rdma_conformance.suites import all_cases
from rdma_reports.runfile import Run

JUDGED = frozenset({"PASS", "NOTE", "DEVIATION", "FIXED"})  # by the answer of the driver
_SHOWN = 3


def uncontrolled(run: Run, cases: Mapping[str, Case]) -> Iterator[str]:
    """The ids of judged refusals whose control did not succeed; `cases` are those of the suite.

    A device that does not claim what a case needs was not asked, so that it needs no control.
    """
    known = run.header.capabilities
    caps = Capabilities(known["claims"], known["denials"])
    for name, result in run.results.items():
        if result.verdict not in JUDGED or result.control == "succeeded" or name not in cases:
            continue
        expectation = oracle.expect(cases[name], caps, result.seed)
        if expectation.control is not None and expectation.unclaimed is None:
            yield name


def faults(run: Run, cases: Mapping[str, Case]) -> list[str]:
    """What is wrong with the controls and the counts of a run that counted them, in words."""
    if run.footer is None or run.footer.checks is None:
        return []
    found = []
    if dict(run.footer.checks) != dict(run.checks):
        found.append(f"the footer counts {run.footer.checks}, and the lines give {run.checks}")
    if names := list(uncontrolled(run, cases)):
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        found.append(
            f"{len(names)} refusals were judged without a positive control that succeeded: "
            f"{', '.join(names[:_SHOWN])}{more}"
        )
    return found


def suite_cases(run: Run) -> Mapping[str, Case]:
    """The cases of the suite that is installed, if that is the one that ran; else none."""
    suite = importlib.metadata.version("rdma-conformance")
    ran = (run.header.suite, run.header.catalogue)
    return all_cases() if ran == (suite, load_catalogue().digest) else {}
