"""Which Python runs the endpoint workers: the one that has pyverbs."""

import importlib.util
import shlex
import sys
from pathlib import Path

from rdma_conformance.fabric.settings import FabricError

SYSTEM = Path("/usr/bin/python3")  # that of the distribution, whose python3-pyverbs it is

NO_START = "see that it runs and is Python 3.11 or later (--endpoint-python)"


def choose(asked: str | None) -> str:
    """The endpoint Python for a command line: as asked, this one, or the distribution's."""
    if asked is not None:
        if not Path(asked).is_file():
            raise FabricError(
                f"--endpoint-python {asked}: there is no such file",
                "name a Python that can import pyverbs, such as /usr/bin/python3",
            )
        return shlex.quote(asked)
    if importlib.util.find_spec("pyverbs") is None and SYSTEM.exists():
        return str(SYSTEM)
    return shlex.quote(sys.executable)


def no_pyverbs(python: str, reason: str) -> FabricError:
    """The error for a Python that was tried."""
    return FabricError(
        f"the endpoint worker's Python ({python}) can not import pyverbs ({reason})",
        "install the distribution's package python3-pyverbs and name the Python that it is for: "
        "--endpoint-python /usr/bin/python3",
    )
