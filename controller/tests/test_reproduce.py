"""`p4sched reproduce`: the store, the restart, the test of the order, and the page."""

import asyncio
import csv
import gc
import os
import shutil
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments.completion_at_scale import reproduction as scale
from experiments.fdpa_fairness.reproduction import Panel
from p4sched.cli import main
from p4sched.cli.main import run_command
from p4sched.errors import P4schedError, UsageError
from p4sched.p4rt.compile import source_file, stage_sums
from p4sched.p4rt.target import Target
from p4sched.paths import rust_binary
from p4sched.reproducing import page, published, runs
from p4sched.reproducing.figure import PAPERS, Figure, Line, Metrics, Quantity, figures, select
from p4sched.reproducing.judge import NO, NONE, OPEN, YES, judge
from p4sched.reproducing.published import Numbers, Order, Range
from p4sched.reproducing.results import collect, is_older, of_older_code
from p4sched.reproducing.runs import Done, Job
from p4sched.reproducing.store import Store, open_store
from p4sched.results import intervals

TINY = ["packs", "10", "--seeds", "2", "--duration", "1ms"]
"""917 packets in stepped time for each of 16 runs."""


def seeds(*values: float) -> dict[int, float]:
    return dict(enumerate(values, 1))


def numbers(**values: float) -> Numbers:
    return Numbers({(line, "0.5"): value for line, value in values.items()})


A = seeds(1.00, 1.01, 0.99, 1.02, 0.98)
TWICE = seeds(2.01, 2.00, 1.99, 2.03, 1.97)
NOISY = seeds(0.7, 1.5, 0.8, 1.6, 0.9)


def test_pairs_are_the_same_opposite_or_open() -> None:
    measured = {("a", "0.5"): A, ("twice", "0.5"): TWICE, ("noisy", "0.5"): NOISY}
    found = judge(numbers(a=1.0, twice=2.0), measured)
    assert (found.same, found.order, found.values) == (["a and twice at 0.5"], YES, YES)
    found = judge(numbers(a=2.0, twice=1.0), measured)
    assert (found.opposite, found.order, found.values) == (["a and twice at 0.5"], NO, NO)
    # far more than the noise of one run is published, but it is not measured
    found = judge(numbers(a=1.0, noisy=5.0), measured)
    assert (found.undecided, found.order) == (["a and noisy at 0.5"], OPEN)


def test_a_published_difference_within_the_noise_of_a_run_is_no_order() -> None:
    measured = {("a", "0.5"): A, ("twice", "0.5"): TWICE, ("noisy", "0.5"): NOISY}
    assert judge(numbers(a=1.0, twice=1.04), measured).order == NONE
    assert judge(numbers(a=1.0, noisy=1.5), measured).pairs == 0


def test_a_published_value_that_cannot_be_right_is_not_compared() -> None:
    measured = {("a", "0.5"): A, ("twice", "0.5"): TWICE}
    found = judge(Numbers({("a", "0.5"): 9.0, ("twice", "0.5"): 2.0}, slips={("a", "0.5"): "a copy"}), measured)
    assert (found.pairs, list(found.ratios), found.order, found.values) == (0, [("twice", "0.5")], NONE, YES)


def test_a_published_range_that_cannot_be_right_is_shown_and_not_compared() -> None:
    measured = {("a", "0.5"): A, ("twice", "0.5"): TWICE}
    ranges = [Range("twice", "a", "", 9.0, 9.0), Range("a", "twice", "", 0.5, 0.5)]
    wrong = judge(Numbers({}, ranges, slips={("twice", ""): "a slip"}), measured)
    assert ([each.line for each, *_ in wrong.ranges], wrong.pairs, wrong.values) == (["twice", "a"], 1, YES)
    alone = judge(Numbers({}, ranges[:1], slips={("twice", ""): "a slip"}), measured)
    assert (alone.order, alone.values) == (NONE, NONE)


def test_more_pairs_need_more_certainty() -> None:
    """t = 3.5 with 4 degrees of freedom is p = 0.025: enough for one pair, not for four."""
    slightly = seeds(*(value * ratio for value, ratio in zip(A.values(), (1.1, 1.02, 1.12, 1.01, 1.1), strict=True)))
    assert judge(numbers(a=1.0, slightly=1.2), {("a", "0.5"): A, ("slightly", "0.5"): slightly}).order == YES
    places = ("0.2", "0.4", "0.6", "0.8")
    values = {(line, place): value for place in places for line, value in (("a", 1.0), ("slightly", 1.2))}
    measured = {(line, place): each for place in places for line, each in (("a", A), ("slightly", slightly))}
    assert judge(Numbers(values), measured).order == OPEN


