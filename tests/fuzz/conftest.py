"""Lets these tests make run files as those of the reports do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "reports"))
