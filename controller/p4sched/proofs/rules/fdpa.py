"""FDPA: the rate of a user selects a band, and the band a queue (paper, section III).

The paper divides bytes by time. Fixed intervals, pauses, weights and user 0 are the laboratory's. Token buckets and
flowlets are future work in the paper (section V); how they work is the laboratory's, too.

charge = bytes of the packet over the weight of its user
rate   = charges of the last complete interval; if it began 2, 4 or 8 intervals ago, a half, a quarter or an eighth of
         them, and 0 from 16 on
band   = first q with rate <= edge_q; the last band is open;  queue 8 - q
token buckets, instead of the rate: one for each edge, filled at the rate of the edge; the first band whose bucket holds
         the charge; the packet is paid from this bucket and from all wider ones
flowlets: a flow keeps its band until it pauses
user 0: band 1

The clock counts microseconds and has 32 bits: a time that has passed is a difference modulo 2^32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from p4sched.proofs.exact import Int, Truth, choose, every, exact, largest, negated, number, smallest, some
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.scheme import QUEUES, REFUSED, Cell, Decision, Rule, queue_cell, verdict

WORD = 32
UNUSED = (1 << WORD) - 1
"""An edge that is not used."""
FLOWLETS = 4096
EDGES = QUEUES - 1
Written = dict[str, tuple[Int, Int]]


@dataclass(frozen=True)
class Average:
    """The rate of a packet's user, and the estimator after it."""

    rate: Int
    """Charges of the last complete interval."""
    current: Int
    """Charges since the interval began, with this packet."""
    written: Written


def average_rate(packet: Arrival, block: str, used: Truth) -> Average:
    """The average rate. `block`: name of the program's estimator; `used`: the packet changes it."""
    user, interval = packet.user, packet.parameters["interval_us"]
    names = [f"{block}.{name}" for name in ("interval_start", "interval_bytes", "last_rate")]
    start, charged, last = (packet.old(name, user) for name in names)
    passed = time_passed(packet, start)
    ended = passed >= interval
    rate = exact(0)
    for pauses in (8, 4, 2):
        rate = choose(passed < interval * (2 * pauses), charged >> (pauses.bit_length() - 1), rate)
    rate = choose(passed < interval * 2, charged, rate)
    begin = choose(passed < interval * 2, (start + interval).lowest(WORD), packet.now)
    current = choose(ended, packet.charge, smallest(charged + packet.charge, UNUSED))
    after = (choose(ended, begin, start), current, choose(ended, rate, last))
    old = (start, charged, last)
    written = {name: (user, choose(used, new, before)) for name, new, before in zip(names, after, old, strict=True)}
    return Average(choose(ended, rate, last), current, written)


def time_passed(packet: Arrival, since: Int) -> Int:
    """Microseconds between a time and the packet."""
    return (packet.now - since).lowest(WORD)


def band_of(packet: Arrival, rate: Int) -> Int:
    """The first band whose edge the rate does not exceed."""
    band = exact(QUEUES)
    for place in range(EDGES, 0, -1):
        band = choose(rate <= packet.parameters[f"edge_{place}"], place, band)
    return band


def size_of(packet: Arrival, band: Int) -> Int:
    """Size of a band's queue in packets; 0: the queue has its own."""
    size = packet.parameters[f"depth_{QUEUES}"]
    for place in range(EDGES, 0, -1):
        size = choose(band.equals(place), packet.parameters[f"depth_{place}"], size)
    return size


@dataclass(frozen=True)
class Tokens:
    """The band of a packet by its tokens, and the buckets after it."""

    band: Int
    gained: Sequence[Int]
    """Tokens since the user's last packet, for each bucket."""
    levels: Sequence[Int]
    written: Written


