"""AIFO, RIFO and PACKS with a window for each user: an example by hand, the variant in Rust, and the proof."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.cheating import experiment as cheating
from experiments.cheating import tenants
from p4sched import simulate
from p4sched.cli.main import run_command
from p4sched.folders import models
from p4sched.folders.description import read
from p4sched.folders.schemes import forget
from p4sched.model import FULL, REFUSED, Packet, Queued, Verdict
from p4sched.paths import SCHEDULERS_DIR
from p4sched.sweep import leaf_spine

WINDOW = {"headroom_256": 0, "window_ranks": 2, "sampling": 1}
SMALL = {
    "aifo_own": {"target_packets": 4, "capacity_packets": 4, **WINDOW},
    "rifo_own": {"capacity_packets": 4, "headroom_256": 0, "tracking_packets": 50},
    "packs_own": {**{f"size_{number}": 2 * (number <= 2) for number in range(1, 9)}, **WINDOW},
}
"""Room for four packets, and windows of two ranks."""


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    for scheme in SMALL:
        forget(SCHEDULERS_DIR / scheme)


def verdicts(scheme: str, *packets: tuple[int, int]) -> list[Verdict]:
    """Decisions on packets, each with its user and its rank. None leaves."""
    described = read(SCHEDULERS_DIR / scheme).model
    assert described is not None
    model: Any = models.load(described)(SMALL[scheme])
    return [model.enqueue(Packet(number, rank, user, user, 1500), 0) for number, (user, rank) in enumerate(packets)]


@pytest.mark.parametrize("scheme", SMALL)
def test_a_user_is_compared_with_its_own_ranks_alone(scheme: str) -> None:
    urgent = [(1, 0)] * 3
    assert isinstance(verdicts(scheme, *urgent, (2, 9))[-1], Queued)
    assert isinstance(verdicts(scheme, *urgent, (0, 9))[-1], Queued)
    assert verdicts(scheme, *urgent, (1, 9))[-1] is REFUSED


@pytest.mark.parametrize("scheme", SMALL)
def test_users_1_and_9_share_a_window(scheme: str) -> None:
    assert verdicts(scheme, *[(1, 0)] * 3, (9, 9))[-1] is REFUSED
    assert isinstance(verdicts(scheme, *[(1, 0)] * 3, (10, 9))[-1], Queued)


@pytest.mark.parametrize("scheme", SMALL)
def test_all_users_share_the_room(scheme: str) -> None:
    assert verdicts(scheme, *[(1, 0)] * 4, (2, 0))[-1] is FULL


@pytest.mark.parametrize("scheme", SMALL)
def test_program_model_and_the_variant_in_rust_give_each_flow_the_same(scheme: str) -> None:
    """Users 2 to 5 share a network, and user 2 scales its ranks. A program knows no user of an acknowledgement."""
    sent = tenants.traffic(leaf_spine.listed(0.8, 20_000_000, 1), tenants.SCALED, 20_000_000)

    def run(ports: simulate.Ports, *, charged: bool = False, programs: bool = False) -> Any:
        scenario = leaf_spine.scenario(ports, tenants.TRANSPORT, 0.8, 20_000_000, 1, ranks="flow")
        return simulate.run(
            scenario.with_(flows=sent.flows, charge_answers=charged, multipath="buckets"), programs=programs
        ).flows

    shared, variant = (cheating.ports(cheating.base(scheme), 12, 26, own) for own in (False, True))
    folder = cheating.ports(scheme, 12, 26)
    wanted, charged = run(variant), run(variant, charged=True)
    same = [(run(folder), wanted), (run(folder, programs=True), wanted), (run(folder, charged=True), charged)]
    for found, of_rust in same:
        for name in of_rust.dtype.names:
            floats = of_rust[name].dtype.kind == "f"
            assert np.array_equal(found[name], of_rust[name], equal_nan=floats), name
    assert (run(shared)["sent_segments"] != wanted["sent_segments"]).any()


def test_a_program_with_a_range_for_two_users_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine"
    shutil.copytree(SCHEDULERS_DIR / "rifo_own", mine)
    for name, before, after in (
        ("scheduler.toml", 'name = "rifo_own"', 'name = "mine"'),
        ("rifo_own.p4", "meta.user[2:0]", "meta.user[3:1]"),
    ):
        text = (mine / name).read_text(encoding="utf-8")
        assert text.count(before) == 1
        (mine / name).write_text(text.replace(before, after), encoding="utf-8")
    assert run_command(["prove", str(mine), "--packets", "0"]) == 1
    # which claim falls first depends on the solver
    assert "✗ " in capsys.readouterr().out
