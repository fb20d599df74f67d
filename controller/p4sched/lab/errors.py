"""What goes wrong in the lab, in words for the person at the terminal."""


class LabError(RuntimeError):
    """The run cannot start or go on; the message says what was wrong and what would be right."""
