"""Tables at the end of a run, in a terminal of 80 columns."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from experiments.fair_queueing import experiment as fair_queueing
from experiments.flow_completion import experiment as flow_completion
from experiments.three_flows import experiment as three_flows
from p4sched.lab.experiment import Results
from p4sched.results.tables import print_table

INVALID = {"fidelity": {"valid": False, "doubts": []}}
LOAD = {
    "load": 0.8,
    "small_mean_ms": 117.32,
    "small_mean_low_ms": 109.18,
    "small_mean_high_ms": 125.47,
    "small_median_ms": 567.89,
    "small_p99_ms": 2567.85,
    "large_mean_ms": 4321.09,
    "small_retransmitting": 341,
    "small_flows": 1204,
    "not_completed": 23,
}
FLOWS = {name: {"completion_s": 3.519, "reordered_segments": 20461} for name, _ in three_flows.FLOWS}
FOUND: dict[str, Any] = {
    "small_mean_ratios": {},
    "schemes": {
        "sp_pifo": {
            **INVALID,
            "jain_index": 0.987,
            "throughput": 0.954,
            "loads": [LOAD],
            "flows": FLOWS,
            "label": "8x10 packets",
        }
    },
}


def results(found: dict[str, Any]) -> Results[Any, Any]:
    return Results(found, None, {}, Path())


def shown(table: Table, monkeypatch: pytest.MonkeyPatch) -> str:
    """The table as a person with a terminal of 80 columns sees it."""
    monkeypatch.setenv("COLUMNS", "80")
    console = Console(file=io.StringIO())
    print_table(console, table)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("table", "numbers"),
    [
        (flow_completion.table(results(FOUND))[0], "0.8 117.32 109.18-125.47 567.89 2567.85 4321.09 341 1204 23"),
        (fair_queueing.table(results(FOUND))[0], "0.987 0.954 0.8 117.3 2567.8 4321.1 23"),
        (three_flows.table(results(FOUND))[0], "3.52 20461"),
    ],
)
def test_numbers_and_verdict_are_whole_in_80_columns(
    table: Table, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = shown(table, monkeypatch)
    assert {*numbers.split(), "INVALID", "SP-PIFO"} <= set(re.split(r"[\s│]+", text))
    assert max(map(len, text.splitlines())) <= 80


def test_what_does_not_fit_makes_the_table_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(*(f"column {place}" for place in range(20)))
    cells = [f"{place}.1234567" for place in range(20)]
    table.add_row(*cells)
    assert set(cells) <= set(re.split(r"[\s│]+", shown(table, monkeypatch)))
