"""Numbers from which a region may be addressed: 0, and where arithmetic of 32 or 63 bits ends."""

from conformance.spec.vocabulary import PAGE

IOVAS = (
    0,
    PAGE,
    (1 << 31) - PAGE,
    (1 << 32) - PAGE,
    1 << 32,
    (1 << 63) - PAGE,
    1 << 63,
    (1 << 64) - 3 * PAGE,
)
LENGTH = 2 * PAGE  # so that those before an edge lie on both sides of it
