"""What a pair and its ends agree on, wherever they live."""

from typing import Any

Case = dict[str, Any]  # as `conformance.spec.model.wire` makes it

RECEIVES = 2  # posted by the responder for every transfer
SPARE = 64  # bytes of the second receive's buffer
INLINE = 64  # bytes that the cases send inline
SEGMENTS = 3  # entries of their longest scatter/gather list
NONE = "none"  # a fact that there was nothing to see of
COMPLETION_S = 10.0  # longer than the retries of a queue pair with timeout 14 and retry_cnt 7
