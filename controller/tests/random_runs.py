"""Random options of the laws, and random traffic in stepped time: what no person would think of."""

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ranked_port import MS, poisson

from p4sched.control.bands import Bands
from p4sched.control.decision_log import DecisionLog
from p4sched.control.law import AnyLaw
from p4sched.control.laws import aifo, fdpa, packs, ranked, rifo
from p4sched.control.laws.port_counters import BUCKETS, Sample
from p4sched.control.parameters import Parameters, PortParameters
from p4sched.p4rt.reader import Count
from p4sched.p4rt.target import Target
from p4sched.p4rt.users import UserCounter

LARGE = 2**53 + 12345
"""More than a float can count one by one."""


def write_random_runs(path: Path, law: AnyLaw, runs: int, decisions: int) -> int:
    """Appends random runs of controllers to a log. Returns how often they wrote to the switch."""
    source = random.Random(path.name)
    written = 0
    log = DecisionLog(path)
    for _ in range(runs):
        config: Any
        samples: Iterator[Any]
        if law is fdpa.LAW:
            config, samples = fdpa_config(source), user_samples(source)
        else:
            config = ranked_config(law, source)
            samples = port_samples(config.rate_bps, source)
        found = found_parameters(law, source)
        state = law.take_over(None if found is None else found.action_data())
        log.start(config, state)
        for _ in range(decisions):
            sample: Any = next(samples)
            decision = law.decide(config, state, sample)
            log.decision(sample, decision)
            state = decision.state
            written += decision.changed
    log.close()
    return written


def found_parameters(law: AnyLaw, source: random.Random) -> Parameters | None:
    """What the switch may have: nothing of the kind, the program's defaults, or what another controller wrote."""
    if source.random() < 0.4:
        return None
    if law is fdpa.LAW:
        return fdpa.parameters_for(fdpa_config(source), source.uniform(0.1, 20))
    if source.random() < 0.3:
        defaults = law.parameters()
        assert isinstance(defaults, PortParameters)
        return defaults.on(source.choice(list(Target)))
    config = ranked_config(law, source)
    return config.parameters_for(config.at_first())


def some(source: random.Random, options: dict[str, Any]) -> dict[str, Any]:
    """Half of the options."""
    return {name: value for name, value in options.items() if source.random() < 0.5}


def ranked_config(law: AnyLaw, source: random.Random) -> ranked.Config:
    """A configuration of a ranked scheme's law, in which any option may be set."""
    rate_bps = round(10 ** source.uniform(6, 11))
    queue = source.choice([source.randint(1, 20), source.randint(64, 500)])
    queues = source.randint(1, 8)
    options = {
        "span_ns": source.randrange(2 * 10**9),
        "loss": source.uniform(0.001, 0.3),
        "max_headroom": source.uniform(0, 0.99),
        "rate_window_ns": source.randint(5, 25) * 100 * MS,
        "dispersion_window_ns": source.randint(20, 200) * 100 * MS,
        "hold_ns": source.randint(1, 2 * 10**9),
    }
    fixed: dict[str, float] = {"k": source.choice([source.random(), source.randrange(256) / 256])}
    must = {}
    if law is rifo.LAW:
        fixed |= {"B": source.randint(1, queue), "T": float(source.randint(1, 10**6))}
    else:
        options["window_ranks"] = source.randint(1, 32)
        fixed["S"] = source.randint(1, 10**6)
    if law is aifo.LAW:
        fixed["C"] = source.randint(1, queue)
    if law is packs.LAW:
        must["queues"] = queues
        fixed["B"] = source.randint(queues, queues * queue)
    config: ranked.Config = law.config(
        rate_bps,
        math.ceil(1514 * 8e9 / rate_bps * source.uniform(1, 100)),
        queue,
        fixed=some(source, fixed) if source.random() < 0.5 else {},
        **must,
        **some(source, options),
    )
    return config.on(source.choice(list(Target)))