def test_one_seed_or_a_missing_line_decides_nothing() -> None:
    assert judge(numbers(a=1.0, b=2.0), {("a", "0.5"): seeds(1.0), ("b", "0.5"): seeds(2.0)}).order == OPEN
    found = judge(numbers(a=1.0, b=2.0, c=3.0), {("a", "0.5"): A, ("b", "0.5"): TWICE})
    assert (found.missing, found.order) == (1, OPEN)


def test_blocks_of_time_decide_where_there_are_few_seeds() -> None:
    """Seed 1 has ten blocks, whose mean differs from the value of the whole run."""

    def blocks(*of: float) -> dict[tuple[int, int], float]:
        return {(1, place): value for place, value in enumerate(of * 2)}

    measured = {("a", "0.5"): seeds(1.0), ("b", "0.5"): seeds(2.0)}
    in_blocks = {("a", "0.5"): blocks(*A.values()), ("b", "0.5"): blocks(*TWICE.values())}
    assert judge(numbers(a=1.0, b=2.0), measured).order == OPEN
    assert judge(numbers(a=1.0, b=2.0), measured, in_blocks).order == YES
    assert judge(numbers(a=2.0, b=1.0), measured, in_blocks).order == NO
    noisy = {**in_blocks, ("b", "0.5"): blocks(*NOISY.values())}
    assert judge(numbers(a=1.0, b=2.0), measured, noisy).order == OPEN
    # blocks in another order than the whole runs decide nothing: a mean is of the flows that are done
    backwards = {("a", "0.5"): blocks(*TWICE.values()), ("b", "0.5"): blocks(*A.values())}
    assert judge(numbers(a=1.0, b=2.0), measured, backwards).order == OPEN
    # with five seeds, they decide
    five = {("a", "0.5"): A, ("b", "0.5"): TWICE}
    assert judge(numbers(a=1.0, b=2.0), five, noisy).order == YES


def test_a_published_range_is_one_of_ratios() -> None:
    measured = {("a", "0.2"): A, ("b", "0.2"): TWICE, ("a", "0.8"): TWICE, ("b", "0.8"): seeds(6, 6.1, 6, 6.2, 5.9)}
    found = judge(Numbers(ranges=[Range("b", "a", "", 2.1, 3.3)]), measured)
    ((_, low, high),) = found.ranges
    assert (round(low, 1), round(high, 1), found.order, found.values) == (2.0, 3.0, YES, YES)
    assert judge(Numbers(ranges=[Range("b", "a", "", 0.5, 0.9)]), measured).order == NO
    at = judge(Numbers(ranges=[Range("b", "a", "0.8", 3.0, 3.0)]), measured)
    assert (len(at.same), at.values) == (1, YES)


def test_a_published_ratio_can_be_of_one_line_at_two_places() -> None:
    measured = {("a", "100"): TWICE, ("a", "1000"): A}
    found = judge(Numbers(ranges=[Range("a", "a", "1000", 0.5, 0.5, "100")]), measured)
    assert (found.same, found.closeness, found.order) == (["a and a at 1000 and 100"], [True], YES)
    assert judge(Numbers(ranges=[Range("a", "a", "100", 0.5, 0.5, "1000")]), measured).order == NO


def test_one_published_number_counts_once() -> None:
    measured = {("a", "0.2"): A, ("b", "0.2"): TWICE, ("a", "0.8"): A, ("b", "0.8"): A}
    for low, high, place, close in (
        (2.0, 2.0, "0.2", [True]),
        (1.5, 2.5, "0.2", [True]),
        (0.5, 1.5, "0.2", [False]),
        (2.0, 2.0, "", [False]),
        (1.0, 2.0, "", [True, True]),
        (1.0, 3.0, "", [True, False]),
    ):
        assert judge(Numbers(ranges=[Range("b", "a", place, low, high)]), measured).closeness == close


def test_a_range_without_another_line_is_one_of_values() -> None:
    found = judge(Numbers(ranges=[Range("a", "", "", 0.9, 1.1)]), {("a", "0.2"): A, ("a", "0.8"): TWICE})
    ((_, low, high),) = found.ranges
    assert (round(low, 2), round(high, 2), found.pairs, found.values) == (1.0, 2.0, 0, NO)


def test_an_order_without_numbers_is_an_order_at_each_place() -> None:
    measured = {(line, place): each for place in ("0.2", "0.8") for line, each in (("a", A), ("b", TWICE))}
    found = judge(Numbers(orders=[Order("a", "b")]), measured)
    assert (found.same, found.order, found.values) == (["a and b at 0.2", "a and b at 0.8"], YES, NONE)
    assert judge(Numbers(orders=[Order("b", "a")]), measured).order == NO
    missing = judge(Numbers(orders=[Order("a", "c")]), measured)
    assert (missing.order, missing.values) == (OPEN, OPEN)


