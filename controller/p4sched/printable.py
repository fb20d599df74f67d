"""Safe form of text from others."""


def printable(text: str) -> str:
    """Turns a text into one line of printable characters, for a screen, CSV, HTML and XML 1.0.

    What commands a terminal, reorders text, or cannot be written comes as an escape of Python's: `\\x1b`.
    """
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
