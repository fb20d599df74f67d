"""Decision logs of short controllers' runs, and the same logs damaged."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ranked_port import MS, Port

from p4sched.control.bands import Bands
from p4sched.control.decision_log import DecisionLog
from p4sched.control.laws import aifo, fdpa, packs, ranked, rifo
from p4sched.control.laws.port_counters import BUCKETS, Sample
from p4sched.p4rt.reader import Count
from p4sched.p4rt.users import UserCounter

CONFIGS: dict[str, ranked.Config] = {
    "aifo": aifo.Config(100_000_000, 5 * MS, 512, span_ns=50 * MS, window_ranks=32),
    "rifo": rifo.Config(100_000_000, 5 * MS, 512, loss=0.02),
    "packs": packs.Config(100_000_000, 5 * MS, 64, queues=5, fixed={"k": 0.2}),
}
FOUND: dict[str, ranked.Parameters] = {
    "aifo": aifo.Parameters(33, 512, 40, 32, 100),
    "rifo": rifo.Parameters(33, 40, 99),
    "packs": packs.Parameters((8, 8, 8, 8, 8), 40, 16, 7),
}


FDPA_CONFIG = fdpa.Config(500_000_000, Bands(1, 4, 0.5), 60_000, 10 * MS)


def write_ranked(path: Path, config: ranked.Config, state: ranked.State, steps: int = 50) -> Port:
    """A controller's run of so many tenths of a second with changing traffic."""
    source = random.Random(9)
    port = Port(config, state)
    for step in range(steps):
        arrived = source.randrange(900, 1500) * (1 if step < 25 else 3)
        admitted = min(arrived, 826)
        ranks = {3: arrived // 3, 7: arrived - arrived // 3}
        port.poll(admitted, arrived - admitted, ranks=ranks, read_ns=source.randrange(5 * MS))
    log = DecisionLog(path)
    log.start(config, state)
    for sample, decision in zip(port.samples, port.decisions, strict=True):
        log.decision(sample, decision)
    log.close()
    return port


def write_fdpa(path: Path, state: fdpa.State) -> None:
    """A controller's run of three rounds."""
    log = DecisionLog(path)
    log.start(FDPA_CONFIG, state)
    for step in range(3):
        sample = fdpa.Sample(100 * step * MS, {1: UserCounter(50_000 * step)})
        decision = fdpa.decide(FDPA_CONFIG, state, sample)
        log.decision(sample, decision)
        state = decision.state
    log.close()


def write_border(path: Path, name: str) -> list[Any]:
    """Runs at the borders that a proof shows: packets without bytes; a user who is active in every other window."""
    config: Any = FDPA_CONFIG if name == "fdpa" else CONFIGS[name]
    state: Any = config.law.take_over(None if name == "fdpa" else FOUND[name].action_data())
    log = DecisionLog(path)
    log.start(config, state)
    decisions = []
    for poll in range(40):
        sample: Any
        if name == "fdpa":
            users = {1: UserCounter(10**6 * poll), 2: UserCounter(1500 * (poll // 8))}
            sample = fdpa.Sample(100 * poll * MS, users)
        else:
            counts = Count(100 * poll, 5000 * min(poll, 4)), Count(50 * poll, 0)
            none = (0,) * BUCKETS
            sample = Sample(100 * poll * MS, MS, *counts, Count(), none, none)
        decisions.append(config.law.decide(config, state, sample))
        log.decision(sample, decisions[-1])
        state = decisions[-1].state
    log.close()
    return decisions


DAMAGE = ("null", "NaN", "Infinity", "-Infinity", "1e400", "-1", "0", "1", "1e300", "18446744073709551615", '""', '"x"')
NESTED = ("[]", "{}", "[0]", '{"k": 0}', "[" * 30 + "]" * 30, "[" * 800 + "]" * 800, "[" * 100_000, "9" * 5000)
_MARK = "the value to be replaced"


def write_short(path: Path, name: str) -> None:
    """A short run of this law, which takes over what it finds."""
    if name == "fdpa":
        write_fdpa(path, fdpa.State.take_over(fdpa.parameters_for(FDPA_CONFIG, 5)))
    else:
        write_ranked(path, CONFIGS[name], ranked.State.take_over(FOUND[name]), steps=4)


def damaged(text: str) -> Iterator[tuple[str, str]]:
    """A log with one value of its first line, or of its last line but one, replaced by another; and where which one."""
    lines = text.splitlines()
    source = random.Random(4)
    for number in (0, len(lines) - 2):
        line = json.loads(lines[number])
        for place in _places(line):
            for value in (*DAMAGE, *source.sample(NESTED, 2)):
                wrong = json.dumps(_replaced(line, place)).replace(json.dumps(_MARK), value)
                where = f"line {number + 1}, {place}: {value[:40]}"
                yield where, "\n".join([*lines[:number], wrong, *lines[number + 1 :]]) + "\n"


def _places(value: Any) -> Iterator[tuple[str | int, ...]]:
    """Where the values within a value are, itself included; of a histogram the first and the last bucket."""
    yield ()
    inside = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    if len(inside) == BUCKETS:
        inside = [inside[0], inside[-1]]
    for key, inner in inside:
        yield from ((key, *rest) for rest in _places(inner))


def _replaced(value: Any, place: tuple[str | int, ...]) -> Any:
    """A value with the mark at a place."""
    if not place:
        return _MARK
    copy = value.copy()
    copy[place[0]] = _replaced(value[place[0]], place[1:])
    return copy