@pytest.mark.parametrize(
    ("t", "degrees", "p"), [(1, 1, 0.5), (12.706, 1, 0.05), (4.604, 4, 0.01), (8.610, 4, 0.001), (2.228, 10, 0.05)]
)
def test_students_t_has_the_probabilities_of_the_tables(t: float, degrees: int, p: float) -> None:
    assert intervals.student_p(t, degrees) == pytest.approx(p, rel=2e-3)
    assert intervals.student_p(-t, degrees) == intervals.student_p(t, degrees)


def test_holm_rejects_until_the_first_that_it_must_keep() -> None:
    assert intervals.holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]
    assert intervals.holm([]) == []


def test_a_repeated_command_makes_only_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", *TINY, "--out", str(tmp_path)]
    assert run_command(command) == 0
    shown = capsys.readouterr().out
    assert "0 of 16 simulations are stored" in shown
    assert [line.split()[1] for line in shown.splitlines() if line.startswith("packs-10 ")] == ["inversions", "lowest"]
    path = tmp_path / "measured" / "packs-10.csv"
    rows = path.read_text().splitlines(keepends=True)
    assert len(rows) == 17
    path.write_text("".join(rows[:6]))
    assert run_command(command) == 0
    assert "5 of 16 simulations are stored" in capsys.readouterr().out

    def without_times(lines: Sequence[str]) -> list[dict[str, str]]:
        return [{**row, "took_s": ""} for row in csv.DictReader(lines)]

    assert without_times(path.read_text().splitlines()) == without_times(rows)
    assert path.read_text().splitlines(keepends=True)[:6] == rows[:6]


def test_one_line_at_one_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = ["--line", "packs", "--place", "100", "--seeds", "1", "--out", str(tmp_path), "--no-page"]
    assert run_command(["reproduce", *TINY, *one]) == 0
    (stored,) = Store(tmp_path)
    assert (stored.line, stored.place, stored.seed) == ("packs", "100", 1)
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["packs-10", "packs", "100", "1", "inversions", "-", f"{stored.metrics['inversions']:.3g}"] in told
    assert told[-1] == ["1", "of", "1", "simulations", "are", "stored"]


def test_a_simulator_that_is_older_than_its_sources_makes_no_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "p4sched-simulate"
    shutil.copy(rust_binary("p4sched-simulate"), old)
    os.utime(old, (0, 0))
    monkeypatch.setenv("P4SCHED_SIMULATE", str(old))
    out = tmp_path / "out"
    assert run_command(["reproduce", *TINY, "--out", str(out), "--no-page"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "p4sched-simulate is older than switch/" in told
    assert "make setup" in told
    assert not list(Store(out))


def test_an_interrupted_command_keeps_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = runs.processes

    async def interrupted(left: Sequence[Job], at_once: int) -> AsyncGenerator[Done, None]:
        async for each in real(left[:3], at_once):
            yield each
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "processes", interrupted)
    assert run_command(["reproduce", *TINY, "--out", str(tmp_path)]) == 130
    assert "13 simulations are left; run the same command to continue" in capsys.readouterr().err
    assert len(list(Store(tmp_path))) == 3


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("line,place\n", "its first line does not begin with line,place,seed"),
        ("{head}a,1,x,1,1,1,1\n", "packs-10.csv:2: invalid literal for int() with base 10: 'x': delete this line"),
        ("{head}a,1,1\n", "packs-10.csv:2: too few or too many cells"),
        ("{head}a,1,1,1,1,1,nan\n", "packs-10.csv:2: 'nan' is not a number of a simulation: delete this line"),
        ("{head}a,1,1,1,1,1,1\na,1,2,1,1,1,1\n", "packs-10.csv:3: the simulation of another line: delete this line"),
        ("\0", "packs-10.csv: "),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str, says: str) -> None:
    (tmp_path / "measured").mkdir()
    head = "line,place,seed,duration_s,inputs,commit,took_s\n"
    (tmp_path / "measured" / "packs-10.csv").write_text(damage.format(head=head))
    assert run_command(["reproduce", *TINY, "--out", str(tmp_path)]) == 1
    assert says in " ".join(capsys.readouterr().err.split())


def test_what_is_stored_is_shown_while_another_command_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_store(tmp_path):
        assert run_command(["reproduce", *TINY, "--out", str(tmp_path), "--no-runs", "--no-page"]) == 0
    assert "0 of 16 simulations are stored" in capsys.readouterr().out


