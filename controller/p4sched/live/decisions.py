"""Decisions of a control law as marks on a chart, from the log that the controller is writing."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p4sched.control.laws.ranked import HEADROOM_UNIT

COUNTERS = ("users", "read_ns", "admitted", "refused", "full", "ranks", "depths")
"""What of a line the law was given (p4sched.control.decision_log)."""
BESIDES = ("kind", "time_ns", "wall", "changed", "parameters")
PATTERNS = ("decisions.jsonl", "port-*.jsonl", "*/decisions.jsonl", "*/port-*.jsonl")
CHANGED = '"changed":true'
SYMBOLS = {"target_packets": "C", "window_ranks": "|W|", "sampling": "S", "tracking_packets": "T"}


@dataclass
class LogTail:
    """Follows one decision log."""

    path: Path
    switch: str
    port: int | None
    """None: the law sets the parameters of all ports."""
    origin_ns: int
    _read: int = 0
    _before: Mapping[str, int] | None = None

    def marks(self) -> Iterator[dict[str, Any]]:
        """The decisions that were written since the last time, and that changed something."""
        with self.path.open(encoding="utf-8") as file:
            file.seek(self._read)
            # the last line may be about to be written
            while (text := file.readline()).endswith("\n"):
                if CHANGED in text or '"kind":"start"' in text:
                    yield from self._mark(json.loads(text))
                self._read += len(text.encode())

    def _mark(self, line: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if line["kind"] == "start":
            self._before = line["found"] if self._before is None else self._before
            return
        after = line["parameters"]
        yield {
            "kind": "decision",
            "t": round((line["time_ns"] - self.origin_ns) / 1e9, 4),
            "switch": self.switch,
            "port": self.port,
            "text": _text(line, self._before),
            "before": self._before,
            "after": after,
            "counters": {name: line[name] for name in COUNTERS if name in line},
            "outcome": {name: value for name, value in line.items() if name not in (*COUNTERS, *BESIDES)},
        }
        self._before = after


def log_files(folder: Path) -> list[Path]:
    """The decision logs of a scheme."""
    return [path for pattern in PATTERNS for path in sorted(folder.glob(pattern))]


@dataclass
class Logs:
    """The decision logs in the folder of a scheme; more may come."""

    folder: Path
    switch: str
    """Whose logs lie in the folder itself."""
    origin_ns: int
    _tails: dict[Path, LogTail] = field(default_factory=dict)

    def look(self) -> None:
        """Finds logs that were not there before."""
        for path in log_files(self.folder):
            if path not in self._tails:
                switch = self.switch if path.parent == self.folder else path.parent.name
                port = path.stem.removeprefix("port-")
                number = int(port) if port.isdecimal() else None
                self._tails[path] = LogTail(path, switch, number, self.origin_ns)

    def marks(self) -> Iterator[dict[str, Any]]:
        """New decisions of all logs that were found."""
        for tail in self._tails.values():
            if tail.path.exists():
                yield from tail.marks()


def _text(line: Mapping[str, Any], before: Mapping[str, int] | None) -> str:
    """What a decision is about, in a few words."""
    if "active" in line:
        if not line["active"]:
            return "no active users yet"
        return f"{len(line['active'])} active users, fair share {line['fair_share_bps'] / 1e6:.3g} Mbit/s"
    after = line["parameters"]
    changed = [
        _named(name, value, after) for name, value in after.items() if before is None or before.get(name) != value
    ]
    if any(name.startswith("size_") for name in after):
        # one number in place of eight, which are alike
        sizes = [value for name, value in after.items() if name.startswith("size_") and value]
        of_sizes = [each for each in changed if each.startswith("size_")]
        changed = [each for each in changed if each not in of_sizes]
        changed[:0] = [f"B {sum(sizes)} in {len(sizes)} queues"] if of_sizes else []
    traffic = line.get("traffic")
    load = "" if traffic is None else f"load {traffic['load']:.2f}: "
    return load + ", ".join(changed)


def _named(name: str, value: int, after: Mapping[str, int]) -> str:
    """A parameter as the papers call it."""
    if name == "headroom_256":
        return f"k {value / HEADROOM_UNIT:.3g}"
    if name == "capacity_packets":
        # AIFO has a target length C besides the queue's size; RIFO's B is the size
        return f"size {value}" if "target_packets" in after else f"B {value}"
    return f"{SYMBOLS.get(name, name)} {value}"
