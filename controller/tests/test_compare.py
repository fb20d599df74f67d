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


def test_a_score_is_the_mean_of_the_ratios_to_fifo_in_a_group_whatever_the_unit() -> None:
    def nothing(_scheme: str, _seed: int, _scale: workloads.Scale) -> None:
        return None

    kinds = [("short", "small flows", "lower"), ("long", "small flows", "lower"), ("index", "fairness", "higher")]
    kinds += [("attack", "attacks", "lower")]
    values: dict[str, dict[str, tuple[float, ...]]] = {
        "fifo": {"short": (4, 8), "long": (10, 10), "index": (0.5, 0.5), "attack": (1, 0)},
        "pifo": {"short": (1, 4), "long": (5, 5), "index": (1, 1), "attack": (0, 0)},
        "drr": {"short": (8, 16), "long": (), "index": (0.25, 0.25), "attack": (3, 3)},
    }

    def scores(factor: float) -> Comparison:
        listed = [Workload(name, group, name, better, nothing) for name, group, better in kinds]
        found = Comparison(list(values), listed, [1, 2], "", {}, dict.fromkeys(values, workloads.BUFFER))
        for name, row in values.items():
            for workload in listed:
                scale = factor if workload.group == "small flows" else 1
                found.cells[workload.name, name] = Cell(numbers(*(scale * each for each in row[workload.name])))
        return found

    found = scores(1)
    # one of FIFO's seeds has no inversions on the attack, so nothing is relative to it
    assert found.groups == ["small flows", "fairness"]
    # seeds: (1/4 + 5/10) / 2 and (4/8 + 5/10) / 2
    assert found.score("small flows", "pifo") == Cell(numbers(0.375, 0.5))
    assert found.score("fairness", "pifo") == Cell(numbers(0.5, 0.5))
    assert found.score("small flows", "drr") is None
    assert scores(1000).scores() == found.scores()
    assert [name for name, _ in found.scores()] == ["fifo", "pifo", "drr"]
    assert dict(found.scores())["drr"] == ["-", "2.00 ± 0.00"]
    assert dict(found.scores())["pifo"] == ["**0.44 ± 0.79**", "**0.50 ± 0.00**"]


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
    scored = page.partition("## Scores")[2]
    assert "| FIFO | 1.00 |" in scored
    assert "depth" not in scored.partition("Missing")[0]
    said = capsys.readouterr().out
    assert "numbers over FIFO's; smaller is better" in said
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
