"""What may be turned by hand: knobs, and the desk that holds them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from p4sched.control.decision_log import DecisionLog
from p4sched.control.knobs import by_hand, knobs, with_held_values
from p4sched.control.laws import aifo, fdpa, packs, rifo, sp_pifo
from p4sched.control.laws.port_counters import BUCKETS, Sample
from p4sched.control.loop import Tuning
from p4sched.control.replay import replay
from p4sched.errors import P4schedError, UsageError
from p4sched.p4rt.reader import Count
from p4sched.p4rt.users import UserCounter
from p4sched.schemes import LAWS

FDPA = fdpa.Config(500_000_000, fdpa.DEFAULT_BANDS, 60_000, 10_000_000)
AIFO = aifo.Config(100_000_000, 10_000_000, 100)


@pytest.mark.parametrize(
    ("parameters", "config", "names"),
    [
        (fdpa.parameters_for(FDPA, 4), FDPA, ["first band", "further bands", "width", "RTT"]),
        (aifo.Parameters(), AIFO, ["C", "size", "k", "|W|", "S"]),
        (aifo.Parameters(), None, ["C", "size", "k", "|W|", "S"]),
        (rifo.Parameters(), None, ["B", "k", "T"]),
        (packs.Parameters(), None, ["B", "k", "|W|", "S"]),
        (sp_pifo.Parameters(), None, ["B"]),
        (None, None, []),
    ],
)
def test_each_scheme_has_the_parameters_of_its_paper(parameters: Any, config: Any, names: list[str]) -> None:
    found = knobs(parameters, config)
    assert [knob.name for knob in found] == names
    assert all(knob.low <= knob.value <= knob.high for knob in found)


def test_a_law_leaves_what_is_held_and_sets_the_rest() -> None:
    found = with_held_values(AIFO, {"k": 0.25, "|W|": 8})
    assert found.fixed == {"k": 0.25}
    wanted = found.parameters_for(found.at_first())
    assert (wanted.headroom_256, wanted.window_ranks) == (64, 8)
    assert wanted.target_packets == AIFO.parameters_for(AIFO.at_first()).target_packets
    assert str(with_held_values(FDPA, {"first band": 2, "further bands": 3}).bands) == "2+3*0.5"
    # 500 Mbit/s in 20 ms are 833 packets of 1500 bytes; L_2 is a fourth of that
    assert fdpa.parameters_for(with_held_values(FDPA, {"RTT": 20}), 4).sizes[:2] == (833, 208)


def test_parameters_without_a_law_are_set_by_hand() -> None:
    assert by_hand(packs.Parameters(), {"B": 18}).sizes == (3, 3, 2, 2, 2, 2, 2, 2)  # type: ignore[attr-defined]
    assert by_hand(rifo.Parameters(), {"k": 0.5, "T": 7}) == rifo.Parameters(20, 128, 7)


@pytest.mark.parametrize("values", [{"C": 101}, {"C": 0}, {"C": 1.5}])
def test_what_the_law_cannot_do_is_refused(values: Mapping[str, float]) -> None:
    with pytest.raises(UsageError):
        with_held_values(AIFO, values)


def sample(number: int) -> Sample:
    """Counters of a port at the rate of its link."""
    arrived = Count(800 * number, 800 * number * 1514)
    ranks = (0, arrived.packets, *(0,) * (BUCKETS - 2))
    return Sample(number * 100_000_000, 1_000_000, arrived, Count(), Count(), ranks, ranks)


def test_a_log_in_which_parameters_were_held_makes_every_decision_again(tmp_path: Path) -> None:
    log = tmp_path / "decisions.jsonl"
    tuning: Any = Tuning(AIFO, log, None)
    tuning.take_over(None)
    found = []
    for number in range(1, 60):
        if number == 20:
            tuning.use_config(with_held_values(AIFO, {"C": 7}))
        if number == 40:
            tuning.use_config(AIFO)
        counters = sample(number)
        found.append(tuning.accept(counters, tuning.decide(counters)).decision.parameters.target_packets)
    tuning.close()
    # 10 ms of 100 Mbit/s are 83 packets of 1514 bytes
    assert (found[18], found[19], found[38], found[58]) == (83, 7, 7, 83)
    assert all(logged.agrees for logged in replay(log, LAWS))
    starts = [line for text in log.read_text().splitlines() if (line := json.loads(text))["kind"] == "start"]
    assert [line["config"]["fixed"] for line in starts] == [{}, {"C": 7}, {}]


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [("k", 0.25, "headroom_256"), ("|W|", 8, "window_ranks"), ("size", 90, "capacity_packets")],
)
def test_what_is_held_changes_alone(name: str, value: float, field: str) -> None:
    tuning: Any = Tuning(AIFO, None, None)
    tuning.take_over(None)
    for number in range(1, 30):
        before = tuning.accept(sample(number), tuning.decide(sample(number))).decision
    tuning.use_config(with_held_values(AIFO, {name: value}))
    decision = tuning.decide(sample(30))
    (changed,) = decision.parameters.action_data().items() - before.parameters.action_data().items()
    assert changed == (field, 64 if name == "k" else value)
    # it has not forgotten what arrives
    assert decision.traffic == before.traffic


SENDERS = range(1, 21)


def users(number: int, sent: int) -> fdpa.Sample:
    """Twenty users, after so many bytes each."""
    return fdpa.Sample(number * 100_000_000, {user: UserCounter(sent) for user in SENDERS})


def test_fdpa_goes_on_with_the_users_that_it_knows_when_bands_are_held(tmp_path: Path) -> None:
    log = tmp_path / "decisions.jsonl"
    tuning: Any = Tuning(FDPA, log, None)
    tuning.take_over(None)
    edges, active = [], []
    for number in range(1, 31):
        if number == 10:
            tuning.use_config(with_held_values(FDPA, {"first band": 2}))
        if number == 28:
            tuning.use_config(FDPA)
        # nobody sends any more after 2 s
        counters = users(number, 50_000 * min(number, 20))
        decision = tuning.accept(counters, tuning.decide(counters)).decision
        edges.append(decision.parameters.edges[0])
        active.append(len(decision.active))
    tuning.close()
    assert set(active[2:20]) == {20}
    assert active[-1] == 0
    # a fair share of 25 Mbit/s is 187,500 bytes in 60 ms; an idle link keeps the bands of its last users
    assert [edges[place] for place in (8, 9, 19, 26, 27, 29)] == [187_500, 375_000, 375_000, 375_000, 187_500, 187_500]
    assert all(logged.agrees for logged in replay(log, LAWS))


def test_a_configuration_that_is_turned_without_a_controller_is_no_log(tmp_path: Path) -> None:
    log = DecisionLog(tmp_path / "decisions.jsonl")
    log.start(AIFO, AIFO.law.take_over(None), reconfigured=True)
    log.close()
    with pytest.raises(P4schedError, match=r"decisions\.jsonl:1: .* changed configuration before any start line"):
        list(replay(tmp_path / "decisions.jsonl", LAWS))
