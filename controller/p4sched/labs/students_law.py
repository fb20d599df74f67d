"""A student's function in place of a law, for the run with TCP on the student's own machine."""

import runpy
from dataclasses import replace
from typing import Any

from p4sched.control.laws import aifo, fdpa
from p4sched.control.laws.traffic_estimate import Traffic
from p4sched.p4rt.users import UNIT_SCALE


def fdpa_sample(config: fdpa.Config, sample: fdpa.Sample) -> dict[str, Any]:
    """A sample in the format of lab 08."""
    return {
        "time_ms": sample.time_ns // 1_000_000,
        "capacity_bps": config.capacity_bps,
        "interval_ms": config.interval_us / 1000,
        "bands": list(config.bands.edges),
        "users": [
            {"user": user, "bytes": counter.sent_bytes, "weight": UNIT_SCALE / counter.scale}
            for user, counter in sorted(sample.users.items())
        ],
    }


def aifo_sample(config: aifo.Config, traffic: Traffic) -> dict[str, Any]:
    """A sample in the format of lab 09."""
    return {
        "arrival_pps": traffic.arrival_pps,
        "packet_bytes": traffic.packet_bytes,
        "drain_bps": traffic.drain_bps,
        "dispersion": traffic.dispersion,
        "delay_ms": config.delay_ns / 1e6,
        "span_ms": (config.span_ns or 15 * config.delay_ns) / 1e6,
        "window": config.window_ranks,
        "queue_packets": config.queue_packets,
        "loss": config.loss,
    }


def whole(number: float) -> int:
    """Converts to a whole number; 33.0 is 33, as in the check."""
    if number != int(number):
        raise ValueError(f"{number} is not a whole number")
    return int(number)


def in_place_of_fdpa(file: str) -> None:
    """Takes the edges from the student's function, and all other values from the law."""
    student = runpy.run_path(file)["decide"]
    memory: dict[str, Any] = {}

    def decide(config: fdpa.Config, state: fdpa.State, sample: fdpa.Sample) -> fdpa.Decision:
        decision = fdpa.decide(config, state, sample)
        found = student(memory, fdpa_sample(config, sample))
        assert decision.parameters is not None
        edges = [max(1, min(round(edge), fdpa.UNUSED_EDGE - 1)) for edge in (found or {}).get("edges", [])]
        unused = decision.parameters.edges[len(edges) :]
        parameters = replace(decision.parameters, edges=(*edges, *unused))
        return replace(
            decision,
            parameters=parameters,
            state=replace(decision.state, parameters=parameters),
            changed=parameters != state.parameters,
        )

    fdpa.Config.law = replace(fdpa.LAW, decide=decide)


def in_place_of_aifo(file: str) -> None:
    """Takes C, k and S from the student's function. The law decides when they are written."""
    student = runpy.run_path(file)["decide"]

    def parameters_for(config: aifo.Config, traffic: Traffic) -> aifo.Parameters:
        found = student({}, aifo_sample(config, traffic))
        return aifo.Parameters(
            target_packets=whole(found["C"]),
            capacity_packets=config.queue_packets,
            headroom_256=whole(found["K"]),
            window_ranks=config.window_ranks,
            sampling=whole(found["S"]),
        )

    aifo.Config.parameters_for = parameters_for  # type: ignore[method-assign, assignment]
