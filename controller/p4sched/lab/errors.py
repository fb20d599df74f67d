"""Errors of the lab."""

from p4sched.errors import P4schedError


class LabError(P4schedError):
    """The run cannot start or continue."""
