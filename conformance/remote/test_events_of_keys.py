"""Is the consumer told of a key that is refused for itself, its range or its domain?"""

from dataclasses import replace

from conformance.remote.operations import NAMING
from conformance.spec.model import Key
from conformance.spec.vocabulary import Operation
from rdma_conformance.suite import asks


@asks(
    "EVENT-ACCESS-ERR",
    cases=[
        replace(operation, await_event=True, **fault)
        for operation in NAMING
        if operation.operation is not Operation.WRITE_IMM  # its receive tells
        for fault in (
            {"rkey_xor": 0xFF},
            {"rkey": Key.ZERO},
            {"rkey": Key.OTHER_DOMAIN},
            {"remote_offset": 4096},
        )
    ],
)
def test_a_refused_key_is_told(case, verify):
    verify(case)
