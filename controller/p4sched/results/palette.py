"""Colours of figures and of the live page."""

CYCLE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#222222")
"""Okabe and Ito's palette, which colour-blind readers can also distinguish."""
PALETTE = {
    **dict(zip(("blue", "orange", "green", "pink", "yellow", "sky", "grey", "black"), CYCLE, strict=True)),
    # Paul Tol's palette, for further schemes
    "wine": "#882255",
    "indigo": "#332288",
    "olive": "#999933",
    "teal": "#44aa99",
}


def scheme_colour(name: str, otherwise: str = PALETTE["wine"]) -> str:
    """Colour of a scheme; `otherwise` for an unknown name, as in the results of another machine."""
    from p4sched.schemes import SCHEMES  # noqa: PLC0415 - the records name colours of this module

    return PALETTE[SCHEMES[name].colour] if name in SCHEMES else otherwise
