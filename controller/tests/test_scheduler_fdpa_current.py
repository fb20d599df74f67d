"""FDPA in which the current interval counts: an example by hand, the variant in Rust, and FDPA's law."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.fdpa_cheating import users
from p4sched import simulate
from p4sched.cli.main import run_command
from p4sched.control.bands import Bands
from p4sched.control.laws import fdpa
from p4sched.control.parameters import Comparison
from p4sched.errors import UsageError
from p4sched.folders import models
from p4sched.folders.description import DescriptionError, read
from p4sched.folders.scheme import scheme_of
from p4sched.folders.schemes import forget, of_folder
from p4sched.model import Packet, Queued
from p4sched.p4rt.users import UserCounter
from p4sched.paths import SCHEDULERS_DIR

FOLDER = SCHEDULERS_DIR / "fdpa_current"
DESCRIPTION = read(FOLDER)
MS = 1_000_000


def model(**parameters: int) -> Any:
    assert DESCRIPTION.model is not None
    default = {each.name: each.default for each in DESCRIPTION.parameters}
    return models.load(DESCRIPTION.model)({**default, **parameters})


def bands(made: Any, at_ms: int, *sizes: int, weight: float = 1.0) -> list[int]:
    """Bands of the packets of user 1."""
    verdicts = [made.enqueue(Packet(number, 0, 1, 1, size, weight), at_ms * MS) for number, size in enumerate(sizes)]
    assert all(isinstance(verdict, Queued) for verdict in verdicts)
    return [verdict.queue + 1 for verdict in verdicts]


def test_the_worked_example() -> None:
    made = model(interval_us=10_000, edge_1=3000, edge_2=4500)
    assert bands(made, 0, *[1500] * 4) == [1, 1, 2, 3]
    assert bands(made, 10, 100) == [3]
    assert bands(made, 20, *[1500] * 4) == [1, 1, 2, 3]


def test_a_user_of_weight_2_has_twice_as_much_in_each_band() -> None:
    made = model(interval_us=10_000, edge_1=3000, edge_2=4500)
    assert bands(made, 0, *[1500] * 7, weight=2.0) == [1, 1, 1, 1, 2, 2, 3]


@pytest.mark.parametrize(("pause", "band"), [(1, 3), (2, 2), (4, 1), (16, 1)])
def test_a_pause_lowers_the_rate_as_in_fdpa(pause: int, band: int) -> None:
    """6000 bytes over 1, 2, 4 and 16 intervals."""
    made = model(interval_us=10_000, edge_1=2000, edge_2=4500)
    bands(made, 0, *[1500] * 4)
    assert bands(made, 10 * pause, 100) == [band]


@pytest.mark.parametrize("behaviour", ["pulses", "honest"])
def test_program_model_and_the_variant_in_rust_give_each_flow_the_same(behaviour: str) -> None:
    """20 users share a link of 500 Mbit/s."""
    end_ns, wide = 300 * MS, Bands(1, 4, 1)
    sent = users.traffic(behaviour, wide, users.Clock(60 * MS), end_ns, 1)
    action = users.parameters(behaviour, wide, 60_000)
    own = {each.name: action.get(each.name, 0) for each in DESCRIPTION.parameters}

    def run(ports: simulate.Ports, *, programs: bool = False) -> Any:
        return simulate.run(users.scenario(ports, sent, end_ns, 1), programs=programs).flows

    fdpas = run(simulate.Ports("fdpa", parameters=action))
    variant = run(simulate.Ports("fdpa", parameters=action, variants=["current_interval"]))
    folder = simulate.Ports(str(FOLDER), parameters=own)
    for found in (run(folder), run(folder, programs=True)):
        for name in variant.dtype.names:
            floats = variant[name].dtype.kind == "f"
            assert np.array_equal(found[name], variant[name], equal_nan=floats), name
    assert variant["received_bytes"].sum() > 10_000_000
    assert (fdpas["received_bytes"] != variant["received_bytes"]).any()
    forget(FOLDER)


def test_fdpas_law_sets_the_parameters_that_the_program_has() -> None:
    scheme = of_folder(FOLDER)
    law = scheme.law
    assert law is not None
    config = law.config(500_000_000, Bands(1, 2, 0.5), 60_000, 10 * MS)
    counters = {user: UserCounter(10**6, 256) for user in (1, 2, 3, 4)}
    state = law.decide(config, law.take_over(None), fdpa.Sample(0, {user: UserCounter(0, 256) for user in counters}))
    decision = law.decide(config, state.state, fdpa.Sample(100 * MS, counters))
    parameters = decision.parameters
    assert (parameters.table, parameters.action) == ("fdpa_current_params", "set_bands")
    share, none = 937_500, fdpa.UNUSED_EDGE
    assert parameters.action_data() == {
        "interval_us": 60_000,
        **{"edge_1": share, "edge_2": share * 3 // 2},
        **{f"edge_{number}": none for number in range(3, 8)},
        **{"depth_1": 416, "depth_2": 104, "depth_3": 20},
        **{f"depth_{number}": 0 for number in range(4, 9)},
    }
    assert law.take_over(parameters.action_data()).parameters == parameters
    assert law.config.from_record(config.record()) == config
    forget(FOLDER)


def test_the_queues_of_a_comparison_are_fdpas() -> None:
    comparison = Comparison(416, capacity_bps=500_000_000, rtt_ns=10 * MS, bands=fdpa.DEFAULT_BANDS)
    setup = of_folder(FOLDER).for_comparison(comparison)
    assert setup.queue_sizes == fdpa.Bandwise.for_comparison(comparison).queue_sizes
    assert setup.label == "F(1+4*0.5)"
    forget(FOLDER)


def test_its_program_has_no_token_buckets_and_no_flowlets(capsys: pytest.CaptureFixture[str]) -> None:
    law = of_folder(FOLDER).law
    assert law is not None
    with pytest.raises(UsageError, match="fdpa_current has no token buckets: its program has no parameter"):
        law.config(10**8, fdpa.DEFAULT_BANDS, 60_000, 10 * MS, token_bucket=True)
    with pytest.raises(UsageError, match="fdpa_current has no flowlets"):
        law.config(10**8, fdpa.DEFAULT_BANDS, 60_000, 10 * MS, flowlet_gap_us=5)
    words = ["run", "fdpa_fairness", "--virtual", "--quick", "--scheme", "fdpa,fdpa_current"]
    assert run_command([*words, "--estimator", "token-bucket"]) == 2
    assert "fdpa_current has no token buckets" in capsys.readouterr().err
    words = ["control", "localhost:1", "--rate", "1gbit", "--program", ".", "--scheme", str(FOLDER)]
    assert run_command([*words, "--token-bucket"]) == 2
    assert "--token-bucket has no effect for fdpa_current" in capsys.readouterr().err
    forget(FOLDER)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("parameters.depth_8", "parameters.depth_9", "FDPA's law: it does not set depth_9"),
        ("parameters.depth_8]", "parameters.depth_8]\nof = 'port'", "it sets depth_8, which the program lacks"),
        ('law = "fdpa"', 'law = "aifo"', "law: there is no file aifo"),
    ],
)
def test_a_program_with_other_parameters_cannot_have_fdpas_law(
    before: str, after: str, said: str, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(FOLDER, mine)
    text = (mine / "scheduler.toml").read_text(encoding="utf-8").replace('name = "fdpa_current"', 'name = "mine"')
    text = text.replace(', "depth_8"]', "]")
    assert text.count(before) == 1
    (mine / "scheduler.toml").write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(DescriptionError, match=said):
        scheme_of(read(mine))
