"""A finished run as messages, from its logs: what a page plays again.

A run with a live page has left a recording of all that the page was told. Of any other run the decision logs tell what
the controllers saw: rates, drops and ranks ten times a second; and of one queue, how long arrivals found it on average.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from mininet_topos.leaf_spine import Shape
from p4sched.control.laws.port_counters import BUCKETS
from p4sched.errors import P4schedError
from p4sched.lab.announcement import wired
from p4sched.lab.desk import CHANGES
from p4sched.live import messages
from p4sched.live.decisions import LogTail, log_files
from p4sched.live.recording import RECORDING
from p4sched.results import summaries
from p4sched.schemes import title

Message: TypeAlias = dict[str, Any]
BOTTLENECK = 0
"""The one port of a log that does not name its port."""


@dataclass(frozen=True)
class Recorded:
    """One scheme of a finished run, or a part of it."""

    title: str
    messages: Sequence[Message]

    def record(self) -> dict[str, Any]:
        """For JSON."""
        return {"title": self.title, "messages": list(self.messages)}


def recorded(folder: Path) -> list[Recorded]:
    """All that the folder of a finished run tells. Raises P4schedError if that is nothing."""
    summary = summaries.read(folder)
    found: list[Recorded] = []
    schemes: Mapping[str, Any] = summary.content.get("schemes", {})
    for name, place in [(name, folder / name) for name in schemes] or [("", folder)]:
        heading = f"{summary.experiment}: {title(name)}" if name else summary.experiment
        verdict = _verdict(schemes.get(name, summary.content))
        parts = list(_recordings(place)) or list(_logs(place, heading, name, _topology(summary.content)))
        for number, part in enumerate(parts, 1):
            label = heading if len(parts) == 1 else f"{heading} ({number})"
            found.append(Recorded(label, [part[0] | {"title": label}, verdict, *part[1:]]))
    if not found:
        raise P4schedError(f"{folder}: holds neither a decision log nor the recording of a live page")
    return found


def _verdict(of_scheme: Mapping[str, Any]) -> Message:
    fidelity = of_scheme.get("fidelity", {})
    valid = bool(fidelity.get("valid", True))
    text = "exact: virtual time" if fidelity.get("time") == summaries.VIRTUAL else "valid" if valid else "INVALID"
    return {"kind": "health", "valid": valid, "text": text, "doubts": fidelity.get("doubts", [])}


def _topology(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of leaves and spines, as far as the configuration tells; otherwise nothing."""
    configuration = content.get("configuration", {})
    numbers = [configuration.get(name) for name in ("leaves", "spines", "hosts")]
    if not all(isinstance(number, int) for number in numbers):
        return {}
    return wired(Shape(*numbers).structure)


def _recordings(place: Path) -> Iterator[list[Message]]:
    """What pages were told, network by network."""
    path = place / RECORDING
    part: list[Message] = []
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        if message["kind"] == "scene" and not message.get("same") and part:
            yield part
            part = []
        if message["kind"] != "health":
            part.append(message)
    if part:
        yield part


def _logs(place: Path, heading: str, scheme: str, topology: Mapping[str, Any]) -> Iterator[list[Message]]:
    """What decision logs tell, together."""
    logs = [_Log(path, place) for path in log_files(place)]
    logs = [log for log in logs if log.decisions]
    if not logs:
        return
    origin_ns = min(log.decisions[0]["time_ns"] for log in logs)
    ports: dict[str, list[dict[str, Any]]] = {}
    for log in logs:
        ports.setdefault(log.switch, []).append(log.port_record())
    switches = {name: _switch(scheme, found, logs) for name, found in ports.items()}
    scene = {"kind": "scene", "title": heading, "switches": switches, "topology": topology}
    told: list[Message] = []
    for log in logs:
        told += log.told(origin_ns)
    changes = place / CHANGES
    if changes.is_file():
        lines = changes.read_text(encoding="utf-8").splitlines()
        told += [messages.change(json.loads(line), origin_ns) for line in lines]
    yield [scene, *sorted(told, key=lambda message: float(message["t"]))]


