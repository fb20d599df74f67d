"""Draws every figure again: `.venv/bin/python -m docs.figures`."""

from pathlib import Path

from docs.figures import schedulers, ways

FIGURES = schedulers.FIGURES | ways.FIGURES


def main() -> None:
    """Writes one SVG for each figure into this folder."""
    for name, figure in FIGURES.items():
        Path(__file__).with_name(f"{name}.svg").write_text(figure().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
