"""The only place that imports pyverbs: releases 50 to 65 look the same from outside it.

What goes in and comes out are builtin types and the few classes here; a verb that is refused
raises `VerbsError`.
"""

from rdma_conformance.endpoint.verbs.commands import Commands, Reregistration
from rdma_conformance.endpoint.verbs.device import (
    Completions,
    Device,
    SharedReceives,
    collect,
    rdma_core,
)
from rdma_conformance.endpoint.verbs.errors import VerbsError
from rdma_conformance.endpoint.verbs.memory import (
    HAS_IOVA,
    advise,
    allocate_domain,
    deallocate_domain,
    deregister,
    register,
    register_everything,
    reregister,
)
from rdma_conformance.endpoint.verbs.queue_pair import QueuePair, WorkRequest, receive_request
from rdma_conformance.endpoint.verbs.window import (
    BindingCompletions,
    BindingQueuePair,
    allocate_window,
    bind_info,
    deallocate_window,
)

__all__ = [
    "HAS_IOVA",
    "BindingCompletions",
    "BindingQueuePair",
    "Commands",
    "Completions",
    "Device",
    "QueuePair",
    "Reregistration",
    "SharedReceives",
    "VerbsError",
    "WorkRequest",
    "advise",
    "allocate_domain",
    "allocate_window",
    "bind_info",
    "collect",
    "deallocate_domain",
    "deallocate_window",
    "deregister",
    "rdma_core",
    "receive_request",
    "register",
    "register_everything",
    "reregister",
]
