"""AIFO's control law as lab 09 describes it: that of `control/laws/aifo.py`, with a hysteresis of its own."""

from collections.abc import Callable

from p4sched.control.laws.aifo import quantile_headroom
from p4sched.control.laws.ranked import close_to, headroom_numerator
from p4sched.labs.functions import Answer, Controller, Sample

MAX_HEADROOM = 0.5
Values = tuple[int, int, int]
"""C, K and S."""


def target(sample: Sample) -> int:
    """C: the packets that the link sends within the delay."""
    room: int = sample["queue_packets"]
    packets: float = sample["drain_bps"] * sample["delay_ms"] / 1000 / (8 * sample["packet_bytes"])
    return max(1, min(room, round(packets)))


def sampling(sample: Sample) -> int:
    """S: the window spans the time that is asked for."""
    arrivals: float = sample["arrival_pps"] * sample["span_ms"] / 1000 / sample["window"]
    return max(1, round(arrivals))


def headroom(sample: Sample, length: int) -> int:
    """K."""
    return headroom_numerator(quantile_headroom(sample["dispersion"], length, sample["loss"], MAX_HEADROOM))


def near(held: Values, wanted: Values) -> bool:
    """Whether the values may stay."""
    return close_to(held[0], wanted[0], 0.1) and abs(held[1] - wanted[1]) <= 16 and close_to(held[2], wanted[2], 0.25)


class AifoLaw(Controller):
    """The rule, or with other parts a mistake."""

    def __init__(
        self,
        target: Callable[[Sample], int] = target,
        sampling: Callable[[Sample], int] = sampling,
        headroom: Callable[[Sample, int], int] = headroom,
        near: Callable[[Values, Values], bool] = near,
        follows_wish: bool = False,
    ) -> None:
        """follows_wish: the next values are compared with what was wanted, not with what is in force."""
        self._target, self._sampling, self._headroom, self._near = target, sampling, headroom, near
        self._follows_wish = follows_wish
        self._held: Values | None = None
        self._told: list[tuple[str, str]] = []

    def decide(self, sample: Sample) -> Answer:
        length = self._target(sample)
        wanted = (length, self._headroom(sample, length), self._sampling(sample))
        held = self._held
        stays = held is not None and self._near(held, wanted)
        given = held if held is not None and stays else wanted
        self._held = wanted if self._follows_wish else given
        names = ("drain_bps", "delay_ms", "packet_bytes", "arrival_pps", "span_ms", "window", "dispersion")
        self._told = [("traffic", ", ".join(f"{name} {sample[name]:g}" for name in names))]
        self._told.append(("wanted", "C {}, K {}, S {}".format(*wanted)))
        if held is not None:
            self._told.append(
                ("held", "C {}, K {}, S {}".format(*held) + (", near enough" if stays else ", too far away"))
            )
        return dict(zip(("C", "K", "S"), given, strict=True))

    def explain(self) -> list[tuple[str, str]]:
        return self._told
