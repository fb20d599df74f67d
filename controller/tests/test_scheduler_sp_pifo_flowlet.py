"""SP-PIFO with a table of flowlets: examples by hand, the variant in Rust, and the proof."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from p4sched import simulate
from p4sched.cli.main import run_command
from p4sched.folders import models
from p4sched.folders.description import read
from p4sched.folders.schemes import forget
from p4sched.model import FULL, Packet, Queued, Verdict
from p4sched.paths import SCHEDULERS_DIR
from p4sched.sweep import leaf_spine

FOLDER = SCHEDULERS_DIR / "sp_pifo_flowlet"
US = 1000
CLOCK_US = 2**32
"""The time after which the program's clock begins again."""
MINUTES = CLOCK_US / 60e6
"""The same in minutes."""
SEED, SHARED = 5, 2
"""Seeds of runs: the program's hash gives no two flows of a port a cell, or it does."""
TRANSPORT = {"control": "new_reno", "recovery": "go_back_n"}


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    forget(FOLDER)


def model(size: int = 10, gap_us: int = 100) -> Any:
    """Two queues of this size."""
    described = read(FOLDER).model
    assert described is not None
    sizes = {f"size_{number}": size * (number <= 2) for number in range(1, 9)}
    return models.load(described)({**sizes, "gap_us": gap_us})


def arrive(made: Any, at_us: int, rank: int, flow: int = 1) -> Verdict:
    verdict: Verdict = made.enqueue(Packet(0, rank, 0, flow, 1500), at_us * US)
    return verdict


def test_a_flow_keeps_its_queue_until_it_pauses_for_the_gap() -> None:
    made = model()
    assert arrive(made, 0, 5) == Queued(1)
    assert arrive(made, 99, 1) == Queued(1)
    assert arrive(made, 198, 1) == Queued(1)
    assert made.bounds[:2] == [0, 5]
    assert arrive(made, 298, 1) == Queued(0)
    assert made.bounds[:2] == [1, 5]


def test_another_flow_is_mapped_by_its_rank() -> None:
    made = model()
    assert [arrive(made, 0, 5), arrive(made, 1, 1, flow=2)] == [Queued(1), Queued(0)]


def test_two_flows_in_one_cell_share_its_flowlet() -> None:
    made = model()
    assert [arrive(made, 0, 5), arrive(made, 1, 1, flow=513)] == [Queued(1), Queued(1)]


def test_a_full_queue_drops_a_packet_of_its_flowlet_which_does_not_prolong_it() -> None:
    made = model(size=1)
    assert arrive(made, 0, 5) == Queued(1)
    assert arrive(made, 90, 1) is FULL
    assert made.dequeue(95 * US) is not None
    assert arrive(made, 110, 1) == Queued(0)


def test_a_flowlet_ends_with_its_queue() -> None:
    made = model()
    assert arrive(made, 0, 5) == Queued(1)
    made.set_parameters({"size_2": 0})
    assert arrive(made, 1, 5) == Queued(0)


def test_the_clock_wraps_after_71_minutes() -> None:
    """A flow that comes back just then finds its flowlet under way."""
    assert round(MINUTES, 1) == 71.6
    made = model()
    assert arrive(made, CLOCK_US - 1, 5) == Queued(1)
    assert arrive(made, CLOCK_US + 50, 1) == Queued(1)
    assert arrive(made, 2 * CLOCK_US + 60, 1) == Queued(1)
    assert arrive(made, 2 * CLOCK_US + 160, 1) == Queued(0)


def _sizes(gap_us: int) -> dict[str, int]:
    return {**{f"size_{number}": 10 * (number <= 4) for number in range(1, 9)}, "gap_us": gap_us}


def _flows(ports: simulate.Ports, seed: int = SEED, *, programs: bool = False) -> Any:
    """Flows of 16 hosts with go-back-N. The model checks each decision of a program."""
    scenario = leaf_spine.scenario(ports, TRANSPORT, 0.8, 5_000_000, seed)
    return simulate.run(scenario.with_(multipath="buckets"), programs=programs, check=programs).flows


def _variant(seed: int = SEED) -> Any:
    flowlets = {"gap_ns": 10_000_000, "cells": 2**20}
    return _flows(
        simulate.Ports("sp_pifo", queues=4, queue_size=10, variants=["flowlet_queue"], flowlets=flowlets), seed
    )


def _alike(found: Any, wanted: Any) -> bool:
    names = wanted.dtype.names
    return all(np.array_equal(found[name], wanted[name], equal_nan=wanted[name].dtype.kind == "f") for name in names)


def test_program_model_and_the_variant_in_rust_give_each_flow_the_same() -> None:
    wanted, folder = _variant(), simulate.Ports(str(FOLDER), parameters=_sizes(10_000))
    assert len(wanted) == 53
    assert _alike(_flows(folder), wanted)
    assert _alike(_flows(folder, programs=True), wanted)
    plain = _flows(simulate.Ports("sp_pifo", queues=4, queue_size=10))
    assert (plain["sent_segments"] != wanted["sent_segments"]).any()


def test_flows_that_share_a_cell_change_a_run_and_the_model_agrees_with_the_program() -> None:
    wanted, folder = _variant(SHARED), simulate.Ports(str(FOLDER), parameters=_sizes(10_000))
    assert not _alike(_flows(folder, SHARED, programs=True), wanted)
    assert _alike(_flows(folder, SHARED), wanted)


def test_without_a_gap_it_is_sp_pifo() -> None:
    plain = _flows(simulate.Ports("sp_pifo", queues=4, queue_size=10))
    assert _alike(_flows(simulate.Ports(str(FOLDER), parameters=_sizes(0)), programs=True), plain)


def test_a_program_whose_dropped_packets_prolong_a_flowlet_is_refuted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(FOLDER, mine)
    for name, before, after in (
        ("scheduler.toml", 'name = "sp_pifo_flowlet"', 'name = "mine"'),
        ("sp_pifo_flowlet.p4", "if (verdict == ADMITTED)", "if (verdict != REFUSED)"),
    ):
        text = (mine / name).read_text(encoding="utf-8")
        assert text.count(before) == 1
        (mine / name).write_text(text.replace(before, after), encoding="utf-8")
    assert run_command(["prove", str(mine), "--packets", "0"]) == 1
    # which claim falls first depends on the solver
    assert "✗ " in capsys.readouterr().out
