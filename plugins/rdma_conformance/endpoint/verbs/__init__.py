"""The only place that imports pyverbs: releases 50 to 65 look the same from outside it.

What goes in and comes out are builtin types and the few classes here; a verb that is refused
raises `VerbsError`.
"""

from rdma_conformance.endpoint.verbs.device import (
    HAS_IOVA,
    Completions,
    Device,
    SharedReceives,
    allocate_domain,
    collect,
    deregister,
    rdma_core,
    register,
)
from rdma_conformance.endpoint.verbs.errors import VerbsError
from rdma_conformance.endpoint.verbs.queue_pair import QueuePair, WorkRequest, receive_request

__all__ = [
    "HAS_IOVA",
    "Completions",
    "Device",
    "QueuePair",
    "SharedReceives",
    "VerbsError",
    "WorkRequest",
    "allocate_domain",
    "collect",
    "deregister",
    "rdma_core",
    "receive_request",
    "register",
]
