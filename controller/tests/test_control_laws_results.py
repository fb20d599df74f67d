"""The experiment of the control laws: scores, settings, and the law in the loop of a program in stepped time."""

import dataclasses
import itertools
import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments.control_laws import phases
from experiments.control_laws.comparison import Comparison, compare
from experiments.control_laws.experiment import named_settings
from experiments.control_laws.phases import Arrival
from experiments.control_laws.score import Deadlines, Ideal, PhaseScore, matched, phase_score
from experiments.control_laws.search import search, vary
from experiments.control_laws.settings import (
    FULL,
    QUEUE_PACKETS,
    SHORT,
    STATIC,
    Setting,
    config,
    static_settings,
)
from experiments.control_laws.stepped_port import Port
from p4sched.cli.main import run_command
from p4sched.control.laws import aifo, packs, ranked, rifo
from p4sched.control.replay import replay
from p4sched.errors import P4schedError
from p4sched.paths import rust_binary
from p4sched.schemes import LAWS, find_scheme

MS = 1_000_000
RATE = 10_000_000


def built() -> str | None:
    """What is missing to run in stepped time."""
    try:
        rust_binary("p4sched-stepped-port")
        rust_binary("p4sched-traffic")
    except P4schedError as error:
        return str(error)
    return None


STEPPED = pytest.mark.skipif(built() is not None, reason=str(built()))


def test_what_is_sent_is_set_against_what_an_ideal_scheduler_sends() -> None:
    assert matched([0, 1, 2], [2, 1, 0]) == 3
    # more urgent is as good, less urgent is not
    assert matched([5, 5, 5], [1, 5, 6]) == 2
    assert matched([0, 1], [9, 9, 9]) == 0
    # FIFO at twice the link's rate: half of the most urgent half
    ideal, fifo = [rank for rank in range(50) for _ in range(2)], list(range(100))
    assert matched(ideal, fifo) == 50


def test_what_comes_late_does_not_count() -> None:
    found = phase_score([0, 1], [(0, 31 * MS), (1, 30 * MS), (7, 2 * MS)], Deadlines(30 * MS, 30 * MS))
    assert found == PhaseScore(score=0.5, throughput=1.5, late=1 / 3, mean_delay_ms=21)


def test_the_more_urgent_half_of_what_pifo_sends_may_have_a_deadline_of_its_own() -> None:
    sent = [(0, 11 * MS), (1, 10 * MS), (2, 30 * MS), (3, 31 * MS)]
    # ranks 0 and 1 within 10 ms, 2 and 3 within 30 ms
    found = phase_score([0, 1, 2, 3], sent, Deadlines(30 * MS, 10 * MS))
    assert (found.score, found.late) == (0.5, 0.5)
    # with two classes the median is a class: all of it is urgent
    assert phase_score([0, 0, 1], [(0, 11 * MS), (1, 11 * MS)], Deadlines(30 * MS, 10 * MS)).score == 1 / 3


def test_packets_belong_to_the_phase_they_arrive_in() -> None:
    arrivals = [Arrival(0, 1, 0, 3), Arrival(5, 2, 0, 3), Arrival(6, 2, 1, 4)]
    ideal = Ideal(arrivals, [10, 20, -1])
    in_time = Deadlines(MS, MS)
    stepped = ideal.scores([30, -1, 40], in_time)
    assert [score.score for score in stepped] == [1, 0, 0, 0]
    assert stepped == ideal.scores_of_received({(1, 0): 30, (2, 1): 34}, in_time)


@pytest.mark.parametrize("scheme", STATIC)
def test_the_programs_setting_comes_first_and_none_twice(scheme: str) -> None:
    default = find_scheme(scheme).layout()
    assert isinstance(default, ranked.Parameters)
    found = static_settings(scheme, FULL, [default])
    assert found[0].parameters == default
    assert len({setting.parameters for setting in found}) == len(found) > 50
    assert len(static_settings(scheme, SHORT, [])) < 20
    # every one of them fits into the queues
    waiting = config(scheme, RATE, 30 * MS).queue_packets
    for setting in found:
        assert max(setting.parameters.queue_sizes) <= waiting


