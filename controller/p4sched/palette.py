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
