"""What a pair and its ends agree on, wherever they live."""

from typing import Any

Case = dict[str, Any]  # as `conformance.spec.model.wire` makes it

RECEIVES = 2  # posted by the responder for every transfer
NONE = "none"  # a fact that there was nothing to see of