def test_two_commands_do_not_write_to_one_folder(tmp_path: Path) -> None:
    with (
        open_store(tmp_path),
        pytest.raises(P4schedError, match="another 'p4sched reproduce' writes"),
        open_store(tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["rifl"], "no paper 'rifl'; did you mean 'rifo'?"),
        (["rifo", "77"], "no figure of RIFO '77'; did you mean '7'?"),
        (["packs", "10", "--again", "3", "--no-runs"], "--again makes simulations, --no-runs does not"),
        (["packs", "10", "--again", "0"], "--again"),
        (["rifo", "11"], "RIFO has no figure '11'; it has 11a, 11b"),
        (["aifo", "15"], "no simulation of this command makes figure 15 of AIFO: experiments/priority_udp/README.md,"),
        (["packs", "10", "--line", "pack"], "no line 'pack'; did you mean 'packs'?"),
        (["packs", "10", "--place", "7"], "no place '7'; use one of: 15, 100, 1000, 10000"),
        (
            ["packs", "10", "--duration", "1ns"],
            "--duration 1ns is too short: a flow takes longer than that; use at least 1us",
        ),
        (
            ["packs", "10", "--duration", "2ms"],
            "has simulations of 1s; name another folder with --out, or add --no-page",
        ),
    ],
)
def test_a_wrong_name_is_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert main.run_command(["reproduce", *words]) == 2
    assert says in " ".join(capsys.readouterr().err.split())


def test_a_figure_has_two_names() -> None:
    assert select("rifo-7", None) == select("rifo", "7")
    with pytest.raises(UsageError):
        select("rifo-7", "7")


def test_figures_share_a_simulation() -> None:
    aifo, rifo = figures()["aifo-7"], figures()["rifo-7"]
    both = runs.jobs([aifo, rifo], [1], 10**9)
    # AIFO Fig. 7 has all lines of RIFO Fig. 7 but RIFO, at 7 loads: TCP, two of DCTCP, PIFO and AIFO, three of SP-PIFO
    assert [job.figure.name for job in both].count("aifo-7") == 70
    assert {job.line for job in both if job.figure.name == "rifo-7"} == {"rifo-simulated", "rifo"}


def test_a_simulation_that_figures_share_is_in_one_file(tmp_path: Path) -> None:
    shown = [Line("a", "A", "fifo"), Line("b", "B", "fifo")]
    first, second = (
        Figure(name, "a figure", shown, ["1"], "load", [], _made, ["Makefile"]) for name in ("aifo-98", "aifo-99")
    )
    with open_store(tmp_path) as store:
        for number, job in enumerate(runs.jobs([second], [1], 10**9)):
            store.keep(second, job.measured({"time_ms": float(number)}, 1.0, "0123456789ab"))
        (shared, _) = runs.jobs([first], [1], 10**9)
        store.keep(first, shared.measured({"time_ms": 7.0}, 1.0, "0123456789ab"))
    lines = {path.stem: path.read_text().splitlines()[1:] for path in (tmp_path / "measured").glob("*.csv")}
    assert {name: [line.split(",")[0] for line in found] for name, found in lines.items()} == {
        "aifo-98": ["a"],
        "aifo-99": ["b"],
    }
    assert sorted(each.metrics["time_ms"] or 0.0 for each in Store(tmp_path)) == [1.0, 7.0]


def test_a_published_line_has_the_rule_of_the_authors_simulations_and_the_text_has_a_line_of_its_own() -> None:
    for name, repeated in (("rifo-7", "aifo"), ("rifo-12", "rifo"), ("aifo-9", "w=20/1"), ("sp_pifo-9", "sp_pifo")):
        lines = {line.name: line for line in figures()[name].lines}
        simulated, text = lines[f"{repeated}-simulated"], lines[repeated]
        assert (simulated.published, simulated.of) == (True, repeated)
        assert (text.published, text.label) == (False, f"{simulated.label}, rule of the text")
        run = figures()[name].run
        assert run(simulated.name, "0.2", 1, 10**9).inputs != run(text.name, "0.2", 1, 10**9).inputs
    assert not [line for line in figures()["packs-12"].lines if line.name.endswith("-simulated")]


def test_the_published_queue_of_dctcp_has_bytes_as_in_netbench() -> None:
    for name in ("rifo-7", "rifo-8", "rifo-14", "aifo-7", "sp_pifo-7"):
        run = figures()[name].run("dctcp", "0.2", 1, 10**9)
        assert isinstance(run, scale.Run)
        assert run.simulation.scenario()["ports"] == {
            "scheme": "fifo",
            "buffer_bytes": 146_000,
            "mark_at_bytes": 14_600,
        }


def test_a_published_line_of_a_scheme_that_reorders_has_the_order_of_netbench() -> None:
    def scenario(figure: str, line: str) -> dict[str, Any]:
        run = figures()[figure].run(line, "0.2", 1, 10**9)
        assert isinstance(run, scale.Run)
        return run.simulation.scenario()

    for name, line in (("rifo-7", "pifo"), ("rifo-8", "sp_pifo"), ("rifo-14", "sp_pifo"), ("aifo-8", "pifo")):
        lines = {each.name: each for each in figures()[name].lines}
        assert (lines[f"{line}-netbench"].published, lines[line].published) == (True, False)
        as_run, of_text = scenario(name, f"{line}-netbench"), scenario(name, line)
        assert (as_run["events"], of_text.get("events")) == ("netbench", None)
        if line == "pifo":
            assert (as_run["ports"]["variants"], as_run["ports"]["queue_size"]) == (["heap_order"], 79)
            assert as_run["hosts"] == as_run["ports"]
    # its numbers agree without that order
    assert not [line for line in figures()["rifo-12"].lines if "netbench" in line.name]
    for line in ("pifo", "sp_pifo"):
        assert scenario("rifo-13", f"{line}-netbench")["ports"]["start_time_bytes"] == 1
        assert "start_time_bytes" not in scenario("rifo-13", line)["ports"]
    assert not [line for line in figures()["packs-12"].lines if "netbench" in line.name]


