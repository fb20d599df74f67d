"""The workloads of `p4sched compare`, and the number that each gives for a scheduler and a seed.

All run in virtual time or in stepped time: the same command gives the same numbers on every machine. A scheduler that
has only a program runs as a program, the others as models. They get sizes for the same number of packets (PACKS 6.1).
"""

import json
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from p4sched import simulate
from p4sched.control.parameters import Comparison
from p4sched.errors import P4schedError
from p4sched.folders.native import command, fault
from p4sched.paths import DATA_DIR
from p4sched.proto.enums import Discipline
from p4sched.schemes import SCHEMES
from p4sched.traits import ComparisonKind

QUEUES, QUEUE_SIZE, WINDOW = 8, 10, 32
BUFFER = QUEUES * QUEUE_SIZE
"""Packets that each scheduler should hold."""
COMMON = Comparison(BUFFER, WINDOW, queues=QUEUES)
"""Common sizes of the schedulers."""
HEADROOM_256 = 26
"""k = 0.1 for the workloads with TCP; a constant stream has k = 0."""
SIZES_SCALE = 0.1
"""Factor on the sizes of flows, so that a short run has many."""
SMALL_BYTES = 10_000
HOSTS_OF_A_LEAF, LEAVES = 4, 4
ACCESS, FABRIC = simulate.Link.of("1gbit", "10us"), simulate.Link.of("2gbit", "10us")
DATA_CENTRE: Mapping[str, object] = {"min_rto": 1_000_000, "initial_rto": 3_000_000}
"""Timers of hosts in a data centre, in ns."""
MARK_AT_PACKETS = 20
LATEST_START_NS = 100_000_000
ATTACK_STEPS = 2000


@dataclass(frozen=True)
class Scale:
    """Length of the workloads."""

    packets: int
    """Packets of a constant stream."""
    flows_ns: int
    """Time in which flows start."""
    fairness_ns: int
    """BBR measures the round trip every 10 s."""
    attack_steps: int


FULL = Scale(200_000, 500_000_000, 30_000_000_000, ATTACK_STEPS)
QUICK = Scale(20_000, 50_000_000, 2_000_000_000, 200)


@dataclass(frozen=True)
class Measured:
    """The number of one scheduler on one workload, for one seed."""

    value: float
    unfinished: int = 0
    """Flows that did not end, and count with the time that they had: the value is then a lower bound."""
    dropped_share: float | None = None
    """Share of the packets that were dropped; None: not measured."""


@dataclass(frozen=True)
class Workload:
    """A workload with its one number."""

    name: str
    group: str
    """Workloads of one group stand in one panel."""
    number: str
    """Meaning of the number, and its unit."""
    better: str
    """`lower` or `higher`."""
    measure: Callable[[str, int, Scale], Measured | None]
    """The number for a scheme and a seed; None: this scheme cannot run it."""
    suits: Callable[[str], bool] = lambda _: True


def held_packets(scheme: str) -> int | None:
    """Packets that the queues of a scheme hold together; None if its description gives no sizes for a comparison."""
    try:
        return sum(SCHEMES[scheme].for_comparison(COMMON).queue_sizes)
    except P4schedError:
        return None


def ports(scheme: str, headroom_256: int, mark_at_packets: int | None = None) -> simulate.Ports:
    """Ports of the switches, with the sizes that make schedulers comparable."""
    ideal = SCHEMES[scheme].discipline in IDEALS and SCHEMES[scheme].in_laboratory
    return simulate.Ports(
        scheme,
        queues=QUEUES,
        queue_size=QUEUE_SIZE,
        window=None if ideal else WINDOW,
        headroom_256=None if ideal else headroom_256,
        mark_at_packets=mark_at_packets,
    )


IDEALS = (Discipline.DRR, Discipline.STFQ, Discipline.AFQ)


def serves_ranks(scheme: str) -> bool:
    """True for a scheduler that serves packets by rank."""
    return ComparisonKind.RANKS in SCHEMES[scheme].comparisons


def _inversions(distribution: str) -> Callable[[str, int, Scale], Measured]:
    def measure(scheme: str, seed: int, scale: Scale) -> Measured:
        return _stepped(scheme, ["--ranks", distribution, "--packets", str(scale.packets), "--seed", str(seed)])

    return measure


def _stepped(scheme: str, words: Sequence[str]) -> Measured:
    """Inversions and drops of a scheduler from `p4sched-stepped`."""
    models = SCHEMES[scheme].has_model
    words = [*words, "--schemes", scheme, "--with", "model" if models else "p4", "--window", str(WINDOW)]
    words += ["--queues", str(QUEUES), "--queue-size", str(QUEUE_SIZE)]
    with command("p4sched-stepped", [scheme], models=models) as tool:
        ended = subprocess.run(
            [*tool.words, *words], cwd=DATA_DIR, env=tool.variables, capture_output=True, text=True, check=False
        )
    if ended.returncode != 0:
        raise P4schedError(fault("p4sched-stepped", ended.stderr, ended.returncode))
    tool.pass_on(ended.stderr)
    if not ended.stdout:
        raise P4schedError(tool.ended or "p4sched-stepped printed no result")
    found = json.loads(ended.stdout)["schemes"][scheme]
    packets = found["drops"] + found["departures"]
    return Measured(float(found["inversions"]), dropped_share=found["drops"] / packets if packets else None)


