"""The notebooks run, and are kept without what a run puts into them."""

import re
from pathlib import Path

import nbformat
import pytest
from lab import PATIENCE_S
from nbclient import NotebookClient

from p4sched.paths import EXPERIMENTS_DIR

NOTEBOOKS = sorted(EXPERIMENTS_DIR.glob("*/*.ipynb"))
QUICK_LOOK = EXPERIMENTS_DIR / "completion_at_scale" / "quick_look.ipynb"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


def test_the_quick_look_draws_the_figure_and_fifo_is_slower_than_packs() -> None:
    notebook = nbformat.read(QUICK_LOOK, as_version=4)
    NotebookClient(
        notebook, timeout=int(PATIENCE_S), resources={"metadata": {"path": str(QUICK_LOOK.parent)}}
    ).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    printed = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    means = {
        line.split()[0]: [float(mean) for mean in re.findall(r"[\d.]+(?= ms)", line)] for line in printed.splitlines()
    }
    for fifo, packs, pifo in zip(means["FIFO"], means["PACKS"], means["PIFO"], strict=True):
        assert pifo <= packs < fifo