class Fdpa(Rule):
    """FDPA."""

    control, table, action = "FdpaIngress", "fdpa_params", "set_bands"
    has_admission = False

    def decide(self, packet: Arrival) -> Decision:
        of = packet.parameters
        known = packet.user.differs(0)
        by_tokens = every(known, of["token_bucket"].equals(1))
        by_rate = every(known, of["token_bucket"].equals(0))
        average = average_rate(packet, ".bands.average", by_rate)
        tokens = self._tokens(packet, by_tokens)
        band = choose(by_tokens, tokens.band, band_of(packet, average.rate))
        band, flowlets = self._flowlet(packet, band, every(known, of["flowlet_gap_us"].differs(0)))
        band = choose(known, band, 1)
        size = size_of(packet, band)
        queue = QUEUES - band
        length = packet.old("queue_depths", queue_cell(packet.port, queue))
        decided = verdict(True, some(size.equals(0), length < size))
        hints = {".bands.charge": packet.charge, ".bands.rate": average.rate}
        hints |= {f".bands.buckets.bucket_{number}.gained": gained for number, gained in enumerate(tokens.gained, 1)}
        hints |= {f".bands.buckets.bucket_{number}.level": level for number, level in enumerate(tokens.levels, 1)}
        hints |= {".band": band, "standard_metadata.priority": queue, ".size": size, ".admit.verdict": decided}
        lemmas = {"there are 8 bands": every(band >= 1, band <= QUEUES), "none is refused": decided.differs(REFUSED)}
        return Decision(decided, queue, average.written | tokens.written | flowlets, hints, lemmas)

    def cases(self, packet: Arrival) -> Mapping[str, Truth]:
        known, by_tokens = packet.user.differs(0), packet.parameters["token_bucket"].equals(1)
        return {
            "user 0": negated(known),
            "average rate": every(known, negated(by_tokens)),
            "token buckets": every(known, by_tokens),
        }

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        edges = [exact(-1), *(packet.parameters[f"edge_{number}"] for number in range(1, QUEUES)), exact(UNUSED)]
        rate = packet.world.variable("any rate", WORD)
        bands = exact(0)
        for above, edge in pairwise(edges):
            bands = bands + number(every(above < rate, rate <= edge))
        return {"each rate is in one band: no gap, no overlap": bands.equals(1)}

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        return {"a flowlet has one of 8 bands": cell(".bands.flowlets.flowlet_band", packet.hashed(FLOWLETS)) <= QUEUES}

    def _tokens(self, packet: Arrival, used: Truth) -> Tokens:
        """Tokens are sixteenths of a byte; a rate is bytes in 65536 microseconds."""
        user, of = packet.user, packet.parameters
        clock = ".bands.buckets.last_arrival"
        passed = time_passed(packet, packet.old(clock, user))
        written = {clock: (user, choose(used, packet.now, packet.old(clock, user)))}
        band = exact(QUEUES)
        most, cost = of["burst_bytes"] * 16, packet.charge * 16
        gains, levels = [], []
        for place in range(1, EDGES + 1):
            name, rate = f".bands.buckets.bucket_{place}.tokens", of[f"rate_{place}"]
            gains.append((passed * rate) >> 12)
            level = smallest(packet.old(name, user) + gains[-1], most)
            holds = some(rate.equals(UNUSED), level >= cost)
            band = choose(every(band.equals(QUEUES), holds), place, band)
            level = choose(band.equals(QUEUES), level, largest(level - cost, 0))
            levels.append(level)
            written[name] = user, choose(used, level, packet.old(name, user))
        return Tokens(band, gains, levels, written)

    def _flowlet(self, packet: Arrival, band: Int, used: Truth) -> tuple[Int, Written]:
        cell = packet.hashed(FLOWLETS)
        names: Sequence[str] = (".bands.flowlets.flowlet_last_seen", ".bands.flowlets.flowlet_band")
        seen, kept = (packet.old(name, cell) for name in names)
        keeps = every(used, kept.differs(0), time_passed(packet, seen) < packet.parameters["flowlet_gap_us"])
        written = {
            names[0]: (cell, choose(used, packet.now, seen)),
            names[1]: (cell, choose(every(used, negated(keeps)), band, kept)),
        }
        return choose(keeps, kept, band), written
