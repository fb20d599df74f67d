"""A page is updated less often where that would take more than a small share of a core."""

from dataclasses import dataclass

import pytest

from p4sched.live.budget import Budget


@dataclass
class Machine:
    """Clocks of a process of which each update costs so much CPU time."""

    cost_s: float
    wall_s: float = 100.0
    cpu_s: float = 7.0

    def share(self, budget: Budget, seconds: float) -> float:
        """What the process takes of a core in this time."""
        end, before = self.wall_s + seconds, self.cpu_s
        while self.wall_s < end:
            budget.adapt()
            self.wall_s += budget.every_s
            self.cpu_s += self.cost_s
        return (self.cpu_s - before) / seconds


@pytest.mark.parametrize(
    ("cost_ms", "factor"),
    [(1, 1), (2.2, 1), (2.5, 2), (4, 2), (5, 4), (8, 4)],
)
def test_the_process_of_the_page_takes_less_than_5_percent_of_a_core(cost_ms: float, factor: int) -> None:
    machine = Machine(cost_ms / 1e3)
    budget = Budget(0.05, lambda: machine.cpu_s, lambda: machine.wall_s)
    machine.share(budget, 20)
    assert budget.factor == factor
    assert machine.share(budget, 60) < 0.05
    # and it does not go to and fro
    assert budget.factor == factor


def test_a_page_that_costs_less_again_is_updated_as_often_as_before() -> None:
    machine = Machine(8e-3)
    budget = Budget(0.05, lambda: machine.cpu_s, lambda: machine.wall_s)
    machine.share(budget, 20)
    assert budget.factor == 4
    machine.cost_s = 1e-3
    machine.share(budget, 20)
    assert budget.factor == 1
