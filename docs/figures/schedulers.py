"""One figure for each scheduler: the same six packets wherever that shows the idea."""

from docs.figures.canvas import BAD, FAINT, GOOD, INK, PANEL, URGENCY, Canvas

ARRIVALS = (1, 4, 5, 2, 1, 2)
"""The six packets of AIFO's figure 3 and of PACKS's figures 2 and 5, in order of arrival."""
WIDTH = 700


def _arrivals(canvas: Canvas, y: float) -> None:
    """The six packets; the first one is on the right, next to the queue."""
    canvas.text(20, y - 12, "arrive, first one on the right", at="start", size=12, fill=FAINT)
    canvas.packets(20, y, ARRIVALS[::-1])
    canvas.line((240, y + 15), (288, y + 15), tip=True)


def _dropped(canvas: Canvas, x: float, y: float, ranks: tuple[int, ...], why: str) -> None:
    canvas.text(x, y - 10, why, at="start", size=12, fill=BAD)
    canvas.packets(x, y, ranks)


def _leave(canvas: Canvas, x: float, y: float, text: str) -> None:
    canvas.line((x, y), (x + 46, y), tip=True)
    canvas.text(x + 54, y + 5, text, at="start", size=13)


def fifo() -> Canvas:
    """The first four of six packets stay."""
    canvas = Canvas(WIDTH, 170, "FIFO with four places: 1, 4, 5 and 2 are kept, the later 1 and 2 are dropped")
    _arrivals(canvas, 46)
    canvas.queue(298, 40, 4, ARRIVALS[:4])
    _leave(canvas, 452, 61, "leave: 1 4 5 2")
    _dropped(canvas, 298, 122, (1, 2), "the queue was full when these came")
    return canvas


def pifo() -> Canvas:
    """PIFO: sorted by rank; the largest ranks are pushed out."""
    canvas = Canvas(WIDTH, 170, "PIFO with four places: sorted by rank, 1 1 2 2 stay, 5 and then 4 are pushed out")
    _arrivals(canvas, 46)
    canvas.queue(298, 40, 4, (1, 1, 2, 2))
    _leave(canvas, 452, 61, "leave: 1 1 2 2")
    _dropped(canvas, 298, 122, (4, 5), "pushed out by more urgent packets: first 5, then 4")
    return canvas


def sp_pifo() -> Canvas:
    """Push-up and push-down of the bounds of three queues."""
    canvas = Canvas(WIDTH, 292, "SP-PIFO: a packet of rank 4 raises the bound of queue 2; rank 1 lowers all bounds")
    steps = (
        ("push-up", 4, (2, 3, 5), (2, 4, 5), 1),
        ("push-down", 1, (2, 4, 5), (1, 3, 4), 0),
    )
    for panel, (name, rank, before, after, chosen) in enumerate(steps):
        x = 20 + panel * 345
        canvas.text(x, 26, name, at="start", size=15, bold=True)
        canvas.packet(x, 112, rank)
        canvas.text(x + 15, 162, "arrives", size=12, fill=FAINT)
        for queue in range(3):
            y = 48 + queue * 62
            canvas.rect(x + 92, y, 120, 42, fill="#d8ecdf" if queue == chosen else PANEL)
            canvas.text(x + 152, y + 26, f"queue {queue + 1}", size=13)
            old, new = before[queue], after[queue]
            bound = f"b = {old}" if old == new else f"b = {old} → {new}"
            canvas.text(x + 224, y + 26, bound, at="start", size=14, fill=INK if old == new else GOOD, bold=old != new)
        canvas.line((x + 36, 127), (x + 86, 69 + chosen * 62), tip=True)
    canvas.lines(
        20, 258, ("Queue 3 has b = 5 > 4; queue 2 has", "b = 3 ≤ 4: take it, its bound becomes 4."), at="start", size=13
    )
    canvas.lines(
        365, 258, ("No bound is ≤ 1: an inversion. Queue 1;", "every bound falls by 2 - 1 = 1."), at="start", size=13
    )
    return canvas


