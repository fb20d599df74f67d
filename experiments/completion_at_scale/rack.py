"""AIFO Fig. 12 and 13 for `p4sched reproduce`, in the simulation of the authors.

Three hosts of a rack of the leaf-spine network send 100, 50 and 10 MB to a fourth one from the same moment on, with
hosts of pFabric at all lines. The last byte of the large flow comes after the end.
"""

from dataclasses import replace
from math import isnan

from experiments.completion_at_scale import ports
from experiments.completion_at_scale.ports import OVERHEAD_BYTES, PFABRIC, Port
from experiments.completion_at_scale.workloads import GBIT, LEAF_SPINE
from p4sched.reproducing.figure import Figure, Line, Metrics, Quantity
from p4sched.reproducing.simulation import SOURCES, Simulation
from p4sched.simulate import Result

SIZES = {"large": 100_000_000, "medium": 50_000_000, "small": 10_000_000}
"""Bytes by flow; flow i goes from host i to the receiver."""
RECEIVER = 10
END_NS = 10**9
"""The run file has 1 s for any figure; `--duration` does not change it."""
AIFO = ports.aifo(100)
PORTS: dict[str, Port] = {
    "pifo": ports.single("pifo", 80),
    "sp_pifo": ports.simulated(ports.queues("sp_pifo", 8)),
    "aifo": ports.simulated(AIFO),
    "aifo-text": AIFO,
    "fifo": ports.single("fifo", ports.DROP_PACKETS),
}
LABELS = {
    "pifo": "PIFO",
    "sp_pifo": "SP-PIFO",
    "aifo": "AIFO",
    "aifo-text": "AIFO, rule of the text",
    "fifo": "FIFO",
}


def measure(result: Result) -> Metrics:
    """Time at which the receiver has all bytes of each flow."""
    ends = dict(zip(SIZES, result.flows["received_ns"].tolist(), strict=True))
    return {f"{name}_s": None if isnan(end_ns) else end_ns / 1e9 for name, end_ns in ends.items()}


def measure_order(result: Result) -> Metrics:
    """Share of the departures, of all ports, that overtake no packet of their flow."""
    overtakes, sent = (sum(port[name] for port in result.summary["ports"]) for name in ("overtakes", "sent_packets"))
    return {"in_order": 1 - overtakes / sent}


def run(line: str, _place: str, seed: int, _duration_ns: int) -> Simulation:
    """The run of a line. The paths are the same for each seed, so is the run."""
    flows = [{"source": source, "destination": RECEIVER, "bytes": size} for source, size in enumerate(SIZES.values())]
    scenario = {
        "end_ns": END_NS,
        "topology": LEAF_SPINE.topology(GBIT),
        "ports": PORTS[line],
        "hosts": PORTS[line],
        "ranks": "to_end",
        "overhead_bytes": OVERHEAD_BYTES,
        "transports": {"hosts": PFABRIC},
        "flows": {"list": flows},
    }
    return Simulation(scenario, measure, seed, work=0.125)


def run_in_order(line: str, place: str, seed: int, duration_ns: int) -> Simulation:
    """The same run, in which ports count packets out of order."""
    made = run(line, place, seed, duration_ns)
    return replace(made, scenario={**made.scenario, "count_inversions": True}, measure=measure_order)


SHOWN = [
    Line(name, label, name.partition("-")[0], published=not name.endswith("-text")) for name, label in LABELS.items()
]
READ = ("experiments/completion_at_scale/rack.py", "experiments/completion_at_scale/ports.py", *SOURCES)


FIGURES = (
    Figure(
        "aifo-12",
        "three flows to one host",
        SHOWN,
        ("small", "medium"),
        "flow",
        (Quantity("*_s", "end, s"),),
        run,
        READ,
    ),
    Figure(
        "aifo-13",
        "three flows to one host, order",
        SHOWN,
        ("all",),
        "flows",
        (Quantity("in_order", "share of the departures in the order of their flow", linear=True),),
        run_in_order,
        READ,
    ),
)
