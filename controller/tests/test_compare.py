"""`p4sched compare`: one page for schedulers of the laboratory and of folders."""

import csv
import re
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.comparing import workloads
from p4sched.comparing.page import Cell, Comparison
from p4sched.comparing.workloads import Measured, Workload
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
    width = Cell(numbers(1, 2, 3)).half_width
    assert width is not None
    assert abs(width - 4.30 / 3**0.5) < 1e-9
    assert Cell(numbers(5)).half_width is None


def numbers(*values: float) -> tuple[Measured, ...]:
    return tuple(Measured(float(value)) for value in values)


def test_the_score_is_the_mean_of_the_ratios_to_fifo_whatever_the_unit() -> None:
    def nothing(_scheme: str, _seed: int, _scale: workloads.Scale) -> None:
        return None

    lower, higher, ranks = (
        Workload(name, name, name, better, nothing)
        for name, better in (("ms", "lower"), ("index", "higher"), ("attack", "lower"))
    )
    values = {"fifo": (4, 0.5, 0), "pifo": (1, 1, 0), "drr": (8, 0.25, 3)}

    def order(factor: float) -> list[tuple[str, float]]:
        found = Comparison(list(values), [lower, higher, ranks], [1], "", {}, dict.fromkeys(values, workloads.BUFFER))
        for name, (time, index, inversions) in values.items():
            found.cells["ms", name] = Cell(numbers(time * factor))
            found.cells["index", name] = Cell(numbers(index))
            found.cells["attack", name] = Cell(numbers(inversions))
        return found.order()

    # pifo: (1/4 + 0.5/1) / 2; drr: (8/4 + 0.5/0.25) / 2; FIFO has no inversions, so these do not count
    assert order(1) == [("pifo", 0.375), ("fifo", 1), ("drr", 2)]
    assert order(1000) == order(1)


def test_a_scheduler_that_holds_another_number_of_packets_is_named_and_has_no_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workloads, "QUICK", TINY)
    command = ["compare", "fifo,pifo,fifo:depth=1", "--quick", "--seeds", "1", "--out", str(tmp_path / "out")]
    assert run_command(command) == 0
    page = (tmp_path / "out" / "README.md").read_text()
    assert "The other schedulers hold 80 packets." in page
    assert "FIFO, depth = 1 holds 1 packet, not 80: it has no score." in page
    assert "| FIFO | PIFO | FIFO, depth = 1 (1 packet) |" in page
    assert (
        "`p4sched compare fifo,pifo,fifo:depth=1 --quick --seeds 1 --seed 1` wrote this page. A number is that of"
        in page
    )
    scored = page.partition("| score |")[2]
    assert "| FIFO | 1.000 |" in scored
    assert "depth" not in scored.partition("Missing")[0]
    said = capsys.readouterr().out
    assert "score: mean of the numbers over FIFO's; smaller is better" in said
    assert "FIFO, depth = 1 holds 1 packet, not 80" in said
    assert {row["seed"] for row in rows(tmp_path / "out")} == {"1"}
    # a queue of one packet has no inversions, and the page shows what it drops instead
    (one,) = (
        row for row in rows(tmp_path / "out") if (row["workload"], row["scheme"]) == ("uniform ranks", "fifo:depth=1")
    )
    assert float(one["dropped_share"]) > 0.05
    assert re.search(r"[0-9.]+ % dropped", page)


def test_without_fifo_there_are_no_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(workloads, "QUICK", TINY)
    assert run_command(["compare", "pifo,drr", "--quick", "--seeds", "1", "--out", str(tmp_path / "out")]) == 0
    assert "relative to FIFO, which is not among the schedulers" in capsys.readouterr().out


def test_a_number_with_flows_that_did_not_end_is_a_lower_bound() -> None:
    assert str(Cell((Measured(2000.0, unfinished=3),))) == "≥ 2000"
    assert str(Cell((Measured(20.0),))) == "20"
    assert str(Cell((Measured(7.0, dropped_share=0.125),))) == "7, 12.5 % dropped"
