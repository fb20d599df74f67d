"""`p4sched compare`: one page for schedulers of the laboratory and of folders."""

import csv
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.comparing import workloads
from p4sched.comparing.page import Cell
from p4sched.folders.new import new
from p4sched.folders.schemes import forget

TINY = workloads.Scale(2000, 3_000_000, 200_000_000, 20)


def rows(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((out / "results.csv").read_text().splitlines()))


def test_schedulers_are_compared_on_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new scheduler is a FIFO, so its numbers are those of FIFO where both hold the same number of packets."""
    monkeypatch.setattr(workloads, "QUICK", TINY)
    folder = tmp_path / "gearbox"
    new(folder)
    text = (folder / "scheduler.toml").read_text()
    (folder / "scheduler.toml").write_text(text.replace('alike = "queue_size"', 'alike = "buffer"'))
    for out in ("one", "two"):
        assert run_command(["compare", f"fifo,pifo,drr,{folder}", "--quick", "--out", str(tmp_path / out)]) == 0
    forget(folder)
    found = rows(tmp_path / "one")
    assert rows(tmp_path / "two") == found
    values = {
        name: {(row["workload"], row["seed"]): row["value"] for row in found if row["scheme"] == name}
        for name in ("fifo", "pifo", "drr", "gearbox")
    }
    # start times are ranks of every scheduler but FIFO, which ignores them
    assert values["gearbox"] == values["fifo"]
    assert len({workload for workload, _ in values["fifo"]}) == 9
    assert float(values["pifo"]["uniform ranks", "1"]) < float(values["fifo"]["uniform ranks", "1"])
    page = (tmp_path / "one" / "README.md").read_text()
    assert "| workload | number | FIFO | PIFO | DRR | gearbox |" in page
    assert "- DRR does not serve packets by rank: no inversions" in page
    assert (tmp_path / "one" / "figure.png").stat().st_size > 10_000


def test_a_model_that_fails_leaves_the_others_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workloads, "QUICK", TINY)
    folder = tmp_path / "broken"
    new(folder)
    text = (folder / "model.py").read_text()
    (folder / "model.py").write_text(text.replace("return FULL", "return 7"))
    assert run_command(["compare", f"fifo,{folder}", "--quick", "--out", str(tmp_path / "out")]) == 1
    forget(folder)
    assert "enqueue returned 7; it returns Queued(queue), REFUSED or FULL" in capsys.readouterr().err
    assert len({row["workload"] for row in rows(tmp_path / "out") if row["scheme"] == "fifo"}) == 9


def test_the_confidence_interval_is_that_of_student() -> None:
    # mean 2, standard deviation 1, t of two degrees of freedom 4.303
    width = Cell((1.0, 2.0, 3.0)).half_width
    assert width is not None
    assert abs(width - 4.30 / 3**0.5) < 1e-9
    assert Cell((5.0,)).half_width is None