def test_a_figure_against_sizes_has_the_sizes_of_tcp_too() -> None:
    sized, plain = (figures()[name].run("tcp", "0.7", 1, 10**9) for name in ("aifo-14c", "aifo-14"))
    assert isinstance(sized, scale.Run)
    assert isinstance(plain, scale.Run)
    assert (sized.by_size, plain.by_size) == (True, False)
    assert sized.inputs != plain.inputs
    pair = [figures()[name].run("afq", "0.7", 1, 10**9) for name in ("aifo-14c", "aifo-14")]
    assert pair[0].inputs == pair[1].inputs


def test_numbers_of_a_published_line_are_compared_with_the_line_that_repeats_it(tmp_path: Path) -> None:
    """The line of the same name has another rule, and is not compared."""
    lines = [Line("a-simulated", "A", "aifo", of="a"), Line("a", "A, text", "aifo", published=False)]
    figure = Figure("aifo-99", "a figure", lines, ["1"], "load", [Quantity("time_ms", "time")], _made, ["Makefile"])
    with open_store(tmp_path) as store:
        for job in runs.jobs([figure], [1], 10**9):
            store.keep(figure, job.measured({"time_ms": 2.0 if job.line == "a" else 1.0}, 1.0, "0123456789ab"))
    found = {("aifo-99", "time_ms"): Numbers({("a", "1"): 1.0}, [Range("a", "a", "", 1.0, 1.0)])}
    (row,) = collect(figure, found, Store(tmp_path), [1], 10**9).rows
    assert row.verdict.ratios == {("a-simulated", "1"): 1.0}
    assert [(each.line, low) for each, low, _ in row.verdict.ranges] == [("a-simulated", 1.0)]


def test_the_resources_of_a_program_are_the_sums_of_p4sched_stages() -> None:
    sums = stage_sums(source_file("rifo", Target.TNA), Target.TNA)
    # twelve stages of Tofino 1 (stages.md)
    assert {name: there for name, (_, there) in sums.items()} == {
        "tables": 12 * 16,
        "gateways": 12 * 16,
        "stateful": 12 * 4,
        "counters": 12 * 4,
        "SRAM": 12 * 80,
        "map RAM": 12 * 48,
        "TCAM": 12 * 24,
        "exact B": 12 * 128,
        "ternary B": 12 * 66,
        "hash bits": 12 * 416,
    }
    assert 3 <= sums["stateful"][0] <= 6, "Max, Min and the counter; the rest reports the length"
    with pytest.raises(UsageError, match="v1model has no stages"):
        stage_sums(source_file("rifo", Target.V1MODEL), Target.V1MODEL)


def test_the_rule_alone_takes_no_more_than_the_program_that_has_it(tmp_path: Path) -> None:
    figure = figures()["rifo-resources"]

    def shares(line: str) -> dict[str, float]:
        found = asyncio.run(figure.run(line, "*", 1, 10**9).make(tmp_path))
        return {resource: share for resource, share in found.items() if share is not None}

    taken = {each.name: shares(each.name) for each in figure.lines}
    for scheme in ("rifo", "sp_pifo"):
        assert all(taken[f"{scheme}-rule"][each] <= taken[scheme][each] for each in figure.places)
    # the rule of AIFO has worker packets, as in the paper: one stateful ALU more
    rule, program = taken["aifo-rule"], taken["aifo"]
    assert all(rule[each] < program[each] for each in figure.places if each != "stateful ALUs")
    assert rule["stateful ALUs"] == pytest.approx(program["stateful ALUs"] + 100 / 48)
    published = {each.name for each in figure.lines if each.published}
    assert published == {"rifo", "aifo", "sp_pifo"}


def test_published_lines_come_first_then_the_first_seed_then_the_shortest(tmp_path: Path) -> None:
    left = runs.missing(runs.jobs([figures()["aifo-14"]], [1, 2], 10**9), Store(tmp_path))
    assert [job.published for job in left] == sorted((job.published for job in left), reverse=True)
    first = [job for job in left if job.published and job.run.seed == 1]
    assert left[: len(first)] == first
    assert [job.place for job in first] == sorted(job.place for job in first)