def aifo() -> Canvas:
    """Quantiles that are admitted at each length: the worked cases of the paper."""
    canvas = Canvas(WIDTH, 316, "AIFO with C = 6 and k = 1/6: the longer the queue, the smaller a quantile must be")
    left, top, width, height = 70, 30, 360, 230

    def place(length: float, quantile: float) -> tuple[float, float]:
        return left + width * length / 6, top + height * (1 - quantile)

    canvas.area(place(0, 0), place(0, 1), place(1, 1), place(6, 0), fill="#d8ecdf")
    canvas.area(place(1, 1), place(6, 1), place(6, 0), fill="#f6dedc")
    canvas.line(place(0, 1), place(0, 0), place(6, 0))
    canvas.line(place(0, 1), place(1, 1), place(6, 0), stroke=GOOD)
    for length in range(7):
        canvas.text(place(length, 0)[0], top + height + 20, str(length), size=13)
    for percent in (0, 50, 100):
        canvas.text(left - 10, place(0, percent / 100)[1] + 5, f"{percent} %", at="end", size=13)
    canvas.text(left + width / 2, top + height + 44, "packets that wait: c", size=13)
    canvas.text(left, top - 12, "quantile of the packet's rank", size=13, at="start")
    canvas.text(place(1.1, 0)[0], place(0, 0.22)[1], "admit", size=15, fill=GOOD, bold=True)
    canvas.text(place(4.6, 0)[0], place(0, 0.72)[1], "drop", size=15, fill=BAD, bold=True)
    canvas.dot(*place(2, 0.5), fill=GOOD)
    canvas.dot(*place(5, 0.5), fill=BAD)
    canvas.text(place(2, 0)[0] + 10, place(0, 0.5)[1] + 20, "c = 2", at="start", size=13)
    canvas.text(place(5, 0)[0] + 10, place(0, 0.5)[1] + 20, "c = 5", at="start", size=13)
    canvas.lines(
        460,
        60,
        (
            "Target C = 6, headroom k = 1/6.",
            "Half of the window is more",
            "urgent than the packet.",
            "",
            "c = 2:  0.5 ≤ 6/5 · 4/6 = 0.8",
            "c = 5:  0.5 > 6/5 · 1/6 = 0.2",
            "",
            "Up to c = k C = 1 everything",
            "is admitted.",
        ),
        at="start",
        size=13,
    )
    return canvas


def rifo() -> Canvas:
    """The paper's example: ranks from 1 to 6, one place of three free."""
    canvas = Canvas(WIDTH, 236, "RIFO: with one place of three free, the most urgent two thirds of the range pass")
    left, width, y = 60, 580, 92

    def place(rank: float) -> float:
        return left + width * (rank - 1) / 5

    limit = 6 - 5 / 3
    canvas.rect(place(1), y - 16, place(limit) - place(1), 32, fill="#d8ecdf", stroke="none")
    canvas.rect(place(limit), y - 16, place(6) - place(limit), 32, fill="#f6dedc", stroke="none")
    canvas.line((place(1), y), (place(6), y))
    for rank in range(1, 7):
        canvas.line((place(rank), y - 6), (place(rank), y + 6))
        canvas.text(place(rank), y + 36, str(rank))
    canvas.text(place(1), y + 56, "Min", bold=True)
    canvas.text(place(6), y + 56, "Max", bold=True)
    canvas.text((place(1) + place(limit)) / 2, y - 28, "(Max - r) / (Max - Min) ≥ 1/3: admit", fill=GOOD, bold=True)
    canvas.text((place(limit) + place(6)) / 2, y - 28, "drop", fill=BAD, bold=True)
    canvas.text(place(4), y + 56, "2/5 ≥ 1/3", size=13, fill=GOOD)
    canvas.text(place(5), y + 56, "1/5 < 1/3", size=13, fill=BAD)
    canvas.queue(60, 178, 3, (2, 2))
    canvas.text(190, 204, "L = 2 of B = 3 places are taken: the free share (B - L) / B is 1/3.", at="start", size=13)
    canvas.text(place(1), 30, "range of the ranks since the last reset", at="start", size=12, fill=FAINT)
    return canvas


