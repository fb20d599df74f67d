"""FDPA on Tofino 1 (tofino-port/programs/fdpa.md): no products, and intervals at fixed times.

unit     = 2^16 ns
length   = total length of IPv4 + 14 bytes
charge   = length 2^n / 256;  2^n: the power of two next to 256 / weight
number   = of the interval: the time in units, over the length 2^k;  2^k: the power of two next to the interval
rate     = charges of the user in the interval before this one; 0 if there were none
band     = first q with rate <= edge_q; the last band is open;  queue 8 - q
flowlets = a flow keeps its band if its last packet was less than gap / 64 units ago, rounded down; the gap is in us,
           so a flow may keep its band 2.4 % longer
user 0: band 1
the traffic manager drops

The clock counts units and has 32 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from p4sched.proofs.exact import Int, Truth, choose, every, exact, implies, largest, negated, number, smallest
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.fdpa import EDGES, FLOWLETS, UNUSED, WORD
from p4sched.proofs.rules.scheme import ADMITTED, QUEUES, Cell, Decision, Rule
from p4sched.proofs.rules.tna_scheme import OnChip
from p4sched.proofs.tna import TIME

UNIT_BITS = 16
ETHERNET_BYTES = 14
SCALE_BITS = 16
LONGEST_INTERVAL = 16
"""k of the longest interval."""
LEAST_US = 48
"""Microseconds of the shortest interval that is rounded to one unit."""
LAST_INTERVAL, CHARGES = ".bands.average.last_interval", ".bands.average.charges"
LAST_SEEN, KEPT_BAND = ".bands.flowlets.flowlet_last_seen", ".bands.flowlets.flowlet_band"


class TnaFdpa(OnChip, Rule):
    """FDPA on Tofino 1."""

    control, table, action = "FdpaIngress", "fdpa_params", "set_bands"
    has_admission = False

    def cases(self, packet: Arrival) -> Mapping[str, Truth]:
        known = packet.user.differs(0)
        return {"user 0": negated(known), "a user": known}

    def decide(self, packet: Arrival) -> Decision:
        of, known, user = packet.parameters, packet.user.differs(0), packet.user
        number_now, charge = self._number(packet), self._charge(packet)
        passed = (number_now - packet.old(LAST_INTERVAL, user)).lowest(WORD)
        held = packet.old(CHARGES, user)
        so_far, last = held >> WORD, held.lowest(WORD)
        goes_on, is_next = passed.equals(0), passed.equals(1)
        rate = choose(goes_on, last, choose(is_next, so_far, 0))
        charged = choose(goes_on, smallest(so_far + charge, UNUSED), charge)
        of_rate = exact(QUEUES)
        for place in range(EDGES, 0, -1):
            of_rate = choose(rate <= of[f"edge_{place}"], place, of_rate)
        band, flowlets = self._flowlet(packet, of_rate)
        band = choose(known, band, 1)
        written = {
            LAST_INTERVAL: (user, choose(known, number_now, packet.old(LAST_INTERVAL, user))),
            CHARGES: (user, choose(known, charged << WORD | rate, held)),
        }
        hints = {".bands.charge": charge, ".bands.number": number_now, ".bands.rate": rate}
        return Decision(exact(ADMITTED), QUEUES - band, written | flowlets, hints)

    def _units(self, packet: Arrival) -> Int:
        return packet.field(TIME) >> UNIT_BITS

    def _places(self, packet: Arrival) -> Int:
        """k of the interval: the first one with interval < 3/2 2^k of 64 microseconds."""
        interval = packet.parameters["interval_us"]
        found = exact(LONGEST_INTERVAL)
        for places in reversed(range(LONGEST_INTERVAL)):
            found = choose(interval < (2 * LEAST_US) << places, places, found)
        return found

    def _number(self, packet: Arrival) -> Int:
        places, found = self._places(packet), exact(0)
        for one in range(LONGEST_INTERVAL + 1):
            found = choose(places.equals(one), self._units(packet) >> one, found)
        return found

    def _power(self, packet: Arrival) -> Int:
        """n of the weight: the first one with 256 / weight < 3/2 2^n."""
        found = exact(SCALE_BITS)
        for power in reversed(range(SCALE_BITS)):
            found = choose(packet.scale * 2 < 3 << power, power, found)
        return found

    def _charge(self, packet: Arrival) -> Int:
        length, power = packet.field("ipv4.total_len") + ETHERNET_BYTES, self._power(packet)
        found = exact(0)
        for one in range(SCALE_BITS + 1):
            found = choose(power.equals(one), (length << one) >> 8, found)
        return found

    def _flowlet(self, packet: Arrival, band: Int) -> tuple[Int, dict[str, tuple[Int, Int]]]:
        cell, gap = packet.hashed(FLOWLETS), packet.parameters["flowlet_gap_us"]
        used = every(packet.user.differs(0), gap.differs(0))
        seen, kept = packet.old(LAST_SEEN, cell), packet.old(KEPT_BAND, cell)
        keeps = every(used, seen > largest(self._units(packet) - (gap >> 6), 0))
        written = {
            LAST_SEEN: (cell, choose(used, self._units(packet), seen)),
            KEPT_BAND: (cell, choose(every(used, negated(keeps)), band, kept)),
        }
        return choose(keeps, kept, band), written

    def theorems(self, packet: Arrival, decision: Decision) -> Mapping[str, Truth]:
        of = packet.parameters
        edges = [exact(-1), *(of[f"edge_{place}"] for place in range(1, QUEUES)), exact(UNUSED)]
        rate = packet.world.variable("any rate", WORD)
        bands = exact(0)
        for above, edge in pairwise(edges):
            bands = bands + number(every(above < rate, rate <= edge))
        interval, power = of["interval_us"], _power_of_two(self._power(packet), SCALE_BITS)
        # a unit is 65.536 us; both sides in thousandths of a microsecond
        length = _power_of_two(self._places(packet), LONGEST_INTERVAL) << UNIT_BITS
        in_range = every(interval >= LEAST_US, interval < (2 * LEAST_US) << LONGEST_INTERVAL)
        return {
            "each rate is in one band: no gap, no overlap": bands.equals(1),
            "the interval is 0.682 to 1.366 times that of the parameters, from 48 us to 6.29 s": implies(
                in_range, every(length >= interval * 682, length <= interval * 1366)
            ),
            "a charge is wrong by at most a third": every(power * 3 > packet.scale * 2, power * 3 <= packet.scale * 4),
        }

    def invariants(self, packet: Arrival, cell: Cell) -> Mapping[str, Truth]:
        flow = packet.hashed(FLOWLETS)
        band = cell(KEPT_BAND, flow)
        kept = every(band >= 1, band <= QUEUES)
        return {"a flowlet has one of 8 bands": implies(cell(LAST_SEEN, flow).differs(0), kept)}


def _power_of_two(exponent: Int, most: int) -> Int:
    found = exact(0)
    for one in range(most + 1):
        found = choose(exponent.equals(one), 1 << one, found)
    return found
