"""The page, the pictures and the CSV of `p4sched reproduce`."""

import csv
import io
import os
import re
import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from p4sched.errors import P4schedError
from p4sched.paths import REPRODUCTION_DIR
from p4sched.reproducing.figure import MOST_PLACES, PAPERS
from p4sched.reproducing.judge import BLOCKS, CLOSE, FEW, NO, OPEN, YES
from p4sched.reproducing.results import Judged, Ratios, Row, number, repeated
from p4sched.results.whole_file import write_whole

PAGE, CSV, PICTURES = "README.md", "rows.csv", "figures"
NOTES = REPRODUCTION_DIR / "notes.toml"
READINGS = "readings"
TEXT = "the paper's text"
ORIGINS = {
    "data": "the authors' data files",
    "text": TEXT,
    "plot": "read off the paper's plot",
    READINGS: TEXT,
    "": "-",
}
NAMED = 8
"""Number of opposite pairs that the page names."""
COLUMNS = ("figure", "quantity", "line", "place", "published", "mean", "half_width", "seeds", "ratio", "close")


@dataclass(frozen=True)
class Further:
    """A figure or table that no run of this command makes."""

    name: str
    shows: str
    where: str
    """Content of the row, or the reason why it is missing."""

    @property
    def plain(self) -> str:
        """`where` with paths in place of links."""
        return re.sub(r"\[[^]]*\]\((?:\.\./)*([^)]*)\)", r"\1", self.where)


@dataclass(frozen=True)
class Notes:
    """Text of the page: notes.toml."""

    papers: Mapping[str, str]
    """Title and source of the data, by paper."""
    causes: Mapping[str, Mapping[str, str]]
    """Cause of a difference, indexed by figure, and by quantity or `all`."""
    errors: Sequence[str]
    """Errors in the papers and in their data."""
    further: Sequence[Further]


