"""Figures with a row for each scheme: marks with their intervals, several in a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Mark:
    """What is drawn in each row."""

    label: str
    colour: str
    marker: str
    hollow: bool = False


def bars(records: Sequence[Record], key: str) -> list[list[float]]:
    """Distances of a figure from `KEY_low` and `KEY_high`, for an error bar; 0 without an interval."""
    return [[_distance(record, key, end) for record in records] for end in ("low", "high")]


def _distance(record: Record, key: str, end: str) -> float:
    bound = record[f"{key}_{end}"]
    return 0.0 if bound is None else abs(float(bound - record[key]))


def draw_marks(axes: Axes, rows: Mapping[int, Record], key: str, mark: Mark, offset: float) -> None:
    """Draws one figure of the records, `offset` rows below their own."""
    records = list(rows.values())
    axes.errorbar(
        [record[key] for record in records],
        [row + offset for row in rows],
        xerr=bars(records, key),
        color=mark.colour,
        markerfacecolor="white" if mark.hollow else mark.colour,
        linestyle="",
        marker=mark.marker,
        markersize=4,
        capsize=2,
        label=mark.label,
    )


def name_rows(figure: Figure, panels: Sequence[Axes], schemes: Mapping[str, Record], columns: int) -> None:
    """Names the rows of panels with a common axis, the first scheme on top, and puts the legend below them."""
    for axes in panels:
        axes.set_yticks(range(len(schemes)), [scheme["label"] for scheme in schemes.values()])
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