def test_settings_are_named_as_in_the_papers() -> None:
    labels = [static_settings(scheme, SHORT, [])[0].label for scheme in STATIC]
    assert labels == ["C 20, k 0.1, S 15", "B 20, k 0.1, T 50", "B 80, k 0, S 1"]
    # PACKS 6.2: 4 queues of 10 packets, |W| = 20, k = 0.1; the default mixes 6.1 and section 5
    packs_own = static_settings("packs", SHORT, [])[:2]
    assert [setting.origin for setting in packs_own] == ["default", "paper"]
    assert packs_own[1].data == [10, 10, 10, 10, 0, 0, 0, 0, 26, 20, 1]
    assert packs_own[1].label == "B 40 in 4 queues, k 0.1, S 1, |W| 20"
    unequal = packs.Parameters(sizes=(5, 5, 5, 5, 5, 5, 5, 400), headroom_256=128, sampling=60)
    assert Setting("searched", aifo.Parameters(20, 30)).label == "C 20 in 30, k 0.1, S 15"
    assert Setting("grid", unequal).label == "B 5+5+5+5+5+5+5+400, k 0.5, S 60"


PARAMETERS = (aifo.Parameters(), rifo.Parameters(), packs.Parameters())


@pytest.mark.parametrize("start", PARAMETERS, ids=STATIC)
def test_every_variation_is_a_setting_and_fits_into_the_queues(start: ranked.Parameters) -> None:
    chance, parameters = random.Random(1), start
    tried = set()
    for _ in range(2000):
        parameters = vary(parameters, 0.6, chance)
        tried.add(parameters)
        assert 1 <= parameters.packets <= 8 * QUEUE_PACKETS
        assert start.action_data().keys() == parameters.action_data().keys()
    # a small count may round to itself, but nothing is stuck
    assert len(tried) > 1000


def test_a_search_finds_the_setting_whose_worst_phase_is_the_best_and_repeats_itself() -> None:
    def scores(setting: Setting) -> tuple[float, ...]:
        """A queue of 20 would be best in phase 1, one of 500 in phase 2: that of 100 is as far from both."""
        target = setting.parameters.packets
        return tuple(1 / (1 + abs(math.log(target / best))) for best in (20, 500))

    def evaluate(settings: Sequence[Setting]) -> list[tuple[float, ...]]:
        return [scores(setting) for setting in settings]

    start = static_settings("aifo", SHORT, [])
    tried = search(start, evaluate(start), evaluate, rounds=40, seed=1)
    assert tried == search(start, evaluate(start), evaluate, rounds=40, seed=1)
    assert {setting.origin for setting in tried} == {"searched"}
    steadiest = max(tried, key=lambda setting: min(scores(setting)))
    assert steadiest.parameters.packets == pytest.approx(100, abs=10)
    for phase, best in enumerate((20, 500)):
        found = max(start + tried, key=lambda setting, phase=phase: scores(setting)[phase])  # type: ignore[misc]
        assert found.parameters.packets == pytest.approx(best, rel=0.1)


def scored(*scores: float) -> list[PhaseScore]:
    """One for each phase."""
    return [PhaseScore(score, 1, 0, 1) for score in scores]


def test_a_comparison_is_with_the_best_of_each_phase() -> None:
    settings = [Setting("paper", aifo.Parameters(length)) for length in (5, 10, 20)]
    scores = [scored(1, 0.5, 1, 1), scored(0.5, 0.8, 0.5, 0.5), scored(0.7, 0.7, 0.7, 0.7)]
    found = Comparison(scored(0.95, 0.76, 0.95, 1), [], settings, scores).summary()
    assert [best["score"] for best in found["best_static"]] == [1, 0.8, 1, 1]
    assert found["tuned"]["share_of_best"] == pytest.approx([0.95, 0.95, 0.95, 1])
    assert found["within_10_percent"]
    # the third setting has the best worst phase, and is not within 10 % there
    assert found["steadiest_static"]["setting"] == settings[2].label
    assert not found["steadiest_static"]["within_10_percent"]


