"""A constant stream of small UDP packets that shows every loss and every gap in forwarding.

Run inside two hosts: `python -m p4sched.lab.probe receive PORT SECONDS` prints the arrivals as JSON at the end,
`python -m p4sched.lab.probe send SOURCE DESTINATION PORT PACKETS_PER_SECOND SECONDS` sends.
Both date packets with CLOCK_MONOTONIC, which all namespaces of a machine share.
"""

import json
import socket
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_FORMAT = struct.Struct("!Qd")


@dataclass(frozen=True)
class ProbeRecord:
    """What became of a probe stream."""

    sent: int
    arrivals: tuple[tuple[int, float, float], ...]
    """(sequence number, sent at, arrived at) of every packet that arrived, in order of arrival; seconds, monotonic."""

    def lost(self) -> list[int]:
        """Sequence numbers that never arrived."""
        return sorted(set(range(self.sent)) - {sequence for sequence, _, _ in self.arrivals})

    def reordered(self) -> int:
        """Packets that arrived after one sent later."""
        highest, count = -1, 0
        for sequence, _, _ in self.arrivals:
            count += sequence < highest
            highest = max(highest, sequence)
        return count

    def largest_gap(self, start: float, end: float) -> float:
        """Longest time without an arrival between `start` and `end`, in seconds."""
        times = [start, *(arrived for _, _, arrived in self.arrivals if start <= arrived <= end), end]
        return max(later - earlier for earlier, later in pairwise(times))

    def lost_between(self, start: float, end: float, period: float) -> int:
        """Lost packets that were sent between `start` and `end`, if the first was sent then and one every `period`."""
        if not self.arrivals:
            return self.sent
        first = self.arrivals[0][1] - self.arrivals[0][0] * period
        return sum(start <= first + sequence * period <= end for sequence in self.lost())


def parse_record(sent: int, text: str) -> ProbeRecord:
    """From what the receiving side printed."""
    return ProbeRecord(sent, tuple((int(s), float(a), float(b)) for s, a, b in json.loads(text)))


def receive(port: int, seconds: float) -> list[tuple[int, float, float]]:
    """Every packet that arrives within `seconds`."""
    arrivals = []
    deadline = time.monotonic() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("", port))
        while (left := deadline - time.monotonic()) > 0:
            server.settimeout(left)
            try:
                packet = server.recv(2048)
            except TimeoutError:
                break
            sequence, sent_at = _FORMAT.unpack_from(packet)
            arrivals.append((sequence, sent_at, time.monotonic()))
    return arrivals


def send(source: str, destination: str, port: int, rate: float, seconds: float) -> int:
    """Sends `rate` packets a second for `seconds`; returns how many."""
    period = 1 / rate
    count = round(rate * seconds)
    start = time.monotonic()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind((source, 0))
        for sequence in range(count):
            time.sleep(max(0.0, start + sequence * period - time.monotonic()))
            client.sendto(_FORMAT.pack(sequence, time.monotonic()).ljust(64, b"\0"), (destination, port))
    return count


def main(words: Sequence[str]) -> None:
    """The command line of this module."""
    match words:
        case ["receive", port, seconds]:
            print(json.dumps(receive(int(port), float(seconds))))
        case ["send", source, destination, port, rate, seconds]:
            print(send(source, destination, int(port), float(rate), float(seconds)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
