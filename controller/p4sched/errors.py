"""Errors for the user of the laboratory, and the exit codes of all commands.

0    success; a check found no fault
1    failure, or a check found a fault: a switch does not answer, a program does not compile, a file is damaged, a
     decision differs, marks are missing
2    wrong usage: an unknown command, option or value, contradicting options, a file or folder that is missing or
     unreadable, a place that is not writable. Nothing was started
130  SIGINT or SIGTERM ended the command; for `control` and `watch` this is the normal end
"""

import difflib
from collections.abc import Iterable

__all__ = ["MissingError", "P4schedError", "UsageError"]

INTERRUPTED = 130
"""Exit code of a command that SIGINT ended; shells use the same."""


class P4schedError(Exception):
    """One clear sentence: what was wrong, where, and what would be right.

    The command line prints it as one line and exits with `exit_code`.
    """

    exit_code = 1


class StoppedError(P4schedError):
    """SIGINT or SIGTERM ended a command that runs until then. The error has no message."""

    exit_code = INTERRUPTED


class UsageError(P4schedError):
    """Wrong usage: an error in the command line, in an option's value or in a file."""

    exit_code = 2


class MissingError(UsageError):
    """A file or folder that the command line names is missing or unreadable."""


def unknown_name(kind: str, name: str, valid: Iterable[str]) -> UsageError:
    """Error for a name that is not in `valid`; suggests the closest one."""
    names = list(valid)
    by_letters = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_letters, n=1, cutoff=0.5)
    if close:
        return UsageError(f"no {kind} '{name}'; did you mean '{by_letters[close[0]]}'?")
    return UsageError(f"no {kind} '{name}'; use one of: {', '.join(names) or 'none'}")


def require(condition: bool, wrong: str) -> None:
    """Raises UsageError with one clear sentence unless the condition holds."""
    if not condition:
        raise UsageError(wrong)


def in_range(name: str, value: int, low: int, high: int, unit: str) -> None:
    """Raises UsageError if `value` is outside low .. high."""
    require(low <= value <= high, f"{name} = {value} is out of range: {low} to {high} {unit}".rstrip())
