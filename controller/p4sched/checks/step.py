"""A step of the check."""

from dataclasses import dataclass, field


@dataclass
class Step:
    """A step of the check, and what it found."""

    title: str
    passed: bool = True
    lines: list[str] = field(default_factory=list)
    """Details, for a person."""
    warns: bool = False
    """True if it passed with a warning in `lines`."""
