"""Errors that a person using the laboratory is meant to read."""

import difflib
from collections.abc import Iterable

INTERRUPTED = 130
"""Exit code of a command that SIGINT ended, as a shell gives it."""


class P4schedError(Exception):
    """One clear sentence: what was wrong, where, and what would be right.

    The command line prints it as one line and exits with `exit_code`.
    """

    exit_code = 1


class UsageError(P4schedError):
    """The command line, or an option's value, makes no sense."""

    exit_code = 2


def unknown_name(kind: str, name: str, valid: Iterable[str]) -> UsageError:
    """Error for a name that is none of `valid`, with the likeliest one suggested."""
    names = list(valid)
    close = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    if close:
        return UsageError(f"no {kind} '{name}'; did you mean '{close[0]}'?")
    return UsageError(f"no {kind} '{name}'; there is: {', '.join(names) or 'none'}")


def require(condition: bool, wrong: str) -> None:
    """Raises UsageError with one clear sentence unless the condition holds."""
    if not condition:
        raise UsageError(wrong)


def in_range(name: str, value: int, low: int, high: int, unit: str) -> None:
    """Raises UsageError if `value` is outside of low .. high."""
    require(low <= value <= high, f"{name} = {value} is out of range: {low} to {high} {unit}".rstrip())