def test_figures_are_in_the_order_of_their_numbers() -> None:
    of_rifo = [name for name in figures() if name.startswith("rifo")]
    assert of_rifo[:6] == ["rifo-3", "rifo-7", "rifo-8", "rifo-9", "rifo-10", "rifo-11a"]
    assert of_rifo[-1] == "rifo-tables"


def test_every_published_number_belongs_to_a_line_of_a_figure() -> None:
    for (name, key), found in published.read().items():
        figure = figures()[name]
        lines = {line.of or line.name for line in figure.lines if line.published}
        quantities = {each.key for each in figure.quantities}
        assert key in quantities
        assert {line for line, _ in found.values} <= lines
        assert {place for _, place in found.values} <= set(figure.places)
        assert {place for each in found.ranges for place in (each.place, each.base_place)} <= {"", *figure.places}
        assert {line for each in found.ranges for line in (each.line, each.base or each.line)} <= lines
        assert {line for each in found.orders for line in (each.line, each.base)} <= lines
        assert set(found.slips) <= set(found.values) | {(each.line, each.place) for each in found.ranges}
        assert found.source
        assert found.origin in page.ORIGINS
    notes = page.read_notes()
    assert set(notes.causes) <= set(figures())
    assert {each.name.partition("-")[0] for each in notes.further} <= set(PAPERS)


def test_fdpa_has_the_edges_and_queues_of_its_paper() -> None:
    # 200 Mbit/s for 30 ms are 750,000 bytes; at 10 Gbit/s and 5 ms the paper has queues of 4166, 1041, 154, 20 and 20
    port = Panel(50, "quarter").port("middle")["parameters"]
    assert [port[f"edge_{at}"] for at in range(1, 5)] == [750_000, 1_125_000, 1_500_000, 1_875_000]
    assert [port[f"depth_{at}"] for at in range(1, 6)] == [4166, 1041, 154, 20, 20]
    assert len(figures()["fdpa-5-bands"].places) == 50


def test_numbers_of_changed_code_are_older() -> None:
    assert is_older("0123456789ab+changes", ["Makefile"])
    assert is_older("0123456789ab", ["Makefile"])


@dataclass(frozen=True)
class Made:
    """A run whose number is known."""

    line: str
    place: str
    seed: int
    work: float = 1.0

    @property
    def inputs(self) -> str:
        return f"{self.line}-{self.place}-{self.seed}"

    async def make(self, folder: Path) -> Metrics:
        return {"time_ms": (10 if self.line == "slow" else 1) + self.seed / 100}


def _made(line: str, place: str, seed: int, duration_ns: int) -> Made:
    return Made(line, place, seed)


def test_a_figure_without_published_numbers_shows_the_measured_ones(tmp_path: Path) -> None:
    lines = [Line("slow", "Slow", "fifo")]
    figure = Figure("aifo-99", "a figure", lines, ["1"], "load", [Quantity("time_ms", "time")], _made, ["Makefile"])
    with open_store(tmp_path) as store:
        for job in runs.jobs([figure], [1], 10**9):
            store.keep(figure, job.measured({"time_ms": 10.0}, 2.0, "0123456789ab"))
    judged = collect(figure, {}, Store(tmp_path), [1], 10**9)
    page.write([judged], page.Notes({}, {}, [], []), tmp_path, "p4sched reproduce")
    text = (tmp_path / "README.md").read_text()
    assert "Time: measured." in text
    assert "| Slow | 10 |" in text
    assert "| order | 0 | 0 | 0 |" in text
    assert (tmp_path / "figures" / "aifo-99.png").exists()


def test_a_line_with_another_rule_stands_beside_the_compared_line_and_an_empty_one_is_left_out(tmp_path: Path) -> None:
    lines = [
        Line("a-simulated", "A", "aifo", of="a"),
        Line("a", "A, text", "aifo", published=False, of="a"),
        Line("b", "B, unknown", "aifo", published=False),
    ]
    figure = Figure("aifo-99", "a figure", lines, ["1", "2"], "load", [Quantity("ms", "time")], _made, ["Makefile"])
    # the seeds that both lines have: 1 and 2 at place 1, 1 at place 2
    made = {("a-simulated", "1", 1): 1.0, ("a-simulated", "1", 2): 3.0, ("a-simulated", "1", 3): 90.0}
    made |= {("a", "1", 1): 4.0, ("a", "1", 2): 4.0, ("a", "2", 1): 5.0, ("a-simulated", "2", 1): 10.0}
    with open_store(tmp_path) as store:
        for job in runs.jobs([figure], [1, 2, 3], 10**9):
            if (value := made.get((job.line, job.place, job.run.seed))) is not None:
                store.keep(figure, job.measured({"ms": value}, 1.0, "0123456789ab"))
    judged = collect(figure, {}, Store(tmp_path), [1, 2, 3], 10**9)
    page.write([judged], page.Notes({}, {}, [], []), tmp_path, "p4sched reproduce")
    text = (tmp_path / "README.md").read_text()
    assert "| A, text | 1.25 (0.50 to 2.00) |" in text
    assert "unknown" not in text