def read_notes(path: Path = NOTES) -> Notes:
    """Reads notes.toml. Raises P4schedError if it is damaged."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        further = [Further(each["name"], each["shows"], each["where"]) for each in content["further"]]
        return Notes(content["papers"], content["causes"], content["errors"], further)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise P4schedError(f"{path}: cannot be read: {error}") from error


def write(judged: Sequence[Judged], notes: Notes, out: Path, command: str) -> None:
    """Writes the page, a picture for each measured figure, and the CSV."""
    from p4sched.reproducing import picture  # noqa: PLC0415 - Matplotlib takes a second

    out.mkdir(parents=True, exist_ok=True)
    for each in judged:
        path = out / PICTURES / f"{each.figure.name}.png"
        if each.stored:
            picture.draw(each, path)
        else:
            path.unlink(missing_ok=True)
    write_whole(out / CSV, _csv(judged))
    text = "\n".join(_page(judged, notes, command)) + "\n"
    for link in ("../../", "published/"):
        text = text.replace(f"]({link}", f"]({os.path.relpath(REPRODUCTION_DIR / link, out)}/")
    write_whole(out / PAGE, text)


def _csv(judged: Sequence[Judged]) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for each in judged:
        for row in each.rows:
            for line in each.figure.lines:
                for place in each.figure.places:
                    cells = _cells(row, line.name, place)
                    if any(cells):
                        rows.writerow([each.figure.name, row.quantity.key, line.name, place, *cells])
    return text.getvalue()


def _cells(row: Row, line: str, place: str) -> list[str]:
    published, ours = row.published.values.get((line, place)), row.estimate(line, place)
    ratio = row.verdict.ratios.get((line, place))
    return [
        "" if published is None else f"{published:g}",
        "" if ours is None else f"{ours.mean:.6g}",
        "" if ours is None or ours.half_width is None else f"{ours.half_width:.3g}",
        "" if ours is None else str(ours.seeds),
        "" if ratio is None else f"{ratio:.3f}",
        "" if ratio is None else YES if abs(ratio - 1) <= CLOSE else NO,
    ]


def _page(judged: Sequence[Judged], notes: Notes, command: str) -> Iterator[str]:
    yield from (
        "# The figures of the papers, published and measured",
        "",
        f"`{command}` wrote this page. It makes the missing simulations, and continues where it was interrupted.",
        "",
        "- **order**: for all pairs of lines with clearly different published values, is the measured order the same?"
        " Different means by more than 5 %, and by more than two standard deviations of our runs, as a published"
        " value is one run. Each order that a text states is a pair, too. A paired t-test over the seeds decides each"
        f" pair (Holm, 5 %): same, opposite, or open. With fewer than {FEW} seeds, it is over the flows that start in"
        f" each of {BLOCKS} blocks of time. The verdict is yes if no pair is opposite and at most a tenth is open.",
        f"- **within {CLOSE:.0%}**: share of the measured means that are that close to the published value. The verdict"
        " is yes for four fifths or more. A published range is two values, its ends. Where all values are nearly the"
        " same, such as shares of flows that are done, this says little.",
        "- **ratio**: measured mean over published value, median (lowest to highest).",
        "- ± is half of the interval of 95 % over the seeds; a number without it is of one seed. `-`: nothing is"
        " published, or no simulation is stored.",
        "- A mean is over the flows that are done at the end, as in the papers. So it leaves out the slowest flows, and"
        " can turn an order around. A **restricted mean** counts a flow that is not done with the time that it had.",
        "- In the pictures, lines are measured and crosses published.",
        "- Lines have the settings of the authors' run files, and the rules of the authors' simulations with"
        " [Netbench](../../switch/simulator/README.md#against-netbench)"
        " ([variants](../../switch/simulator/SCENARIOS.md#ports-and-hosts)). Those of PACKS are not public, so its"
        " lines have the rules of the text, but for Fig. 11.",
        "- Other lines stand beside them, and are not compared with the paper: `own settings` are those that we found"
        " best, `rule of the text` is that of the paper where Netbench has another one, `events as planned` has"
        " simultaneous events in the order in which they were planned.",
        "- `p4sched reproduce --no-runs` writes rows.csv, with each number of this page;"
        " [sources.csv](published/sources.csv) has the file or the sentence that a published one comes from,"
        " `measured/` each simulation with its seed and commit."
        " `p4sched reproduce PAPER FIGURE --line LINE --place PLACE --seed SEED --seeds 1 --out DIR` makes one of them"
        " again, in another folder; without `--line` and `--place` all of a figure.",
        "- Simulations are of older code if a file that can change them has changed since, whether or not it did."
        " `p4sched reproduce --again N` makes N of them again, drawn at random, and compares.",
        "- `--no-runs` shows what is stored, `--dask` makes the runs on a cluster. Times are those of one processor.",
        "",
        *_summary(judged),
    )
    again = repeated([row for each in judged for row in each.rows])
    for paper, title in PAPERS.items():
        of_paper = [each for each in judged if each.figure.paper == paper]
        further = [each for each in notes.further if each.name.partition("-")[0] == paper]
        if of_paper or further:
            yield from (f"## {title}", "", *_paper(notes.papers.get(paper)))
            yield from (*_table(of_paper, notes, again), *_further(further))
            for each in of_paper:
                yield from _section(each)
    if notes.errors:
        yield from ("## Errors in papers and data", "", *(f"- {each}" for each in notes.errors))


def _paper(about: str | None) -> Iterator[str]:
    if about:
        yield from (f"{about}.", "")


def verdicts(judged: Sequence[Judged]) -> Mapping[str, Sequence[str]]:
    """The verdicts that count, on the order and on the values, of all rows and of those with numbers of their own."""
    rows = [row for each in judged for row in each.rows if row.has_published and row.published.origin != READINGS]
    again = repeated(rows)
    found = {}
    for name, some in (("", rows), (", without repeated rows", [row for row in rows if row.key not in again])):
        found[f"order{name}"] = [row.verdict.order for row in some]
        found[f"within {CLOSE:.0%}{name}"] = [row.verdict.values for row in some]
    return found


def _summary(judged: Sequence[Judged]) -> Iterator[str]:
    yield "| | yes | no | open |"
    yield "|---|---|---|---|"
    for name, found in verdicts(judged).items():
        yield f"| {name} | {' | '.join(str(found.count(each)) for each in (YES, NO, OPEN))} |"
    stored, wanted = sum(each.stored for each in judged), sum(each.wanted for each in judged)
    yield from (
        "",
        "A row with * is repeated: most of its published values are those of earlier figures, digit for digit, because"
        " the papers share runs. A verdict in brackets does not count: its lines are readings of a text.",
        "",
        f"{stored} of {wanted} simulations are stored, {sum(each.older for each in judged)} of older code; one that"
        " figures share counts for each of them. A row is open as long as it has too few.",
        "",
    )


def _table(judged: Sequence[Judged], notes: Notes, again: Container[tuple[str, str]]) -> Iterator[str]:
    if not judged:
        return
    columns = (
        "figure",
        "shows",
        "pairs: same, opposite, open",
        "order",
        f"within {CLOSE:.0%}",
        "ratio",
        "cause, settings",
    )
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for each in judged:
        causes = notes.causes.get(each.figure.name, {})
        if not any(row.has_published for row in each.rows):
            cause = causes.get("all", "no published numbers")
            yield f"| [{each.figure.name}](#{each.figure.name}) | {each.figure.title} | - | - | - | - | {cause} |"
        for row in each.rows:
            verdict, close = row.verdict, row.verdict.closeness
            if not row.has_published:
                continue
            order, values = verdict.order, verdict.values
            if row.published.origin == READINGS:
                order, values = f"({order})", f"({values})"
            cells = (
                f"[{each.figure.name}](#{each.figure.name}){' *' * (row.key in again)}",
                f"{each.figure.title}: {row.quantity.title}",
                f"{len(verdict.same)}, {len(verdict.opposite)}, {len(verdict.undecided)}",
                order,
                f"{values} ({close.count(True)} of {len(close)})" if close else values,
                f"{Ratios.of(list(verdict.ratios.values())) or '-'}",
                causes.get(row.quantity.key) or causes.get("all", "-"),
            )
            yield f"| {' | '.join(cells)} |"
    yield ""


def _further(further: Sequence[Further]) -> Iterator[str]:
    if further:
        yield from ("| figure | shows | where |", "|---|---|---|")
        yield from (f"| {each.name.partition('-')[2]} | {each.shows} | {each.where} |" for each in further)
        yield ""


def _section(judged: Judged) -> Iterator[str]:
    figure = judged.figure
    short = figure.name.partition("-")[2]
    yield from (f"### {figure.name}", "")
    if judged.stored:
        yield from (f"![{figure.title}]({PICTURES}/{figure.name}.png)", "")
    older = f", {judged.older} of older code" if judged.older else ""
    seeds = f"seeds {', '.join(map(str, judged.seeds))}" if judged.seeds else "the same for each seed"
    seeds = f"{seeds}{older}. One seed takes {_time(judged.seed_s)}" if judged.stored else "no seeds"
    yield f"`p4sched reproduce {figure.paper} {short}`. {judged.stored} of {judged.wanted} simulations, {seeds}."
    yield ""
    for row in (*judged.shown, *judged.beside):
        yield from _numbers(row)
    yield from _variations(judged)


def _time(seconds: float) -> str:
    """A time of one processor."""
    if seconds < 90:
        return f"{number(max(seconds, 0.1), 2)} s"
    return f"{number(seconds / 60, 2)} min" if seconds < 5400 else f"{number(seconds / 3600, 2)} h"


def _variations(judged: Judged) -> Iterator[str]:
    """What other rules and settings than those of the compared lines do."""
    rows = judged.shown
    of_line: dict[str, list[str]] = {}
    for column, row in enumerate(rows):
        for line, ratios in row.variations:
            of_line.setdefault(line.label, ["-"] * len(rows))[column] = str(ratios)
    if of_line:
        yield from (
            "Other rules and settings: ratio to the line that is compared with the paper, of the same flows, median"
            " (lowest to highest) over the places.",
            "",
            f"| line | {' | '.join(row.quantity.title for row in rows)} |",
            f"|---|{'---|' * len(rows)}",
            *(f"| {_cell(label)} | {' | '.join(cells)} |" for label, cells in of_line.items()),
            "",
        )


def _cell(text: str) -> str:
    """Text in a cell of a table."""
    return text.replace("|", r"\|")


def _range(low: float, high: float) -> str:
    return number(low) if low == high else f"{number(low)} to {number(high)}"


def _of_place(row: Row, line: str, place: str) -> str:
    """The published number of a line at a place, if the paper has some of this quantity, and the measured one."""
    published = row.published
    had, ours = published.values.get((line, place)), row.estimate(line, place)
    shown = f"{ours or '-'}"
    slip = "!" if (line, place) in published.slips else ""
    return f"{'-' if had is None else number(had)}{slip}; {shown}" if row.has_published else shown


def _numbers(row: Row) -> Iterator[str]:
    """The table of a quantity: published value, then the measured one."""
    published = row.published
    content = f"published ({ORIGINS[published.origin]}); measured" if row.has_published else "measured"
    yield from (f"{row.quantity.title[0].upper()}{row.quantity.title[1:]}: {content}.", "")
    table = [["line", *row.figure.places]]
    for line in row.figure.lines:
        if not row.is_empty(line.name) and (line.published or not row.quantity.beside):
            table.append([_cell(line.label), *(_of_place(row, line.name, place) for place in row.figure.places)])
    if len(row.figure.places) > MOST_PLACES:
        table = [list(cells) for cells in zip(*table, strict=True)]
        table[0][0] = row.figure.axis
    yield f"| {' | '.join(table[0])} |"
    yield "|---" * len(table[0]) + "|"
    yield from (f"| {' | '.join(cells)} |" for cells in table[1:])
    labels = {line.name: line.label for line in row.figure.lines}
    if published.slips:
        wrong = (
            (labels.get(line, line), f" at {place}" * bool(place), why)
            for (line, place), why in published.slips.items()
        )
        why = "; ".join(f"{label}{at}: {why}" for label, at, why in wrong)
        yield from ("", f"!: cannot be right, and is not compared. {why}.")
    if published.orders:
        below = "; ".join(f"{labels[each.line]} below {labels[each.base]}" for each in published.orders)
        yield from ("", f"Published without numbers: {below}.")
    if published.ranges:
        yield from ("", f"{'Published as ratios' if not published.values else 'Ratios'}:")
        yield from ("", "| ratio | published | measured |", "|---|---|---|")
        measured = {each: (low, high) for each, low, high in row.verdict.ranges}
        for each in published.ranges:
            ends = measured.get(each)
            shown = _range(*ends) if ends else "-"
            at = f" at {each.place}" if each.place else ""
            base = f" to {labels[each.base]}" if each.base else ""
            base += f" at {each.base_place}" if each.base_place else ""
            name = _cell(labels[each.line])
            slip = "!" if each in row.verdict.slips else ""
            yield f"| {name}{at}{_cell(base)} | {_range(each.low, each.high)}{slip} | {shown} |"
    yield ""
    if row.verdict.opposite:
        named, more = row.verdict.opposite[:NAMED], len(row.verdict.opposite) - NAMED
        yield from (f"Opposite: {'; '.join(named)}{f', and {more} more' if more > 0 else ''}.", "")