def test_the_phases_follow_each_other_without_a_gap() -> None:
    planned = phases.flows(RATE, 5, "10.0.0.1", "10.0.0.2", lead_s=0.5)
    assert planned[0]["start_s"] == 0.5
    assert all(before["stop_s"] == after["start_s"] for before, after in itertools.pairwise(planned))
    assert planned[-1]["stop_s"] == 20.5
    assert [flow["rate_bps"] / RATE for flow in planned] == [phase.load for phase in phases.PHASES]


@pytest.fixture
def port(tmp_path: Path) -> Port:
    """Four phases of 2 s."""
    schedule = tmp_path / "schedule.csv"
    phases.write_schedule(phases.flows(RATE, 2, "10.0.0.1", "10.0.0.2"), 1, schedule)
    return Port(RATE, schedule, 8_000_000_000)


@STEPPED
@pytest.mark.parametrize("scheme", STATIC)
def test_the_law_in_the_loop_follows_the_frames_and_its_log_can_be_replayed(
    port: Port, scheme: str, tmp_path: Path
) -> None:
    wanted, log = config(scheme, RATE, 30 * MS), tmp_path / "decisions.jsonl"
    departures, decisions = port.with_law(wanted, tmp_path / "out.txt", log)
    assert len(decisions) == 81
    traffic = [decisions[polls].traffic for polls in (19, 39, 59, 79)]
    assert [None if each is None else round(each.packet_bytes) for each in traffic] == [1514, 66, 1514, 1514]
    assert all(entry.agrees for entry in replay(log, LAWS))
    # what was admitted was sent: no write loses a packet
    sent = sum(departed >= 0 for departed in departures)
    assert decisions[-1].state.sample is not None
    assert sent == decisions[-1].state.sample.admitted.packets


@STEPPED
def test_writing_the_same_parameters_again_and_again_changes_nothing(port: Port, tmp_path: Path) -> None:
    fixed = {"C": 20, "S": 15, "k": 0.1}
    pinned = aifo.Config(rate_bps=RATE, delay_ns=24 * MS, queue_packets=20, fixed=fixed)
    departures, _ = port.with_law(pinned, tmp_path / "tuned.txt", tmp_path / "decisions.jsonl")
    assert departures == port.static("aifo", [20, 20, 26, 20, 15], tmp_path / "static.txt")


@STEPPED
def test_a_comparison_of_a_whole_run(port: Port, tmp_path: Path) -> None:
    arrivals = phases.read_schedule(port.schedule)
    ideal = Ideal(arrivals, port.ideal(568, tmp_path / "pifo.txt"))
    grid = dataclasses.replace(SHORT, rounds=1)
    found = compare("rifo", port, ideal, grid, 30 * MS, tmp_path, lambda _: None, seed=1)
    assert len(found.settings) == len(found.scores)
    assert {setting.origin for setting in found.settings} == {"paper", "grid", "law", "searched"}
    assert all(0 < score.score <= 1 for scores in found.scores for score in scores)
    # the paper's B = 20 holds a fifth of a message of 100 packets
    assert found.ratios(found.scores[0])[1] < 0.5
    assert list(named_settings(found).items()) == [
        (Setting("paper", rifo.Parameters()), "the paper's"),
        (found.settings[found.steadiest], "best worst phase"),
    ]


@STEPPED
def test_what_the_stepped_port_refuses_is_one_sentence(port: Port, tmp_path: Path) -> None:
    with pytest.raises(P4schedError, match="a window of 33 ranks: the programs were compiled for 1 to 32"):
        port.static("aifo", [20, 20, 26, 33, 15], tmp_path / "out.txt")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--duration", "8s"), "4 phases of 2.00 s"),
        (("--deadline", "1ms"), "0.8 frames of 1514 bytes leave within it at 10 Mbit/s"),
        (("--deadline", "1s"), "the queues of this experiment hold 1024"),
        (("--schemes", "aifo,fdpa"), "no scheme 'fdpa'"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run_command(["run", "control_laws", "--no-live", "--out", str(out), *words]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()