@dataclass(frozen=True)
class Fixed(Made):
    """A run that is the same for each seed."""

    @property
    def inputs(self) -> str:
        return f"{self.line}-{self.place}"


def _fixed(line: str, place: str, seed: int, duration_ns: int) -> Fixed:
    return Fixed(line, place, seed)


def test_a_run_that_is_the_same_for_each_seed_counts_once_and_decides(tmp_path: Path) -> None:
    lines = [Line("a", "A", "fifo"), Line("b", "B", "aifo")]
    figure = Figure("aifo-99", "a figure", lines, ["1"], "load", [Quantity("time_ms", "time")], _fixed, ["Makefile"])
    with open_store(tmp_path) as store:
        for job in runs.jobs([figure], [1, 2, 3], 10**9):
            store.keep(figure, job.measured({"time_ms": 2.0 if job.line == "a" else 1.0}, 1.0, "0123456789ab"))
    found = {("aifo-99", "time_ms"): Numbers({("a", "1"): 2.2, ("b", "1"): 1.0})}
    judged = collect(figure, found, Store(tmp_path), [1, 2, 3], 10**9)
    (row,) = judged.rows
    assert (judged.stored, judged.wanted, judged.seeds, row.verdict.order) == (2, 2, [], YES)
    estimate = row.estimate("a", "1")
    assert estimate
    assert (estimate.seeds, estimate.half_width) == (1, None)
    page.write([judged], page.Notes({}, {}, [], []), tmp_path, "p4sched reproduce")
    text = (tmp_path / "README.md").read_text()
    assert "2 of 2 simulations, the same for each seed, 2 of older code. One seed takes" in text
    assert "| A | 2.2; 2 |" in text


def test_a_number_beside_the_published_ones_has_a_table_and_no_verdict(tmp_path: Path) -> None:
    quantities = [Quantity("time_ms", "time"), Quantity("done", "share done", beside=True)]
    figure = Figure("aifo-99", "a figure", [Line("a", "A", "fifo")], ["1"], "load", quantities, _made, ["Makefile"])
    with open_store(tmp_path) as store:
        for job in runs.jobs([figure], [1], 10**9):
            store.keep(figure, job.measured({"time_ms": 2.0, "done": 0.75}, 1.0, "0123456789ab"))
    judged = collect(figure, {}, Store(tmp_path), [1], 10**9)
    assert [[row.quantity.key for row in rows] for rows in (judged.shown, judged.beside)] == [["time_ms"], ["done"]]
    page.write([judged], page.Notes({}, {}, [], []), tmp_path, "p4sched reproduce")
    assert "Share done: measured." in (tmp_path / "README.md").read_text()


def test_stored_simulations_of_older_code_are_made_again_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["reproduce", *TINY, "--out", str(tmp_path), "--no-page"]
    assert run_command(command) == 0
    path = tmp_path / "measured" / "packs-10.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    commit, inversions = rows[0].index("commit"), rows[0].index("inversions")
    for row in rows[1:4]:
        row[commit] = "0123456789ab"
    path.write_text("".join(f"{','.join(row)}\n" for row in rows))
    old = len(of_older_code(runs.jobs([figures()["packs-10"]], [1, 2], 10**6), Store(tmp_path)))
    capsys.readouterr()
    assert run_command([*command, "--again", "100"]) == 0
    told = capsys.readouterr().out
    assert f"{old} of {old} simulations of older code" in told
    assert f"all {old} have the same numbers as before" in told
    rows[1][inversions] = "17"
    path.write_text("".join(f"{','.join(row)}\n" for row in rows))
    assert run_command([*command, "--again", "100"]) == 1
    assert "other numbers than before in 1 of the simulations: packs-10, " in " ".join(capsys.readouterr().err.split())
    assert run_command([*command, "--again", "100"]) == 0


@dataclass(frozen=True)
class Failing(Made):
    """A run that fails."""

    async def make(self, folder: Path) -> Metrics:
        raise P4schedError("no simulator")


def _failing(line: str, place: str, seed: int, duration_ns: int) -> Failing:
    return Failing(line, place, seed)


def test_runs_that_fail_at_the_same_time_are_one_error(caplog: pytest.LogCaptureFixture) -> None:
    figure = Figure("aifo-99", "a figure", [Line("a", "A", "fifo")], ["1"], "load", [], _failing, ["Makefile"])

    async def make() -> None:
        async for _ in runs.processes(runs.jobs([figure], [1, 2, 3], 10**9), 3):
            pass

    with pytest.raises(P4schedError, match=r"aifo-99, a, load 1, seed .: no simulator"):
        asyncio.run(make())
    gc.collect()
    assert not caplog.records