def packs() -> Canvas:
    """Queue of each quantile when each of two queues has one free place."""
    canvas = Canvas(WIDTH, 240, "PACKS with a free place in each of two queues: rank 1 goes to queue 1, 2 to queue 2")
    canvas.text(20, 28, "the window, sorted by rank, and the quantiles", at="start", size=12, fill=FAINT)
    groups = (((1, 1), "0", "to queue 1"), ((2, 2), "2/6", "to queue 2"), ((4, 5), "4/6, 5/6", "dropped"))
    fills = ("#d8ecdf", "#e5efe2", "#f6dedc")
    for number, ((ranks, quantile, verdict), fill) in enumerate(zip(groups, fills, strict=True)):
        x = 20 + number * 110
        canvas.rect(x, 40, 104, 54, fill=fill, stroke="none")
        canvas.packets(x + 19, 52, ranks)
        canvas.text(x + 52, 114, quantile, size=13)
        canvas.text(x + 52, 136, verdict, size=13, fill=BAD if verdict == "dropped" else GOOD, bold=True)
    canvas.queue(392, 46, 2, (1,))
    canvas.queue(392, 126, 2, (2,))
    canvas.text(388, 36, "queue 1, served first", at="start", size=12, fill=FAINT)
    canvas.text(388, 116, "queue 2", at="start", size=12, fill=FAINT)
    canvas.text(488, 64, "free so far: 1 of 4 places", at="start", size=13)
    canvas.text(488, 82, "takes quantiles up to 1/4", at="start", size=13, fill=GOOD)
    canvas.text(488, 144, "free so far: 2 of 4 places", at="start", size=13)
    canvas.text(488, 162, "takes quantiles up to 2/4", at="start", size=13, fill=GOOD)
    canvas.lines(
        20,
        204,
        (
            "A packet goes to the first queue whose free share so far reaches its quantile and that has room.",
            "The fuller the queues, the fewer ranks enter. Empty queues take every rank: 4 of 4 places are free.",
        ),
        at="start",
        size=13,
    )
    return canvas


def fdpa() -> Canvas:
    """The rate of a user selects a band, the band a queue."""
    canvas = Canvas(WIDTH, 300, "FDPA with bands 1+4*0.5: the faster a user sends, the less urgent is its queue")
    left, scale, y = 40, 175, 96
    edges = (0, 1, 1.5, 2, 2.5, 3.6)
    users = ((0.55, "one connection"), (0.9, ""), (1.25, ""), (3.1, "ten connections"))
    for band in range(1, 6):
        x, end = left + edges[band - 1] * scale, left + edges[band] * scale
        canvas.rect(x, y - 26, end - x, 52, fill=URGENCY[band], stroke="#ffffff")
        middle = (x + end) / 2
        canvas.text(middle, y + 46, f"band {band}", size=13, bold=True)
        canvas.line((middle, y + 54), (90 + (band - 1) * 130, 192), tip=True)
        canvas.rect(35 + (band - 1) * 130, 196, 110, 40, fill=URGENCY[band], round_=4)
        canvas.text(90 + (band - 1) * 130, 221, f"queue {band}", size=13, fill="#ffffff" if band <= 2 else INK)
    for edge in edges[:5]:
        canvas.text(left + edge * scale, y - 36, f"{edge:g}", size=13)
    canvas.text(left, 32, "rate of a user, in fair shares", at="start", size=12, fill=FAINT)
    for rate, name in users:
        canvas.dot(left + rate * scale, y, fill="#f2c14e")
        canvas.text(left + rate * scale, y + 20, name, size=12, fill="#ffffff" if rate < 1 else INK)
    canvas.text(90, 258, "most urgent", size=13)
    canvas.text(610, 258, "least urgent", size=13)
    canvas.text(350, 286, "A packet leaves only when all queues to its left are empty.", size=13)
    return canvas


def ideals() -> Canvas:
    """Deficit round robin: a queue for each user, served in turn."""
    canvas = Canvas(WIDTH, 250, "DRR: users A, B and C have a queue each; the link serves them in turn")
    users = (("user A", 5), ("user B", 2), ("user C", 1))
    for number, (name, waiting) in enumerate(users):
        y = 30 + number * 66
        canvas.text(20, y + 26, name, at="start")
        canvas.rect(90, y, 222, 42)
        for place in range(waiting):
            canvas.rect(276 - place * 36, y + 6, 30, 30, fill=URGENCY[3], round_=4)
        canvas.line((318, y + 21), (386, 117), tip=True)
    canvas.box(392, 86, 120, 62, "turn", "a quantum each")
    canvas.line((512, 117), (548, 117), tip=True)
    canvas.text(556, 122, "A B C A B A ...", at="start")
    canvas.text(20, 236, "The user with the longest queue loses a packet when the buffer is full.", at="start", size=13)
    return canvas


FIGURES = {figure.__name__: figure for figure in (fifo, pifo, sp_pifo, aifo, rifo, packs, fdpa, ideals)}
"""Figures by the name of their file."""
