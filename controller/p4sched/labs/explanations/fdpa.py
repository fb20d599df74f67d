"""FDPA's rule with the average rate, as p4/include/fdpa_bands.p4 states it. Parameters: those of set_bands."""

from p4sched.labs.explanations import Arrival, Line

EDGES = 7
UNUSED = 0xFFFFFFFF
HALVINGS = 4
"""After a pause of 2^4 intervals the rate is 0."""
WORD = 2**32
"""Times have 32 bits, and wrap around."""


def explain(arrival: Arrival) -> list[Line]:
    """The estimator's state of the user, the time, the rate, and the band."""
    user = arrival.packet.user
    if not user:
        return [("rule", "user 0 is all other traffic: band 1")]
    interval, *edges = arrival.trial.parameters[: EDGES + 1]
    scale = arrival.trial.scales[user - 1]
    *before, last = ((p.at_ns // 1000 % WORD, p.frame_bytes * scale >> 8) for p in arrival.packets if p.user == user)
    estimator = Estimator(interval)
    for now, charge in before:
        estimator.count(now, charge)
    now, charge = last
    elapsed = (now - estimator.start) % WORD
    known = (
        f"its interval began at {estimator.start} us and has {estimator.charged} bytes; its rate is {estimator.rate}"
    )
    estimator.count(now, charge)
    band = next((number for number, edge in enumerate(edges, 1) if estimator.rate <= edge), EDGES + 1)
    shown = " ".join(str(edge) for edge in edges if edge != UNUSED)
    return [
        ("user", f"scale {scale} (256 over the weight), so this packet costs {charge} bytes"),
        ("before", known),
        ("now", f"{now} us: {elapsed} us have passed, {elapsed // interval} intervals of {interval} us"),
        ("rule", f"rate = {estimator.rate} bytes in an interval, edges {shown}: band {band}"),
    ]


class Estimator:
    """State of a user: times in us, bytes over the user's weight."""

    def __init__(self, interval: int) -> None:
        self._interval = interval
        self.start = self.charged = self.rate = 0

    def count(self, now: int, charge: int) -> None:
        """Adds a packet."""
        elapsed = (now - self.start) % WORD
        if elapsed < self._interval:
            self.charged += charge
            return
        pause = next((halvings for halvings in range(HALVINGS) if elapsed >> (halvings + 1) < self._interval), None)
        self.rate = 0 if pause is None else self.charged >> pause
        self.start = (self.start + self._interval) % WORD if pause == 0 else now
        self.charged = charge
