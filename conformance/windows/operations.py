"""The remote operations that the window suites ask about, for each type of window."""

from itertools import product

from conformance.spec.operations import REACHING
from conformance.spec.vocabulary import Operation
from conformance.spec.window import Window, WindowType

TYPES = tuple(WindowType)
ONE, TWO = TYPES
OPERATIONS = REACHING

# Every operation through a window of either type, with every right.
GRANTED = tuple(Window(type, operation) for type, operation in product(TYPES, OPERATIONS))
WRITES = tuple(window for window in GRANTED if window.operation is Operation.WRITE)
WRITES_AND_READS = tuple(
    window for window in GRANTED if window.operation in (Operation.WRITE, Operation.READ)
)
