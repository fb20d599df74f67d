"""Parameters that a person may change during a run: those of a law, those that no law sets, and the link's rate.

A law does not change a parameter that a person holds. The held value is part of the law's configuration, and each
change begins a run with another configuration. So every decision can still be repeated from the decision log.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from p4sched.control.bands import MAX_FURTHER_BANDS, Bands
from p4sched.control.laws import fdpa, ranked
from p4sched.control.laws.headroom import HEADROOM_UNIT, headroom_numerator
from p4sched.control.parameters import MAX_PACKETS, MAX_WINDOW, SIZE, WINDOW, Parameters
from p4sched.errors import UsageError, require

RATE = "rate"
FIRST, FURTHER, WIDTH = "first band", "further bands", "width"
RTT = "RTT"
"""RTT for the size of FDPA's queues."""
SHORTEST_RTT, LONGEST_RTT = 0.125, 4.0
"""Limits, in multiples of the law's own RTT."""
LARGEST_HEADROOM = 255 / 256
MOST_SAMPLING, MOST_TRACKING = 1000, 10_000
UNITS = {"C": "packets", "B": "packets", "S": "arrivals", "T": "arrivals", "k": "", SIZE: "packets", WINDOW: "ranks"}


@dataclass(frozen=True)
class Knob:
    """A parameter that can be changed."""

    name: str
    """Name in the paper."""
    unit: str
    low: float
    high: float
    step: float
    value: float
    """Value in force."""


def knobs(parameters: Parameters | None, config: Any = None, own: Any = None) -> list[Knob]:
    """All knobs.

    `config` is the configuration of the law that sets the parameters; None: there is no law. `own` is the configuration
    while nothing is held, if different.
    """
    if isinstance(config, fdpa.Config):
        bands, rtt_ms = config.bands, (own or config).rtt_ns / 1e6
        return [
            Knob(FIRST, "fair shares", 0.25, 4, 0.05, bands.first),
            Knob(FURTHER, "", 1, MAX_FURTHER_BANDS, 1, bands.further),
            Knob(WIDTH, "fair shares", 0.05, 2, 0.05, bands.size),
            Knob(RTT, "ms", rtt_ms * SHORTEST_RTT, rtt_ms * LONGEST_RTT, rtt_ms * SHORTEST_RTT, config.rtt_ns / 1e6),
        ]
    if parameters is None:
        return []
    found = [_knob(name, parameters, field, config) for name, field in parameters.symbols.items()]
    return [knob for knob in found if knob is not None]


def with_held_values(config: Any, values: Mapping[str, float]) -> Any:
    """The configuration of a law that holds these parameters. Raises UsageError for an impossible value."""
    if isinstance(config, fdpa.Config):
        was = config.bands
        first, width = values.get(FIRST, was.first), values.get(WIDTH, was.size)
        bands = Bands(first, int(values.get(FURTHER, was.further)), width)
        rtt_ns = round(values[RTT] * 1e6) if RTT in values else config.rtt_ns
        return dataclasses.replace(config, bands=bands, rtt_ns=rtt_ns)
    assert isinstance(config, ranked.Config)
    fixed = {name: value for name, value in values.items() if name in config.fixable}
    more: dict[str, Any] = {}
    if WINDOW in values:
        more["window_ranks"] = int(values[WINDOW])
    if SIZE in values:
        more["queue_packets"] = int(values[SIZE])
    return dataclasses.replace(config, fixed={**config.fixed, **fixed}, **more)


def by_hand(parameters: Parameters, values: Mapping[str, float]) -> Parameters:
    """Parameters that no law sets, with these values. Raises UsageError for an impossible value."""
    symbols = parameters.symbols
    changes: dict[str, Any] = {}
    for name, value in values.items():
        if name in symbols:
            field = symbols[name]
            changes[field] = _field(parameters, field, value)
    return dataclasses.replace(parameters, **changes)


def in_range(knob: Knob, value: float) -> None:
    """Raises UsageError for a value outside the range of the slider."""
    if not knob.low <= value <= knob.high:
        raise UsageError(f"{knob.name} = {value:g} is not in {knob.low:g} to {knob.high:g} {knob.unit}".rstrip())


def _knob(name: str, parameters: Parameters, field: str, config: Any) -> Knob | None:
    value = getattr(parameters, field)
    queues = 1
    if field == "sizes":
        queues, value = len(value), sum(value)
    if limits := parameters.limits(field):
        low, high, unit = limits
        return Knob(name, unit, low, min(high, max(4 * value, 64)), 1, value)
    if name == "k":
        return Knob(name, "", 0, round(LARGEST_HEADROOM, 2), 0.01, value / HEADROOM_UNIT)
    most: dict[str, float] = {"S": MOST_SAMPLING, "T": MOST_TRACKING, WINDOW: MAX_WINDOW}
    room = max(4 * value, 64) if config is None else config.queue_packets * queues
    if name == SIZE:
        room = max(4 * value, 64)
    low = 2 if name == "T" else queues
    return Knob(name, UNITS[name], low, min(most.get(name, room), MAX_PACKETS), 1, value)


def _field(parameters: Parameters, field: str, value: float) -> Any:
    if field == "headroom_256" and parameters.limits(field) is None:
        return headroom_numerator(value)
    require(float(value).is_integer(), f"{value:g} is not a whole number")
    number = int(value)
    if field != "sizes":
        return number
    queues = len(getattr(parameters, field))
    return tuple(number // queues + (place < number % queues) for place in range(queues))
