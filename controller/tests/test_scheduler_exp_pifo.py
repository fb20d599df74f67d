"""Exp-PIFO: what its abstract says (doi 10.1145/3749217), and the worked example of schedulers/exp_pifo/README.md.

The paper's own examples are not among the sources, so none is here.
"""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from p4sched.folders import models
from p4sched.folders.description import read
from p4sched.model import FULL, Model, Packet, Queued, Queues, Verdict

DESCRIPTION = read(Path(__file__).resolve().parents[2] / "schedulers" / "exp_pifo")
assert DESCRIPTION.model is not None
KIND: type[Model] = models.load(DESCRIPTION.model)


def exp_pifo(queue_count: int = 8, size: int = 10**6, forget_shift: int = 32) -> Queues:
    model = KIND({"queue_count": queue_count, "size": size, "forget_shift": forget_shift})
    assert isinstance(model, Queues)
    return model


ON_CHIP: type[Model] = models.load(replace(DESCRIPTION.model, name="ExpPifoOnChip"))


def on_chip(forget_shift: int) -> Queues:
    model = ON_CHIP({"queue_count": 8, "size": 10**6, "forget_shift": forget_shift})
    assert isinstance(model, Queues)
    return model


def send(model: Queues, *ranks: int) -> list[Verdict]:
    return [model.enqueue(Packet(number, rank, 0, 0, 1500), 0) for number, rank in enumerate(ranks)]


def test_each_bin_has_twice_the_ranks_of_the_next_more_urgent_one() -> None:
    model = exp_pifo()
    send(model, 1023)
    verdicts = send(model, *range(1024))
    ranks = [sum(verdict == Queued(queue) for verdict in verdicts) for queue in range(8)]
    assert ranks == [8, 8, 16, 32, 64, 128, 256, 512]
    assert all(larger == 2 * smaller for smaller, larger in pairwise(ranks[1:]))


def test_a_smaller_rank_is_never_in_a_less_urgent_queue() -> None:
    model = exp_pifo()
    send(model, 100)
    queues = [verdict.queue for verdict in send(model, *range(101)) if isinstance(verdict, Queued)]
    assert len(queues) == 101
    assert queues == sorted(queues)


def test_the_bins_adapt_to_ranks_of_another_scale() -> None:
    model = exp_pifo(forget_shift=6)
    send(model, *([0, 10_000] * 100))
    before = send(model, 9)
    send(model, *([0, 10] * 400))
    after = send(model, 9)
    assert (before, after) == ([Queued(0)], [Queued(7)])


def test_the_state_of_a_port_is_two_cells() -> None:
    assert DESCRIPTION.programs is not None
    program = next(iter(DESCRIPTION.programs.files.values())).read_text()
    assert re.findall(r"^ *register<.*>\(MAX_PORTS\) (\w+);", program, re.MULTILINE) == ["low", "high"]


def test_the_worked_example() -> None:
    model = exp_pifo(queue_count=4, forget_shift=2)
    seen = []
    for rank in (80, 20, 40, 10):
        (verdict,) = send(model, rank)
        assert isinstance(verdict, Queued)
        seen.append((verdict.queue + 1, vars(model)["low"] / 2**16, vars(model)["high"] / 2**16))
    assert seen == [(4, 20, 80), (1, 20, 65), (3, 25, 58.75), (1, 10, 46.5625)]


@pytest.mark.parametrize(
    ("distance", "queue"),
    [(0, 1), (1, 2), (2, 3), (3, 3), (4, 4), (8, 5), (16, 6), (31, 6), (32, 7), (63, 7), (64, 8), (100, 8)],
)
def test_the_bins_of_a_range_of_100(distance: int, queue: int) -> None:
    model = exp_pifo()
    send(model, 100)
    assert send(model, distance) == [Queued(queue - 1)]


def test_a_full_queue_drops_and_the_others_do_not() -> None:
    model = exp_pifo(size=1)
    assert send(model, 100, 100, 0) == [Queued(7), FULL, Queued(0)]


def test_on_a_chip_a_range_lasts_for_2_to_the_f_arrivals() -> None:
    """F = 2. Ranges begin with the first and the fifth packet; the fifth one still sees the range before it."""
    model = on_chip(forget_shift=2)
    seen = []
    for rank in (80, 20, 40, 10, 50, 60, 45):
        (verdict,) = send(model, rank)
        assert isinstance(verdict, Queued)
        seen.append((verdict.queue + 1, vars(model)["low"], vars(model)["high"]))
    assert seen == [(8, 80, 80), (1, 20, 80), (7, 20, 80), (1, 10, 80), (7, 50, 50), (8, 50, 60), (1, 45, 60)]


def test_on_a_chip_all_ranks_are_forgotten_after_two_ranges() -> None:
    model = on_chip(forget_shift=6)
    send(model, *range(1000))
    send(model, *(rank % 100 for rank in range(2 * 64)))
    assert vars(model)["high"] < 100


def test_with_f_0_both_rules_are_the_same() -> None:
    """Each packet begins a range, and draws both cells to its rank."""
    ranks = [(7 * number * number) % 101 for number in range(300)]
    assert send(on_chip(forget_shift=0), *ranks) == send(exp_pifo(forget_shift=0), *ranks)
