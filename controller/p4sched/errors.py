"""Errors that a person using the laboratory is meant to read, and the exit codes of all commands.

0    done as asked; a check found nothing wrong
1    it failed, or a check found what it looks for: a switch that does not answer, a program that does not
     compile, a damaged file, a decision that differs, too few marks
2    what was asked for cannot be: an unknown command, option or value, options that contradict each other, a file
     or folder that is not there or cannot be read, a place that cannot be written to. Nothing has begun
130  SIGINT or SIGTERM has ended it, also where nothing else would have: `control`, `watch`
"""

import difflib
from collections.abc import Iterable

INTERRUPTED = 130
"""Exit code of a command that SIGINT ended, as a shell gives it."""


class P4schedError(Exception):
    """One clear sentence: what was wrong, where, and what would be right.

    The command line prints it as one line and exits with `exit_code`.
    """

    exit_code = 1


class StoppedError(P4schedError):
    """SIGINT or SIGTERM has ended a command that runs until then. It has no message."""

    exit_code = INTERRUPTED


class UsageError(P4schedError):
    """Wrong usage: a command line, an option's value or a file that makes no sense."""

    exit_code = 2


class MissingError(UsageError):
    """A file or folder that the command line names is not there, or cannot be read."""


def unknown_name(kind: str, name: str, valid: Iterable[str]) -> UsageError:
    """Error for a name that is none of `valid`, with the likeliest one suggested."""
    names = list(valid)
    by_letters = {each.lower(): each for each in names}
    close = difflib.get_close_matches(name.lower(), by_letters, n=1, cutoff=0.5)
    if close:
        return UsageError(f"no {kind} '{name}'; did you mean '{by_letters[close[0]]}'?")
    return UsageError(f"no {kind} '{name}'; there is: {', '.join(names) or 'none'}")


def require(condition: bool, wrong: str) -> None:
    """Raises UsageError with one clear sentence unless the condition holds."""
    if not condition:
        raise UsageError(wrong)


def in_range(name: str, value: int, low: int, high: int, unit: str) -> None:
    """Raises UsageError if `value` is outside of low .. high."""
    require(low <= value <= high, f"{name} = {value} is out of range: {low} to {high} {unit}".rstrip())
