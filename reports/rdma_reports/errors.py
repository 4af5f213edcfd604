"""The one error of every report."""


class ReportError(Exception):
    """The report cannot be made; the message says the mend."""