class _Log:
    """One decision log."""

    def __init__(self, path: Path, place: Path) -> None:
        lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
        self._path = path
        self.config: Mapping[str, Any] = next((line["config"] for line in lines if line["kind"] == "start"), {})
        self.decisions = [line for line in lines if line["kind"] == "decision"]
        self.switch = "s1" if path.parent == place else path.parent.name
        number = path.stem.removeprefix("port-")
        self.port = int(number) if number.isdecimal() else BOTTLENECK
        self._of_users = bool(self.decisions) and "users" in self.decisions[0]
        self.users = sorted({int(user) for line in self.decisions for user in line.get("users", {})})

    def port_record(self) -> dict[str, Any]:
        """The port in a scene."""
        room = self.config.get("queue_packets", 0) * self.config.get("queues", 1)
        return {
            "port": self.port,
            "label": "the bottleneck" if self.port == BOTTLENECK else f"port {self.port}",
            "rate": self.config.get("capacity_bps", self.config.get("rate_bps", 0)),
            "discipline": "fifo",
            "busy": True,
            "sizes": {"0": room},
            "lengths": not self._of_users,
        }

    def told(self, origin_ns: int) -> Iterator[Message]:
        """Frames, parameters and marks."""
        port = None if self.port == BOTTLENECK else self.port
        for before, now in zip(self.decisions, self.decisions[1:], strict=False):
            seconds = (now["time_ns"] - before["time_ns"]) / 1e9
            time_s = round((now["time_ns"] - origin_ns) / 1e9, 4)
            if now["parameters"] is not None and (now["changed"] or before is self.decisions[0]):
                yield messages.parameters(time_s, self.switch, port, now["parameters"])
            if seconds > 0:
                of_switch = self._users(before, now, seconds) if self._of_users else self._port(before, now, seconds)
                yield {"kind": "frame", "t": time_s, "s": {self.switch: of_switch}}
        yield from LogTail(self._path, self.switch, port, origin_ns).marks()

    def _users(self, before: Mapping[str, Any], now: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        sent = [
            max(0, now["users"].get(str(user), (0,))[0] - before["users"].get(str(user), (0,))[0])
            for user in self.users
        ]
        found = {"q": {}, "tx": {}, "u": [round(count * 8 / seconds / 1e3) for count in sent]}
        return found | ({"fair": round(now["fair_share_bps"] / 1e3)} if now["fair_share_bps"] else {})

    def _port(self, before: Mapping[str, Any], now: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        risen = {
            name: [max(0, later - earlier) for earlier, later in zip(before[name], now[name], strict=True)]
            for name in ("admitted", "refused", "full", "depths", "ranks")
        }
        return {
            "q": {self.port: [round(_mean(risen["depths"]), 2)]},
            "tx": {self.port: round(risen["admitted"][1] * 8 / seconds / 1e3)},
            "drop": {self.port: [round(risen["refused"][0] / seconds), round(risen["full"][0] / seconds), 0]},
            "r": {self.port: {"window": _quantiles(risen["ranks"])}},
        }


def _switch(scheme: str, ports: Sequence[Mapping[str, Any]], logs: Sequence[_Log]) -> dict[str, Any]:
    users = sorted({user for log in logs for user in log.users})
    return {
        "scheme": scheme.partition("@")[0],
        "label": title(scheme),
        "target": "v1model",
        "rtt_s": 0,
        "users": users,
        "weights": [1.0] * len(users),
        "ports": sorted(ports, key=lambda port: int(port["port"])),
    }


def _middle(bucket: int) -> float:
    """Of a bucket of a logarithmic histogram (p4sched.control.laws.port_counters)."""
    return float(bucket) if bucket < 2 else 1.5 * 2 ** (bucket - 1) - 0.5


def _mean(buckets: Sequence[int]) -> float:
    total = sum(buckets)
    return sum(_middle(bucket) * count for bucket, count in enumerate(buckets)) / total if total else 0.0


def _quantiles(buckets: Sequence[int]) -> list[float]:
    """Smallest, lower quartile, median, upper quartile and largest, as far as the buckets tell."""
    total = sum(buckets)
    if not total:
        return []
    found = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        wanted, seen = max(1, share * total), 0
        for bucket in range(BUCKETS):
            seen += buckets[bucket]
            if seen >= wanted:
                found.append(_middle(bucket))
                break
    return found
