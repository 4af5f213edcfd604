"""The fabric: how the two ends of a connection meet, and what is asked of them."""

from rdma_conformance.fabric.fabric import Fabric
from rdma_conformance.fabric.opening import open_fabric
from rdma_conformance.fabric.settings import FabricError, FabricSettings

__all__ = ["Fabric", "FabricError", "FabricSettings", "open_fabric"]