def _completion(sizes: str, load: float) -> Callable[[str, int, Scale], Measured]:
    """Mean completion time of small flows in ms. A flow that is not complete counts with the time that it had."""

    def measure(scheme: str, seed: int, scale: Scale) -> Measured:
        scenario = simulate.Scenario(
            topology=simulate.LeafSpine(LEAVES, 2, HOSTS_OF_A_LEAF, ACCESS, FABRIC),
            ports=ports(scheme, HEADROOM_256),
            flows=simulate.Poisson(
                sizes, load, HOSTS_OF_A_LEAF * LEAVES * ACCESS.rate_bps, scale.flows_ns, SIZES_SCALE
            ),
            ranks="remaining",
            transports={"tcp": {"control": "new_reno", **DATA_CENTRE}},
            end_ns=2 * scale.flows_ns,
            seed=seed,
            multipath="buckets",
        )
        flows = simulate.run(scenario).flows
        small = flows[flows["bytes"] < SMALL_BYTES]
        return Measured(float(small["restricted_s"].mean() * 1e3), _unfinished(small))

    return measure


def _unfinished(flows: Any) -> int:
    return int(np.isnan(flows["completion_s"]).sum())


def _incast(scheme: str, seed: int, scale: Scale) -> Measured:
    """Time in ms until the last of 32 senders is done, at most that of the run."""
    senders, end_ns = 32, 2_000_000_000
    scenario = simulate.Scenario(
        topology=simulate.Incast(senders, ACCESS, ACCESS),
        ports=ports(scheme, HEADROOM_256),
        flows=[simulate.Flow(sender, senders, 64_000, start_ns=1000 * sender) for sender in range(senders)],
        ranks="remaining",
        transports={"tcp": {"control": "new_reno", **DATA_CENTRE}},
        end_ns=end_ns,
        seed=seed,
    )
    flows = simulate.run(scenario).flows
    done = np.where(np.isnan(flows["completion_s"]), end_ns / 1e9, flows["completion_s"])
    return Measured(float(done.max() * 1e3), _unfinished(flows))


def _fairness(scheme: str, seed: int, scale: Scale) -> Measured | None:
    """Jain's index of the bytes of a Cubic, a DCTCP and a BBR flow over one link. Ranks are start times.

    The seed chooses when each flow starts, within 100 ms.
    """
    if not SCHEMES[scheme].has_model:
        return None
    controls: Mapping[str, Mapping[str, Any]] = {
        "cubic": {"control": "cubic"},
        "dctcp": {"control": "dctcp", "ecn": True},
        "bbr": {"control": "bbr"},
    }
    starts = np.random.default_rng(seed).integers(0, LATEST_START_NS, len(controls)).tolist()
    flows = [
        simulate.Flow(place, 3, 10**10, start_ns=start, transport=name)
        for place, (name, start) in enumerate(zip(controls, starts, strict=True))
    ]
    scenario = simulate.Scenario(
        topology=simulate.Dumbbell(3, simulate.Link.of("1gbit", "1ms"), simulate.Link.of("100mbit", "4ms")),
        ports=ports(scheme, HEADROOM_256, MARK_AT_PACKETS),
        flows=sorted(flows, key=lambda flow: flow.start_ns),
        ranks="start_time" if serves_ranks(scheme) and scheme != "fifo" else "flow",
        transports=controls,
        end_ns=scale.fairness_ns,
        seed=seed,
    )
    got = simulate.run(scenario).flows["received_bytes"].astype(float)
    return Measured(float(got.sum() ** 2 / (len(got) * (got**2).sum())))


def _attack(victim: str) -> Callable[[str, int, Scale], Measured]:
    """Inversions on the trace that `p4sched attack VICTIM --against pifo` finds."""

    def measure(scheme: str, seed: int, scale: Scale) -> Measured:
        return _stepped(scheme, ["--arrivals", str(_trace(victim, seed, scale))])

    return measure


_SEARCHES = Lock()
_TRACES = tempfile.TemporaryDirectory(prefix="p4sched-compare-")


def _trace(victim: str, seed: int, scale: Scale) -> Path:
    trace = Path(_TRACES.name) / f"{victim}-{seed}-{scale.attack_steps}.csv"
    with _SEARCHES:
        if not trace.exists():
            _search(victim, seed, scale, trace)
    return trace


def _search(victim: str, seed: int, scale: Scale, trace: Path) -> None:
    words = [victim, "--against", "pifo", "--packets", "100", "--seed", str(seed), "--steps", str(scale.attack_steps)]
    words += ["--window", str(WINDOW), "--queues", str(QUEUES), "--queue-size", str(QUEUE_SIZE)]
    with command("p4sched-attack", [victim], models=True) as tool:
        subprocess.run(
            [*tool.words, *words, "--trace", str(trace)],
            cwd=DATA_DIR,
            env=tool.variables,
            capture_output=True,
            check=True,
        )


def workloads(schemes: Sequence[str]) -> list[Workload]:
    """All workloads; the traces of attacks are made against the schemes of the laboratory that approximate an order of
    ranks."""
    victims = [name for name in SCHEMES if name in schemes and SCHEMES[name].in_laboratory and SCHEMES[name].ranks]
    return [
        *(
            Workload(f"{name} ranks", "inversions", "inversions", "lower", _inversions(name), serves_ranks)
            for name in ("uniform", "poisson", "inverse-exponential")
        ),
        *(
            Workload(
                f"{sizes.replace('_', ' ')}, load {load:g}",
                "small flows",
                "mean completion time of flows below 10 kB, ms",
                "lower",
                _completion(sizes, load),
            )
            for sizes in ("web_search", "data_mining")
            for load in (0.5, 0.8)
        ),
        Workload("incast of 32", "incast", "time until the last sender is done, ms", "lower", _incast),
        Workload("Cubic, DCTCP, BBR", "fairness", "Jain's index of their bytes", "higher", _fairness),
        *(
            Workload(f"attack on {SCHEMES[name].title}", "attacks", "inversions", "lower", _attack(name), serves_ranks)
            for name in victims
        ),
    ]
