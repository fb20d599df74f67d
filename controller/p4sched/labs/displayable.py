"""Makes text from a student safe to show: printable and of limited length."""

from collections.abc import Iterable

from p4sched.printable import printable

LONGEST = 500
"""Largest number of characters in a line."""
MOST_LINES = 200
TAB = 4


def displayable(text: str) -> str:
    """Turns a text into one line of printable characters."""
    escaped = printable(text[:LONGEST].expandtabs(TAB))
    return escaped if len(text) <= LONGEST and len(escaped) <= LONGEST else f"{escaped[: LONGEST - 1]}…"


def displayable_lines(texts: Iterable[str]) -> tuple[str, ...]:
    """The lines of some texts."""
    lines = [displayable(line) for text in texts for line in text.splitlines() or [""]]
    return (*lines[: MOST_LINES - 1], "...") if len(lines) > MOST_LINES else tuple(lines)
