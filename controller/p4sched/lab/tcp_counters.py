"""Counters of the TCP senders, from the kernel's counters of their namespaces (Linux, snmp_counter.rst)."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class TcpCounters:
    """Counters of one or more network namespaces since their creation, or the difference of two readings."""

    segments_sent: int = 0
    segments_retransmitted: int = 0
    syn_retransmissions: int = 0
    """SYN segments sent again. The kernel waits 1 s before the first retransmission."""
    timeouts: int = 0
    reorderings_sack: int = 0
    """Reorderings that a sender detected from selective acknowledgements."""
    reorderings_timestamp: int = 0
    """Reorderings that a sender detected from timestamps: a retransmission was unnecessary."""
    spurious_recoveries: int = 0
    """Window reductions that D-SACKs reverted, because no segment was lost."""

    @property
    def reorderings(self) -> int:
        """Reorderings detected in either way."""
        return self.reorderings_sack + self.reorderings_timestamp

    def __add__(self, other: "TcpCounters") -> "TcpCounters":
        return TcpCounters(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __sub__(self, other: "TcpCounters") -> "TcpCounters":
        return TcpCounters(*(getattr(self, f.name) - getattr(other, f.name) for f in fields(self)))


def parse(snmp: str, netstat: str) -> TcpCounters:
    """Parses the text of /proc/net/snmp and netstat. A counter that the kernel lacks is 0."""
    values = _table(snmp) | _table(netstat)

    def count(*names: str) -> int:
        return sum(values.get(name, 0) for name in names)

    return TcpCounters(
        segments_sent=count("Tcp.OutSegs"),
        segments_retransmitted=count("Tcp.RetransSegs"),
        syn_retransmissions=count("TcpExt.TCPSynRetrans"),
        timeouts=count("TcpExt.TCPTimeouts"),
        reorderings_sack=count("TcpExt.TCPSACKReorder"),
        reorderings_timestamp=count("TcpExt.TCPTSReorder"),
        spurious_recoveries=count("TcpExt.TCPDSACKUndo", "TcpExt.TCPFullUndo", "TcpExt.TCPPartialUndo"),
    )


def read_counters(pids: Iterable[int]) -> TcpCounters:
    """The sum over the network namespaces of these processes."""
    total = TcpCounters()
    for pid in pids:
        total += parse(Path(f"/proc/{pid}/net/snmp").read_text(), Path(f"/proc/{pid}/net/netstat").read_text())
    return total


def _table(text: str) -> dict[str, int]:
    """Parses a file that holds pairs of lines: "Group: names..." and "Group: values..."."""
    lines = text.splitlines()
    values: dict[str, int] = {}
    for names, numbers in zip(lines[::2], lines[1::2], strict=True):
        group, *keys = names.replace(":", "").split()
        counts = map(int, numbers.split()[1:])
        values |= {f"{group}.{key}": count for key, count in zip(keys, counts, strict=True)}
    return values
