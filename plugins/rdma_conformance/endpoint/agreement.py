"""What a pair and its ends agree on, wherever they live."""

from typing import Any

Case = dict[str, Any]  # as `conformance.spec.model.wire` makes it

RECEIVES = 2  # posted by the responder for every transfer
SPARE = 64  # bytes of the second receive's buffer
NONE = "none"  # a fact that there was nothing to see of
COMPLETION_S = 10.0  # longer than the retries of a queue pair with timeout 14 and retry_cnt 7
