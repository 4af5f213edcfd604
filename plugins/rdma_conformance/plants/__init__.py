"""Planted faults: ways of a broken driver, played on a working one, to test the suite itself.

Each turns cases of exactly one requirement red. They change nothing of the kernel: an endpoint
asks for other rights than the case says, or reports other facts than it saw. The positive control
of a case is always performed honestly.
"""

from collections.abc import Mapping

from rdma_conformance.plants.kernel import KERNEL
from rdma_conformance.plants.leaks import LEAKS
from rdma_conformance.plants.lifetime import LIFETIME
from rdma_conformance.plants.many import MANY
from rdma_conformance.plants.mappings import MAPPINGS
from rdma_conformance.plants.memlock import MEMLOCK
from rdma_conformance.plants.paging import PAGING
from rdma_conformance.plants.plant import HONEST, Plant
from rdma_conformance.plants.protection import PROTECTION
from rdma_conformance.plants.registration import REGISTRATION
from rdma_conformance.plants.reregistration import REREGISTRATION
from rdma_conformance.plants.transfer import TRANSFER
from rdma_conformance.plants.window import WINDOW
from rdma_conformance.plants.zero_based import ZERO_BASED

AREAS = (
    REGISTRATION,
    MAPPINGS,
    MEMLOCK,
    MANY,
    TRANSFER,
    PROTECTION,
    ZERO_BASED,
    WINDOW,
    LIFETIME,
    REREGISTRATION,
    PAGING,
    KERNEL,
    LEAKS,
)

PLANTS: Mapping[str, Plant] = {plant.name: plant for area in AREAS for plant in area}

__all__ = ["AREAS", "HONEST", "PLANTS", "Plant"]
