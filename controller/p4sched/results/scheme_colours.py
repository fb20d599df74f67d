"""Colours of schemes in figures."""

from p4sched.palette import PALETTE
from p4sched.schemes import SCHEMES


def scheme_colour(name: str, otherwise: str = PALETTE["wine"]) -> str:
    """Colour of a scheme; `otherwise` for an unknown name, as in the results of another machine."""
    return PALETTE[SCHEMES[name].colour] if name in SCHEMES else otherwise
