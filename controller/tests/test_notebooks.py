"""The notebooks run, and are kept without what a run puts into them."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from lab import PATIENCE_S
from nbclient import NotebookClient

from p4sched.paths import EXPERIMENTS_DIR, ROOT

FIRST_FIGURES = ROOT / "docs" / "first_figures.ipynb"
NOTEBOOKS = [*sorted(EXPERIMENTS_DIR.glob("*/*.ipynb")), FIRST_FIGURES]
QUICK_LOOK = EXPERIMENTS_DIR / "completion_at_scale" / "quick_look.ipynb"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


def executed(path: Path, folder: Path) -> tuple[int, str]:
    """Runs a notebook in a folder; returns the number of its figures, and what it prints."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=int(PATIENCE_S), resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    figures = sum("image/png" in output.get("data", {}) for output in outputs)
    streams = [output for output in outputs if output.output_type == "stream" and output.name == "stdout"]
    return figures, "".join(output.text for output in streams)


def test_the_quick_look_draws_the_figure_and_fifo_is_slower_than_packs() -> None:
    figures, printed = executed(QUICK_LOOK, QUICK_LOOK.parent)
    assert figures == 1
    means = {
        line.split()[0]: [float(mean) for mean in re.findall(r"[\d.]+(?= ms)", line)] for line in printed.splitlines()
    }
    for fifo, packs, pifo in zip(means["FIFO"], means["PACKS"], means["PIFO"], strict=True):
        assert pifo <= packs < fifo


def test_the_first_notebook_draws_two_figures_and_installs_nothing_that_is_there(tmp_path: Path) -> None:
    figures, printed = executed(FIRST_FIGURES, tmp_path)
    assert figures == 2
    assert "pip" not in printed
    means = {name: float(mean) for name, mean in re.findall(r"^(\S+) +([\d.]+) ms$", printed, re.MULTILINE)}
    assert set(means) == {"FIFO", "SP-PIFO", "PACKS", "PIFO"}
    assert means["PIFO"] == min(means.values())
    assert means["FIFO"] == max(means.values())
    schemes = json.loads((tmp_path / "fairness" / "summary.json").read_text())["schemes"]
    jain = {name: scheme["jain_index"] for name, scheme in schemes.items()}
    assert jain["fifo"] < jain["fdpa"] <= jain["drr"]
