"""Searches for better static settings than those of a grid, as the adversary of the tuned scheme.

A setting is judged by its worst phase and by each single phase. Every round takes the best settings so far in each of
these merits and tries variations: it multiplies or shifts one to three parameters at random, coarsely in one round and
finely in the next. The same seed tries the same settings.
"""

import math
import random
from collections.abc import Callable, Sequence

from experiments.control_laws.settings import QUEUE_PACKETS, Setting
from p4sched.control.laws.headroom import HEADROOM_UNIT
from p4sched.control.laws.ranked import Parameters

Scores = tuple[float, ...]
"""Scores by phase."""

LEADERS = 5
"""Number of settings to vary, for each merit."""
FOR_WORST_PHASE = 12
FOR_EACH_PHASE = 2
"""Variations in a round, for each phase."""
COARSE, FINE = 0.6, 0.2
"""Standard deviation of the logarithm of a varied count."""
MOST_COUNTED = 20_000
"""Largest S and T."""
ALL_SIZES = 0.2
"""Share of the variations that scale all B_i of PACKS together."""
WINDOW = "window_ranks"
"""The only parameter that no law sets; it stays unchanged."""
HEADROOM = "headroom_256"
COUNTS = ("sampling", "tracking_packets")


def search(
    settings: Sequence[Setting],
    scores: Sequence[Scores],
    evaluate: Callable[[Sequence[Setting]], list[Scores]],
    rounds: int,
    seed: int,
) -> list[Setting]:
    """Different settings to try in this number of rounds, starting from `settings`."""
    chance = random.Random(seed)
    known = {setting.parameters: found for setting, found in zip(settings, scores, strict=True)}
    tried: list[Setting] = []
    for number in range(rounds):
        spread = FINE if number % 2 else COARSE
        new: dict[Parameters, Setting] = {}
        for merit, count in _merits(list(known.values())):
            leaders = sorted(known, key=lambda each, merit=merit: merit(known[each]), reverse=True)[:LEADERS]  # type: ignore[misc]
            for _ in range(count):
                varied = vary(chance.choice(leaders), spread, chance)
                if varied not in known:
                    new[varied] = Setting("searched", varied)
        batch = list(new.values())
        known |= zip(new, evaluate(batch), strict=True)
        tried += batch
    return tried


def _merits(scores: Sequence[Scores]) -> list[tuple[Callable[[Scores], float], int]]:
    """Each merit, and its number of variations in a round."""
    best: list[float] = [max(column) for column in zip(*scores, strict=True)]

    def worst_phase(of: Scores) -> float:
        return min(score / most for score, most in zip(of, best, strict=True) if most)

    def in_phase(phase: int) -> Callable[[Scores], float]:
        return lambda of: of[phase]

    return [(worst_phase, FOR_WORST_PHASE), *((in_phase(phase), FOR_EACH_PHASE) for phase in range(len(best)))]


def vary(parameters: Parameters, spread: float, chance: random.Random) -> Parameters:
    """A variation with one to three changed parameters, or with all queue lengths scaled."""
    data = parameters.action_data()
    # a size of 0 means no queue
    names = [name for name, value in data.items() if name != WINDOW and (value or name == HEADROOM)]
    sizes = [name for name in names if name.startswith("size_")]
    together = bool(sizes) and chance.random() < ALL_SIZES
    common = chance.gauss(0, spread)
    for name in sizes if together else chance.sample(names, chance.randint(1, 3)):
        if name == HEADROOM:
            shifted = data[name] + round(chance.gauss(0, spread * HEADROOM_UNIT / 3))
            data[name] = max(0, min(HEADROOM_UNIT - 1, shifted))
        else:
            change = math.exp(common if together else chance.gauss(0, spread))
            most = MOST_COUNTED if name in COUNTS else QUEUE_PACKETS
            # so that small counts can also change
            data[name] = max(1, min(most, round(data[name] * change + chance.uniform(-0.7, 0.7))))
    return type(parameters).from_action_data(data)
