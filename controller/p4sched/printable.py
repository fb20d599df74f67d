"""Safe form of text from others."""

import re


def printable_lines(text: str) -> str:
    """The text with the same lines and tabs, and with escapes in place of other characters that are not printable."""
    return "".join(part if part in {"\n", "\t"} else printable(part) for part in re.split(r"([\n\t])", text))


def printable(text: str) -> str:
    """Turns a text into one line of printable characters, for a screen, CSV, HTML and XML 1.0.

    A character that controls a terminal, reorders text or cannot be written becomes a Python escape: `\\x1b`.
    """
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