def port_samples(rate_bps: int, source: random.Random) -> Iterator[Sample]:
    """The counters of a port whose traffic changes now and then."""
    large = source.random() < 0.5
    now_ns = LARGE if large else 0
    admitted, refused, full = Count(LARGE, 2**61) if large else Count(), Count(), Count()
    ranks, depths = [0] * BUCKETS, [0] * BUCKETS
    load, batch, frame, buckets = 1.0, 1, 1514, range(1)
    while True:
        if source.random() < 0.04:
            load, batch, frame = 10 ** source.uniform(-1.5, 0.8), source.choice([1, 2, 8]), source.randint(64, 1514)
            lowest = source.randrange(BUCKETS)
            buckets = range(lowest, min(BUCKETS, lowest + source.randint(1, 12)))
        if source.random() < 0.007:
            admitted = refused = full = Count()
            ranks, depths = [0] * BUCKETS, [0] * BUCKETS
        passed_ns = source.choices([0, 3000 * MS, round(source.uniform(95, 105) * MS)], [1, 1, 60])[0]
        now_ns += passed_ns
        link = rate_bps * passed_ns / 8e9 / frame
        arrived = batch * poisson(load * link / batch, source) if source.random() < 0.9 else 0
        lost = max(0, arrived - round(link)) if source.random() < 0.75 else 0
        by_rule = lost if source.random() < 0.7 else 0
        admitted += Count(arrived - lost, (arrived - lost) * frame)
        refused += Count(by_rule, by_rule * frame)
        full += Count(lost - by_rule, (lost - by_rule) * frame)
        for bucket in buckets:
            ranks[bucket] += arrived * source.randint(1, 3) // (2 * len(buckets))
        depths[0] += arrived // 5 if source.random() < 0.3 else 0
        read_ns = source.randrange(200 * MS if source.random() < 0.05 else 5 * MS)
        yield Sample(now_ns, read_ns, admitted, refused, full, tuple(ranks), tuple(depths))


def fdpa_config(source: random.Random) -> fdpa.Config:
    """A configuration of FDPA's law, in which any option may be set."""
    target = source.choice(list(Target))
    options = {
        "token_bucket": target is Target.V1MODEL,
        "burst_bytes": source.randrange(2**28),
        "flowlet_gap_us": source.randrange(100_000),
        "activity_window_ns": source.randint(1, 20) * 100 * MS,
        "active_bytes": source.randint(1, 20_000),
    }
    return fdpa.Config(
        round(10 ** source.uniform(5, 12)),
        Bands(
            source.choice([1, source.uniform(0.01, 9)]),
            source.randint(1, 7),
            source.choice([0.5, source.uniform(0.01, 9)]),
        ),
        source.choice([source.randint(1, 100_000), source.randrange(1, 2**31)]),
        source.randint(1, 200 * MS),
        **some(source, options),
    ).on(target)


def user_samples(source: random.Random) -> Iterator[fdpa.Sample]:
    """The counters of users that come and go."""
    now_ns = source.choice([0, LARGE])
    users: dict[int, UserCounter] = {}
    sending: set[int] = set()
    for step in range(10**9):
        if len(users) < 3 or source.random() < 0.03:
            scale = source.choice([256, source.randint(1, 2000), source.randrange(1, 2**16)])
            users[source.randint(1, 4095)] = UserCounter(source.choice([0, LARGE]), scale)
        if source.random() < 0.02:
            users.pop(next(iter(users)))
        now_ns += source.choices([0, 2000 * MS, round(source.uniform(95, 105) * MS)], [1, 1, 60])[0] if step else 0
        sending ^= {user for user in users if source.random() < 0.06}
        reset = source.random() < 0.007
        for user, counter in users.items():
            more = source.choice([0, 66, 1514, source.randrange(10**6)]) if user in sending else 0
            users[user] = UserCounter(more + (0 if reset else counter.sent_bytes), counter.scale)
        yield fdpa.Sample(now_ns, dict(users))
