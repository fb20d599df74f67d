"""A sheet of SVG and the few shapes that the figures of the documentation are made of. Lengths are in pixels."""

from html import escape
from typing import Literal

INK = "#1f2933"
FAINT = "#7b8794"
PAPER = "#ffffff"
GOOD = "#2a7f62"
BAD = "#b3403a"
PANEL = "#f1f4f8"
URGENCY = {1: "#0b4f6c", 2: "#2f7ea3", 3: "#6aa9c6", 4: "#b9d6e5", 5: "#e6f0f6"}
"""Colour of a packet by its rank: the darker, the more urgent."""
PACKET = 30
"""Side of a packet."""

Anchor = Literal["start", "middle", "end"]


class Canvas:
    """One figure. Later shapes cover earlier ones."""

    def __init__(self, width: int, height: int, title: str) -> None:
        """An empty sheet; the title is read aloud to those who cannot see the figure."""
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="Helvetica, Arial, sans-serif" font-size="14" role="img">\n<title>{escape(title)}</title>\n'
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="{INK}"/></marker></defs>'
        )
        self._shapes: list[str] = []
        self.rect(0, 0, width, height, fill=PAPER, stroke="none")

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = PANEL,
        stroke: str = INK,
        round_: float = 0,
    ) -> None:
        """A rectangle with its upper left corner at (x, y)."""
        self._shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_:g}" fill="{fill}" '
            f'stroke="{stroke}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        at: Anchor = "middle",
        size: int = 14,
        fill: str = INK,
        bold: bool = False,
    ) -> None:
        """A line of text whose base line is at y."""
        weight = ' font-weight="bold"' if bold else ""
        self._shapes.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{at}" font-size="{size}" fill="{fill}"{weight}>'
            f"{escape(text)}</text>"
        )

    def lines(self, x: float, y: float, texts: tuple[str, ...], *, at: Anchor = "middle", size: int = 14) -> None:
        """Several lines of text, one below the other."""
        for number, text in enumerate(texts):
            self.text(x, y + number * (size + 4), text, at=at, size=size)

    def line(self, *points: tuple[float, float], tip: bool = False, dashed: bool = False, stroke: str = INK) -> None:
        """A line through the points, with the tip of an arrow at its end if asked for."""
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        marks = ' marker-end="url(#tip)"' * tip + ' stroke-dasharray="5 4"' * dashed
        self._shapes.append(f'<path d="{path}" fill="none" stroke="{stroke}" stroke-width="1.5"{marks}/>')

    def area(self, *points: tuple[float, float], fill: str) -> None:
        """A filled polygon."""
        corners = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._shapes.append(f'<polygon points="{corners}" fill="{fill}"/>')

    def dot(self, x: float, y: float, *, fill: str = INK) -> None:
        """A point of a chart."""
        self._shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{fill}"/>')

    def box(self, x: float, y: float, width: float, height: float, *texts: str, fill: str = PANEL) -> None:
        """A rounded box with its name in bold and further lines below."""
        self.rect(x, y, width, height, fill=fill, round_=6)
        first = y + height / 2 - 9 * (len(texts) - 1) + 5
        for number, text in enumerate(texts):
            size, bold = (14, True) if number == 0 else (12, False)
            self.text(x + width / 2, first + 18 * number, text, size=size, bold=bold)

    def packet(self, x: float, y: float, rank: int) -> None:
        """A packet with its rank."""
        self.rect(x, y, PACKET, PACKET, fill=URGENCY[rank], round_=4)
        self.text(x + PACKET / 2, y + 21, str(rank), size=16, fill=PAPER if rank <= 2 else INK, bold=True)

    def packets(self, x: float, y: float, ranks: tuple[int, ...]) -> None:
        """Packets from left to right."""
        for place, rank in enumerate(ranks):
            self.packet(x + place * (PACKET + 6), y, rank)

    def queue(self, x: float, y: float, size: int, ranks: tuple[int, ...]) -> None:
        """A queue of `size` places; the packet at its head, which leaves first, is on the right."""
        step = PACKET + 6
        self.rect(x, y, size * step + 6, PACKET + 12, fill=PANEL)
        for place in range(size):
            self.rect(x + 6 + place * step, y + 6, PACKET, PACKET, fill=PAPER, stroke=FAINT, round_=4)
        for place, rank in enumerate(ranks):
            self.packet(x + 6 + (size - 1 - place) * step, y + 6, rank)

    def svg(self) -> str:
        """The figure as text."""
        return "\n".join([self._head, *self._shapes, "</svg>\n"])
