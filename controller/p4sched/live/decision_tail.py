"""Decisions of control laws, and changes by hand, as marks on a chart, from the files that the controller writes."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p4sched.control.laws.headroom import HEADROOM_UNIT
from p4sched.lab.desk import CHANGES
from p4sched.live import messages
from p4sched.schemes import SCHEMES

COUNTERS = ("users", "read_ns", "admitted", "refused", "full", "ranks", "depths")
"""Keys of the law's input in a line (p4sched.control.decision_log)."""
BESIDES = ("kind", "time_ns", "wall", "changed", "parameters")
PATTERNS = ("decisions.jsonl", "port-*.jsonl", "*/decisions.jsonl", "*/port-*.jsonl")
CHANGED = '"changed":true'


@dataclass
class Tail:
    """Follows a file of lines."""

    path: Path
    _read: int = 0

    def lines(self) -> Iterator[str]:
        """Lines written since the last call; none if there is no file."""
        try:
            if os.stat(self.path).st_size == self._read:
                return
        except FileNotFoundError:
            return
        with self.path.open(encoding="utf-8") as file:
            file.seek(self._read)
            # the last line may be incomplete while the controller writes it
            while (text := file.readline()).endswith("\n"):
                self._read += len(text.encode())
                yield text


@dataclass
class LogTail:
    """Follows one decision log."""

    path: Path
    switch: str
    port: int | None
    """Port; None: the law sets the parameters of all ports."""
    origin_ns: int
    _before: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        self._tail = Tail(self.path)

    def marks(self) -> Iterator[dict[str, Any]]:
        """New decisions that changed parameters."""
        for text in self._tail.lines():
            if CHANGED in text or '"kind":"start"' in text:
                yield from self._mark(json.loads(text))

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
    """The decision logs in the folder of a scheme, where new logs may appear, and the changes by hand."""

    folder: Path
    switch: str
    """Switch whose logs are directly in the folder."""
    origin_ns: int
    _tails: dict[Path, LogTail] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._changes = Tail(self.folder / CHANGES)

    def look(self) -> None:
        """Finds new logs."""
        for path in log_files(self.folder):
            if path not in self._tails:
                switch = self.switch if path.parent == self.folder else path.parent.name
                port = path.stem.removeprefix("port-")
                number = int(port) if port.isdecimal() else None
                self._tails[path] = LogTail(path, switch, number, self.origin_ns)

    def marks(self) -> Iterator[dict[str, Any]]:
        """New decisions of all logs."""
        for tail in self._tails.values():
            yield from tail.marks()

    def changes(self) -> Iterator[dict[str, Any]]:
        """New changes by hand."""
        for text in self._changes.lines():
            yield messages.change(json.loads(text), self.origin_ns)


def _text(line: Mapping[str, Any], before: Mapping[str, int] | None) -> str:
    """A decision in a few words."""
    if "active" in line:
        if not line["active"]:
            return "no active users"
        return f"{len(line['active'])} active users, fair share {line['fair_share_bps'] / 1e6:.3g} Mbit/s"
    after = line["parameters"]
    letters = _letters(after)
    changes = [
        _value_text(letters.get(name, name), value)
        for name, value in after.items()
        if before is None or before.get(name) != value
    ]
    if any(name.startswith("size_") for name in after):
        # one number in place of the eight sizes, which are similar
        sizes = [value for name, value in after.items() if name.startswith("size_") and value]
        of_sizes = [each for each in changes if each.startswith("size_")]
        changes = [each for each in changes if each not in of_sizes]
        changes[:0] = [f"B {sum(sizes)} in {len(sizes)} queues"] if of_sizes else []
    traffic = line.get("traffic")
    load = "" if traffic is None else f"load {traffic['load']:.2f}: "
    return load + ", ".join(changes)


def _letters(parameters: Iterable[str]) -> Mapping[str, str]:
    """Names of these parameters in the paper of the scheme that has most of them."""
    of_schemes = [
        {field: letter for letter, field in scheme.parameters.symbols.items() if field != "sizes"}
        for scheme in SCHEMES.values()
    ]
    return max((letters for letters in of_schemes if letters.keys() <= set(parameters)), key=len, default={})


def _value_text(name: str, value: int) -> str:
    """A parameter with its name in the papers."""
    return f"k {value / HEADROOM_UNIT:.3g}" if name == "k" else f"{name} {value}"
