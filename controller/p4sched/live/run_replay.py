"""Makes the messages of a replay from the logs of a finished run.

An emulated run, or a run with a live page, has a recording of all messages. Other runs have only the decision logs of
the controllers: rates, drops and ranks ten times a second, and the mean length of one queue. The page then says why it
shows no more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from mininet_topos.leaf_spine import Shape
from mininet_topos.nodes import NodeError
from p4sched.control.laws.port_counters import BUCKETS
from p4sched.errors import P4schedError
from p4sched.json_records import RecordError, excerpt, malformed, parse_json_lines
from p4sched.lab.announcement import wiring
from p4sched.lab.desk import CHANGES
from p4sched.lab.experiment import SwitchKind
from p4sched.live import messages
from p4sched.live.decision_tail import LogTail, log_files
from p4sched.live.forms import check_message
from p4sched.live.recording import RECORDING
from p4sched.results import summaries
from p4sched.schemes import SCHEMES, title

Message: TypeAlias = dict[str, Any]
NO_RECORDING = "This run left no recording, so all that is known of it comes from the decisions of its controller."
NO_LENGTHS = "They hold what every user sent, and no queue lengths."
MEANS = "They hold how long arrivals found the queue on average, in tenths of a second."
NO_LOG = "Without a recording or a log of decisions, and so not on this page:"
BOTTLENECK = 0
"""Port of a log that names no port."""


@dataclass(frozen=True)
class SchemeReplay:
    """A scheme of a finished run, or a part of it."""

    title: str
    messages: Sequence[Message]

    def record(self) -> dict[str, Any]:
        """Values for JSON."""
        return {"title": self.title, "messages": list(self.messages)}


def read_replays(folder: Path) -> list[SchemeReplay]:
    """Reads the folder of a finished run. Raises P4schedError if there is nothing to show."""
    summary = summaries.read(folder)
    replays: list[SchemeReplay] = []
    missing: list[str] = []
    schemes: Mapping[str, Any] = summary.content.get("schemes", {})
    configuration: Mapping[str, Any] = summary.content.get("configuration", {})
    for name, place in [(name, folder / name) for name in schemes] or [("", folder)]:
        heading = f"{summary.experiment}: {title(name)}" if name else summary.experiment
        with malformed(f"{place}: its logs are of another form than a run leaves"):
            verdict = _verdict(schemes.get(name, summary.content))
            parts = list(_recordings(place)) or list(_logs(place, heading, name, configuration))
            for message in (verdict, *chain.from_iterable(parts)):
                check_message(message)
            for part in parts:
                _require_scene(part)
        for scene in (message for message in chain.from_iterable(parts) if message["kind"] == "scene"):
            scene["switches"] = {name: _with_scheme(switch) for name, switch in scene["switches"].items()}
        if not parts:
            missing.append(title(name))
        for number, part in enumerate(parts, 1):
            label = heading if len(parts) == 1 else f"{heading} ({number})"
            replays.append(SchemeReplay(label, [part[0] | {"title": label}, verdict, *part[1:]]))
    if not replays:
        raise P4schedError(
            f"{folder}: holds neither a decision log nor a recording; an emulated run leaves one,"
            " and one in virtual time with --live"
        )
    if missing:
        for replay in replays:
            _add_note(replay.messages[0], f"{NO_LOG} {', '.join(missing)}.")
    return replays


def _add_note(scene: Message, text: str) -> None:
    """Adds a sentence to the notes of all ports."""
    for switch in scene["switches"].values():
        for port in switch["ports"]:
            port["note"] = f"{port.get('note', '')} {text}".strip()


def _verdict(of_scheme: Mapping[str, Any]) -> Message:
    fidelity = of_scheme.get("fidelity", {})
    valid = bool(fidelity.get("valid", True))
    text = "exact: virtual time" if fidelity.get("time") == summaries.VIRTUAL else "valid" if valid else "INVALID"
    return {"kind": "health", "valid": valid, "text": text, "doubts": fidelity.get("doubts", [])}


def _topology(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    """Topology of leaves and spines, if the configuration has it; otherwise empty."""
    numbers: list[Any] = [configuration.get(name) for name in ("leaves", "spines", "hosts")]
    if not all(isinstance(number, int) for number in numbers):
        return {}
    try:
        return wiring(Shape(*numbers).structure)
    except NodeError:
        return {}


def _recordings(place: Path) -> Iterator[list[Message]]:
    """Messages to pages, network by network."""
    path = place / RECORDING
    part: list[Message] = []
    if not path.is_file():
        return
    for message in _lines(path):
        if message["kind"] == "scene" and not message.get("same") and part:
            yield part
            part = []
        if message["kind"] != "health":
            part.append(message)
    if part:
        yield part


def _require_scene(part: Sequence[Message]) -> None:
    if part[0]["kind"] != "scene":
        raise RecordError(f"begins with a message of kind {excerpt(part[0]['kind'])}, not with a scene")


def _with_scheme(switch: Mapping[str, Any]) -> dict[str, Any]:
    """A switch of a recording, with settings of the scheme that an older recording lacks."""
    return {**messages.of_scheme(SCHEMES.get(switch["scheme"])), **switch}


def _lines(path: Path) -> list[dict[str, Any]]:
    """Lines of a file. In a killed run the last line may be incomplete."""
    with malformed(str(path)):
        text = path.read_text(encoding="utf-8")
        return parse_json_lines(text[: text.rfind("\n") + 1])


def _logs(place: Path, heading: str, scheme: str, configuration: Mapping[str, Any]) -> Iterator[list[Message]]:
    """Messages made from all decision logs."""
    logs = [_Log(path, place, _recording_hint(configuration)) for path in log_files(place)]
    logs = [log for log in logs if log.decisions]
    if not logs:
        return
    origin_ns = min(log.decisions[0]["time_ns"] for log in logs)
    ports: dict[str, list[dict[str, Any]]] = {}
    for log in logs:
        ports.setdefault(log.switch, []).append(log.port_record())
    switches = {name: _switch(scheme, found, logs) for name, found in ports.items()}
    topology = _topology(configuration)
    scene = {"kind": "scene", "title": heading, "switches": switches, "topology": topology}
    logged_messages: list[Message] = []
    for log in logs:
        logged_messages += log.messages(origin_ns)
    changes = place / CHANGES
    if changes.is_file():
        logged_messages += [messages.change(line, origin_ns) for line in _lines(changes)]
    yield [scene, *sorted(logged_messages, key=lambda message: float(message["t"]))]


def _recording_hint(configuration: Mapping[str, Any]) -> str:
    """Command that repeats the run with a recording."""
    if configuration.get("time") == summaries.VIRTUAL:
        return "With --live the same run records its queues, and has the same results."
    if configuration.get("switch") == SwitchKind.BMV2:
        return "BMv2 reports no queue lengths; a run without --switch bmv2 records them."
    return "Run it again, and it records its queues."


class _Log:
    """One decision log."""

    def __init__(self, path: Path, place: Path, recording_hint: str) -> None:
        """`recording_hint`: the command that repeats the run with a recording."""
        lines = _lines(path)
        self._path = path
        self._recording_hint = recording_hint
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
            "note": f"{NO_RECORDING} {NO_LENGTHS if self._of_users else MEANS} {self._recording_hint}",
        }

    def messages(self, origin_ns: int) -> Iterator[Message]:
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
        **messages.of_scheme(SCHEMES.get(scheme.partition("@")[0])),
        "scheme": scheme.partition("@")[0],
        "label": title(scheme),
        "target": "v1model",
        "rtt_s": 0,
        "users": users,
        "weights": [1.0] * len(users),
        "ports": sorted(ports, key=lambda port: int(port["port"])),
    }


def _middle(bucket: int) -> float:
    """Middle of a bucket of a logarithmic histogram (p4sched.control.laws.port_counters)."""
    return float(bucket) if bucket < 2 else 1.5 * 2 ** (bucket - 1) - 0.5


def _mean(buckets: Sequence[int]) -> float:
    total = sum(buckets)
    return sum(_middle(bucket) * count for bucket, count in enumerate(buckets)) / total if total else 0.0


def _quantiles(buckets: Sequence[int]) -> list[float]:
    """Smallest, lower quartile, median, upper quartile and largest, to the precision of the buckets."""
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
