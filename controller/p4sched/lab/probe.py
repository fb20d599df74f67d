"""A constant stream of small UDP packets, which shows every loss and every gap in forwarding.

Run inside two hosts: `python -m p4sched.lab.probe receive PORT` and
`python -m p4sched.lab.probe send SOURCE DESTINATION PORT PACKETS_PER_SECOND`. At SIGTERM the receiver prints the
arrivals as JSON, and the sender prints the number of packets. Both take the time from CLOCK_MONOTONIC, which all
namespaces share.
"""

import json
import signal
import socket
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from types import FrameType

_FORMAT = struct.Struct("!Qd")


@dataclass(frozen=True)
class ProbeRecord:
    """Record of a probe stream."""

    sent: int
    arrivals: tuple[tuple[int, float, float], ...]
    """(sequence number, time sent, time of arrival) in order of arrival; seconds, monotonic."""

    def lost(self) -> list[int]:
        """Sequence numbers that never arrived."""
        return sorted(set(range(self.sent)) - {sequence for sequence, _, _ in self.arrivals})

    def reordered(self) -> int:
        """Number of packets that arrived after a packet that was sent later."""
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
        """Lost packets that were sent between `start` and `end`, one every `period`."""
        if not self.arrivals:
            return self.sent
        first = self.arrivals[0][1] - self.arrivals[0][0] * period
        return sum(start <= first + sequence * period <= end for sequence in self.lost())


def parse_record(sent: int, text: str) -> ProbeRecord:
    """Parses the output of the receiver."""
    return ProbeRecord(sent, tuple((int(s), float(a), float(b)) for s, a, b in json.loads(text)))


class _TerminatedError(Exception):
    """SIGTERM arrived."""


def receive(port: int) -> list[tuple[int, float, float]]:
    """Receives packets until SIGTERM."""
    arrivals: list[tuple[int, float, float]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server, suppress(_TerminatedError):
        server.bind(("", port))
        while True:
            sequence, sent_at = _FORMAT.unpack_from(server.recv(2048))
            arrivals.append((sequence, sent_at, time.monotonic()))
    return arrivals


def send(source: str, destination: str, port: int, rate: float) -> int:
    """Sends `rate` packets a second until SIGTERM; returns their number."""
    start = time.monotonic()
    sequence = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client, suppress(_TerminatedError):
        client.bind((source, 0))
        while True:
            time.sleep(max(0.0, start + sequence / rate - time.monotonic()))
            client.sendto(_FORMAT.pack(sequence, time.monotonic()).ljust(64, b"\0"), (destination, port))
            sequence += 1
    return sequence


def main(words: Sequence[str]) -> None:
    """The command line of this module."""

    def end(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise _TerminatedError

    signal.signal(signal.SIGTERM, end)
    match words:
        case ["receive", port]:
            print(json.dumps(receive(int(port))))
        case ["send", source, destination, port, rate]:
            print(send(source, destination, int(port), float(rate)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
