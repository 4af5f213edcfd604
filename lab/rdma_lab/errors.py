"""What stops the lab."""

from __future__ import annotations


class LabError(Exception):
    """The lab could not do its part; the message says what is wrong and how to mend it."""


class HostNeedsPackages(LabError):
    """The machine lacks tools that the lab can't install by itself."""
