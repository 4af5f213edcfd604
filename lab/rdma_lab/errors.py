"""What stops the lab."""

from __future__ import annotations


class LabError(Exception):
    """The lab could not do its part; the message says what is wrong and how to mend it."""


class GuestDied(LabError):
    """The guest ended without an exit status, or shows no sign of life.

    ``guilty``: its own kernel did it, as far as one can see from outside. If qemu was killed, or
    stopped, what the guest was at may be innocent.
    """

    def __init__(self, message: str, *, guilty: bool) -> None:
        super().__init__(message)
        self.guilty = guilty


class HostNeedsPackages(LabError):
    """The machine lacks tools that the lab can't install by itself."""
