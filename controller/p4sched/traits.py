"""Traits of a scheduler that its description names: its comparisons, its ranks, the lines of its chart."""

from dataclasses import dataclass
from enum import Enum, auto


class Ranks(Enum):
    """Ranks that a scheme stores."""

    WINDOW = "window"
    RANGE = "range"
    BOUNDS = "bounds"


@dataclass(frozen=True)
class Limit:
    """A line in the chart of queue lengths on the live page."""

    label: str
    parameter: str
    """Parameter of the action with the value of the line."""
    share: str = ""
    """Parameter that multiplies the value, in 1/256."""


class ComparisonKind(Enum):
    """Comparisons in which a scheme takes part."""

    USERS = auto()
    """Schemes that share a link among users: the comparison of the FDPA paper."""
    RANKS = auto()
    """Schemes that serve packets by rank: the comparisons of AIFO, RIFO and PACKS."""
    FLOWS = auto()
    """Schemes that share a link among flows without ranks: the baseline for ranks that express fairness."""
