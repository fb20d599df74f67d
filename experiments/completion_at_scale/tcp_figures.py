"""The figures under TCP for `p4sched reproduce`: SP-PIFO Fig. 5 and 6, PACKS Fig. 11 and 15."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.completion_at_scale import ports
from experiments.completion_at_scale.two_hosts import (
    DECADES,
    ONE_WAY_STARTS_PER_S,
    QUEUE_SIZE,
    SOURCES,
    STARTS_BY_LOAD,
    STARTS_PER_S,
    Port,
    Run,
)
from p4sched.reproducing.figure import Figure, Line, Quantity
from p4sched.reproducing.simulation import Simulation

INVERSIONS_BY_RANK = Quantity("inversions_*", "inversions")
INVERSIONS = Quantity("inversions", "inversions")
WINDOW, SHIFTS = 1000, (-100, -75, -50, -25, 0, 25, 50, 75, 100)
LOAD = "80"
QUEUES = [str(queue) for queue in range(1, 9)]


@dataclass(frozen=True)
class _Line:
    label: str
    port: Port
    counted: str = "inversions"
    published: bool = True


def _rule(rule: int, queues: int, half_steps: int = 25) -> Port:
    return {"rule": rule, "queue_count": queues, "size": QUEUE_SIZE, "half_steps": half_steps}


def _sp_pifo(queues: int) -> _Line:
    return _Line("SP-PIFO", ports.simulated(ports.queues("sp_pifo", queues, QUEUE_SIZE)))


def _fifo(queues: int) -> Mapping[str, _Line]:
    port = ports.single("fifo", queues * QUEUE_SIZE)
    return {
        "fifo": _Line("FIFO, packets queued behind a higher rank", port, "behind_higher"),
        "fifo-leaving": _Line("FIFO, counted as the others", port, published=False),
    }


def _against(queues: int, fixed_half_steps: int = 0) -> Mapping[str, _Line]:
    """The lines of SP-PIFO Fig. 5a, 5b and 6."""
    found = {**_fifo(queues), "sp_pifo": _sp_pifo(queues), "greedy": _Line("greedy", _rule(1, queues))}
    if fixed_half_steps:
        found["fixed"] = _Line("fixed bounds", _rule(0, queues, fixed_half_steps))
    return found


STEPS: Mapping[str, _Line] = {
    "cost": _sp_pifo(8),
    "one": _Line("step of 1", _rule(3, 8)),
    "rank": _Line("step of the rank", _rule(4, 8)),
    "bound": _Line("step to the next bound", _rule(5, 8)),
}


def _shifted() -> Mapping[str, _Line]:
    """PACKS with two rules of the simulations; by the text, an empty queue admits every rank."""
    found = {"sp_pifo": _Line("SP-PIFO", ports.queues("sp_pifo", 8, QUEUE_SIZE))}
    for shift in SHIFTS:
        port = ports.packs(8, WINDOW, 0) | {"window_shift": shift}
        found[f"{shift:+}"] = _Line(
            f"PACKS, window {shift:+}", ports.simulated(port, "strictly_below", "filling_window")
        )
        if shift < 0:
            found[f"{shift:+}-text"] = _Line(f"PACKS, window {shift:+}, rule of the text", port, published=False)
    return found


SHIFTED = _shifted()
BOTH = {"packs": _Line("PACKS", ports.packs(8, WINDOW, 0)), "sp_pifo": SHIFTED["sp_pifo"]}


def _colour(name: str) -> str:
    return {"cost": "sp_pifo", "fifo-leaving": "fifo"}.get(name, name)


def _figure(
    name: str,
    title: str,
    lines: Mapping[str, _Line],
    places: Sequence[str],
    axis: str,
    quantities: Sequence[Quantity],
    ranks: str = "uniform",
    starts_per_s: int | None = STARTS_PER_S,
    one_way: bool = False,
    of_bounds: bool = False,
) -> Figure:
    """A figure; without `starts_per_s` its places are loads, and both directions count. `one_way`: all flows go the way
    that counts. `of_bounds`: the bounds of the queues are sampled."""

    def run(line: str, place: str, seed: int, duration_ns: int) -> Run | Simulation:
        each = lines[line]
        starts = STARTS_BY_LOAD[place] if starts_per_s is None else starts_per_s
        both = starts_per_s is None
        found = Run(each.port, ranks, starts, seed, duration_ns, each.counted, both=both, one_way=one_way)
        return found.of_bounds() if of_bounds else found

    shown = [Line(key, each.label, _colour(key), published=each.published) for key, each in lines.items()]
    return Figure(name, title, shown, places, axis, quantities, run, SOURCES)


def _by_rank(name: str, title: str, lines: Mapping[str, _Line], ranks: str = "uniform") -> Figure:
    return _figure(name, title, lines, DECADES, "ranks", (INVERSIONS_BY_RANK,), ranks)


FIGURES = (
    _by_rank("sp_pifo-5a", "uniform ranks, 8 queues", _against(8, 25)),
    _by_rank("sp_pifo-5b", "uniform ranks, 32 queues", _against(32, 6)),
    _by_rank("sp_pifo-5c", "step of the push-down", STEPS),
    _figure(
        "sp_pifo-5d",
        "utilization",
        {**_fifo(8), "sp_pifo": _sp_pifo(8), "greedy": _Line("greedy", _rule(1, 8))},
        list(STARTS_BY_LOAD),
        "utilization, %",
        (INVERSIONS,),
        starts_per_s=None,
    ),
    _by_rank("sp_pifo-6a", "exponential ranks", _against(8), "exponential"),
    _by_rank("sp_pifo-6b", "inverse-exponential ranks", _against(8), "inverse-exponential"),
    _by_rank("sp_pifo-6c", "Poisson ranks", _against(8), "poisson"),
    _by_rank("sp_pifo-6d", "convex ranks", _against(8), "convex"),
    _figure(
        "packs-11",
        "shifted windows, under TCP",
        SHIFTED,
        (LOAD,),
        "load, %",
        (
            INVERSIONS,
            Quantity("lowest_rank_dropped", "lowest rank dropped", linear=True),
            Quantity("dropped_share", "share of the packets that is dropped", linear=True),
            Quantity("drops_below_58", "drops of ranks below 58"),
        ),
        starts_per_s=ONE_WAY_STARTS_PER_S,
        one_way=True,
    ),
    _figure(
        "packs-15",
        "ranks in each queue, under TCP",
        BOTH,
        QUEUES,
        "queue",
        (
            Quantity("queue_*_mean", "mean of the ranks", linear=True),
            Quantity("queue_*_deviation", "standard deviation of the ranks", linear=True),
        ),
        starts_per_s=ONE_WAY_STARTS_PER_S,
        one_way=True,
    ),
    _figure(
        "packs-15-bounds",
        "bounds of the queues over time",
        BOTH,
        QUEUES,
        "queue",
        (Quantity("bound_*_moves", "mean distance that a bound moves from packet to packet", linear=True),),
        starts_per_s=ONE_WAY_STARTS_PER_S,
        one_way=True,
        of_bounds=True,
    ),
)
