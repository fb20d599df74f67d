"""AIFO's control law of lab 09: that of `control/laws/aifo.py` with another hysteresis."""

import math
from collections.abc import Callable
from functools import cache

from p4sched.control.laws.arithmetic import close_to
from p4sched.control.laws.headroom import headroom_numerator, quantile_headroom
from p4sched.labs.functions import Answer, Controller, Sample

MAX_HEADROOM = 0.5
Number = int | float
Values = tuple[Number, Number, Number]
"""C, K and S."""
Round = Callable[[float], int]
ROUNDINGS: tuple[Round, ...] = (round, math.floor, math.ceil)
"""Allowed roundings: the lab does not say how C and S are rounded."""
Near = Callable[[Values, Values], bool]
"""Says from the values in force and the wanted values whether the former may stay."""


def packets_in_delay(sample: Sample, bits: float = 8, size: float = 0, second: float = 1000) -> float:
    """Packets that the link sends within the delay. Other numbers make a mistake."""
    sent: float = sample["drain_bps"] * sample["delay_ms"] / second / (bits * (size or sample["packet_bytes"]))
    return sent


def bounded(sample: Sample, packets: int) -> int:
    """Applies the limits of C."""
    room: int = sample["queue_packets"]
    return max(1, min(room, packets))


def target(sample: Sample, rounded: Round) -> Number:
    """C: the packets that the link sends within the delay."""
    return bounded(sample, rounded(packets_in_delay(sample)))


def sampling(sample: Sample, rounded: Round) -> Number:
    """S: the window spans the required time."""
    arrivals: float = sample["arrival_pps"] * sample["span_ms"] / 1000 / sample["window"]
    return max(1, rounded(arrivals))


def headroom(sample: Sample, length: Number) -> Number:
    """K."""
    return smallest_headroom(sample["dispersion"], length, sample["loss"])


@cache
def smallest_headroom(dispersion: float, length: Number, loss: float, most: float = MAX_HEADROOM) -> int:
    """K of the smallest sufficient headroom. The law has no `loss` of 0, with which the link may never idle."""
    if loss == 0:
        return headroom_numerator(most if dispersion else 0)
    return headroom_numerator(quantile_headroom(dispersion, length, loss, most))


def near(held: Values, wanted: Values) -> bool:
    """True if the values may stay."""
    return near_c(held, wanted) and near_k(held, wanted) and near_s(held, wanted)


def near_c(held: Values, wanted: Values, share: float = 0.1) -> bool:
    """True if C may stay."""
    return close_to(held[0], wanted[0], share)  # type: ignore[arg-type]


def near_k(held: Values, wanted: Values, most: int = 16) -> bool:
    """True if K may stay."""
    return abs(held[1] - wanted[1]) <= most


def near_s(held: Values, wanted: Values, share: float = 0.25) -> bool:
    """True if S may stay."""
    return close_to(held[2], wanted[2], share)  # type: ignore[arg-type]


class AifoLaw(Controller):
    """The law; other parts make a mistake."""

    def __init__(
        self,
        target: Callable[[Sample, Round], Number] = target,
        round_target: Round = round,
        sampling: Callable[[Sample, Round], Number] = sampling,
        round_sampling: Round = round,
        headroom: Callable[[Sample, Number], Number] = headroom,
        near: Near = near,
        follows_wish: bool = False,
        each_alone: bool = False,
    ) -> None:
        """`follows_wish`: new values are compared with the last wanted values, not with those in force.

        `each_alone`: only values that are not near change.
        """
        self._target, self._sampling, self._headroom, self._near = target, sampling, headroom, near
        self._round_target, self._round_sampling = round_target, round_sampling
        self._follows_wish, self._each_alone = follows_wish, each_alone
        self._held: Values | None = None
        self._explanation: list[tuple[str, str]] = []

    def decide(self, sample: Sample) -> Answer:
        length = self._target(sample, self._round_target)
        wanted = (length, self._headroom(sample, length), self._sampling(sample, self._round_sampling))
        held = self._held
        values = wanted if held is None else self._values_in_force(held, wanted)
        self._held = wanted if self._follows_wish else values
        names = ("drain_bps", "delay_ms", "packet_bytes", "arrival_pps", "span_ms", "window", "dispersion")
        self._explanation = [
            ("traffic", ", ".join(f"{name} {sample[name]:g}" for name in names)),
            ("asked", f"at most {sample['queue_packets']} packets, loss {sample['loss']:g}"),
            ("wanted", "C {}, K {}, S {}".format(*wanted)),
        ]
        if held is not None:
            far = "near enough" if values == held else "too far away"
            self._explanation.append(("held", "C {}, K {}, S {}".format(*held) + f", {far}"))
        return dict(zip(("C", "K", "S"), values, strict=True))

    def _values_in_force(self, held: Values, wanted: Values) -> Values:
        if self._each_alone:
            stays = [part(held, wanted) for part in (near_c, near_k, near_s)]
            c, k, s = (old if stay else new for old, new, stay in zip(held, wanted, stays, strict=True))
            return c, k, s
        return held if self._near(held, wanted) else wanted

    def explain(self) -> list[tuple[str, str]]:
        return self._explanation