def test_numbers_of_further_seeds_count_too(tmp_path: Path) -> None:
    lines = [Line("slow", "Slow", "fifo")]
    figure = Figure("aifo-99", "a figure", lines, ["1"], "load", [Quantity("time_ms", "time")], _made, ["Makefile"])
    with open_store(tmp_path) as store:
        for job in runs.jobs([figure], [1, 2, 7], 10**9):
            store.keep(figure, job.measured({"time_ms": float(job.run.seed)}, 1.0, "0123456789ab"))
    judged = collect(figure, {}, Store(tmp_path), [1, 2, 3], 10**9)
    assert (judged.stored, judged.wanted, judged.older, judged.seeds) == (3, 4, 3, [1, 2, 7])
    assert judged.rows[0].measured["slow", "1"] == {1: 1.0, 2: 2.0, 7: 7.0}


def test_a_row_that_repeats_an_earlier_one_is_marked_and_readings_of_a_text_do_not_count(tmp_path: Path) -> None:
    def figure(name: str) -> Figure:
        lines = [Line(line, line.upper(), "fifo") for line in "abc"]
        quantities = [Quantity("time_ms", "time, ms")]
        return Figure(name, "a figure", lines, ["1"], "load", quantities, _made, ["Makefile"])

    values = {("a", "1"): 1.23, ("b", "1"): 2.34, ("c", "1"): 3.45}
    published = {
        ("aifo-97", "time_ms"): Numbers(values, origin="data"),
        ("rifo-98", "time_ms"): Numbers({**values, ("a", "1"): 1.5}, origin="data"),
        ("rifo-99", "time_ms"): Numbers({**values, ("a", "1"): 1.4, ("b", "1"): 2.2}, origin="data"),
        ("packs-99", "time_ms"): Numbers({("a", "1"): 7.0}, origin="readings"),
    }
    shown = [figure("aifo-97"), figure("rifo-98"), figure("rifo-99"), figure("packs-99")]
    judged = [collect(each, published, Store(tmp_path), [1], 10**9) for each in shown]
    counts = {name: len(found) for name, found in page.verdicts(judged).items()}
    assert list(counts.values()) == [3, 3, 2, 2]
    assert list(counts)[2] == "order, without repeated rows"
    page.write(judged, page.Notes({}, {}, [], []), tmp_path, "p4sched reproduce")
    text = (tmp_path / "README.md").read_text()
    marked = [name for name in ("aifo-97", "rifo-98", "rifo-99", "packs-99") if f"| [{name}](#{name}) * |" in text]
    assert marked == ["rifo-98"]
    assert text.count("| (open) | (open) |") == 1


def test_a_page_from_a_tiny_store(tmp_path: Path) -> None:
    figure = Figure(
        "aifo-99",
        "a figure",
        [Line("slow", "Slow", "fifo"), Line("fast", "Fast", "aifo")],
        ["0.5"],
        "load",
        [Quantity("time_ms", "time, ms")],
        _made,
        ["Makefile"],
    )
    found = {("aifo-99", "time_ms"): Numbers({("slow", "0.5"): 20.0, ("fast", "0.5"): 1.0}, [], "data", "a file")}
    jobs = runs.jobs([figure], [1, 2, 3, 4, 5], 10**9)
    with open_store(tmp_path) as store:
        for job in jobs[:-1]:
            value = 10 + job.run.seed / 100 if job.line == "slow" else 1 + job.run.seed / 100
            store.keep(figure, job.measured({"time_ms": value}, 2.0, "0123456789ab"))
        assert runs.Clock(jobs, [], store).second_of_work == 2.0
    judged = collect(figure, found, Store(tmp_path), [1, 2, 3, 4, 5], 10**9)
    assert (judged.stored, judged.wanted, judged.older) == (9, 10, 9)
    notes = page.Notes(
        {}, {"aifo-99": {"all": "half the work"}}, ["a slip"], [page.Further("aifo-1", "examples", "tests")]
    )
    page.write([judged], notes, tmp_path, "p4sched reproduce")
    text = (tmp_path / "README.md").read_text()
    cells = "| 1, 0, 0 | yes | no (1 of 2) | 0.76 (0.50 to 1.02) | half the work |"
    assert f"| [aifo-99](#aifo-99) | a figure: time, ms {cells}" in text
    assert "| Slow | 20; 10 ± 0.02 |" in text
    assert "9 of 10 simulations, seeds 1, 2, 3, 4, 5, 9 of older code. One seed takes 4 s." in text
    assert "- a slip" in text
    assert "| 1 | examples | tests |" in text
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text().splitlines()))
    assert [(row["line"], row["ratio"], row["close"]) for row in rows] == [
        ("slow", "0.501", "no"),
        ("fast", "1.025", "yes"),
    ]
    assert (tmp_path / "figures" / "aifo-99.png").stat().st_size > 10_000
