"""Makes the messages to a page from the readings (docs/WATCH.md lists them)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from p4sched.lab.fidelity import fidelity_of_all
from p4sched.lab.machine import MachineUse
from p4sched.live.collector import Collector, PortFlow, quantiles
from p4sched.live.view import SwitchView
from p4sched.p4rt.traffic_manager import Fidelity
from p4sched.scheme import Scheme

ACTIVE_BPS = 1000 * 8 / 0.6
"""Rate above which a user is active: 1000 bytes in 0.6 s, as in FDPA's law."""


def scene(heading: str, views: Sequence[SwitchView], topology: Mapping[str, Any], **further: Any) -> dict[str, Any]:
    """Description of switches with their ports and users, and of the network around them."""
    return {
        "kind": "scene",
        "title": heading,
        "switches": {view.name: _switch(view) for view in views},
        "topology": topology,
        **further,
    }


def of_scheme(scheme: Scheme | None) -> dict[str, Any]:
    """Properties of a scheme on a page. None: another program."""
    if scheme is None:
        return {"scheme": None, "label": "another program"}
    return {
        "scheme": scheme.name,
        "label": scheme.title,
        "queue": scheme.queue_word,
        "limits": [asdict(limit) for limit in scheme.limits],
        "ranks": scheme.ranks and scheme.ranks.value,
    }


def _switch(view: SwitchView) -> dict[str, Any]:
    busy = {port.port for port in view.busy}
    return {
        **of_scheme(view.scheme),
        "target": view.target,
        "rtt_s": view.rtt_ns / 1e9,
        "users": list(view.users),
        "weights": list(view.users.values()),
        "ports": [
            {
                "port": port.port,
                "rate": port.rate_bps,
                "discipline": port.discipline.value,
                "busy": port.port in busy,
                "sizes": {str(queue): size for queue, size in port.sizes.items()},
            }
            for port in view.ports
        ],
    }


def frame(time_s: float, collectors: Mapping[str, Collector]) -> dict[str, Any]:
    """One update. Rates are in kbit/s and packets/s, lengths in packets."""
    found = {name: _of_switch(collector) for name, collector in collectors.items()}
    return {"kind": "frame", "t": round(time_s, 4), "s": found}


def _of_switch(collector: Collector) -> dict[str, Any]:
    """Values of a switch, without ports and buckets that have only zeros."""
    view, flow, now = collector.view, collector.flow(), collector.newest
    found: dict[str, Any] = {
        "q": {port.port: of for port, of in zip(view.ports, now.lengths, strict=True) if any(of)},
        "tx": {port: rate for port, each in flow.items() if (rate := round(each.bps / 1e3))},
        "drop": {port: drops for port, each in flow.items() if any(drops := _drops(each))},
    }
    if view.users:
        rates = collector.rates()
        found["u"] = [round(rate / 1e3) for rate in rates]
        share = fair_share_bps(view, rates)
        if share is not None:
            found["fair"] = round(share / 1e3)
    arrivals = collector.arrivals()
    if arrivals:
        found["a"] = {
            port: {bucket: round(bps / 1e3) for bucket, bps in each.items()} for port, each in arrivals.items()
        }
    ranks = {port: _ranks(read, collector.window) for port, read in now.ranks.items() if read}
    if ranks:
        found["r"] = ranks
    return found


def _drops(flow: PortFlow) -> list[int]:
    return [round(flow.refused), round(flow.full), round(flow.lost)]


def fair_share_bps(view: SwitchView, rates: Sequence[float]) -> float | None:
    """Fair share of a user of weight 1, if the switch has one shaped port and a user is active. `rates`: bit/s of each
    user."""
    shaped = [port for port in view.ports if port.rate_bps]
    sending = zip(view.users.values(), rates, strict=True)
    weight = sum(weight for weight, rate in sending if rate >= ACTIVE_BPS)
    return shaped[0].rate_bps / weight if len(shaped) == 1 and weight else None


def _ranks(read: Mapping[str, Any], window: int) -> dict[str, Any]:
    found = dict(read)
    if "window" in found:
        cells = found.pop("window")
        found["window"] = quantiles(sorted(cells[number] for number in cells if number < window))
    return found


def parameters(time_s: float, switch: str, port: int | None, values: Mapping[str, int]) -> dict[str, Any]:
    """Parameters in force at a port. `port` None: at all ports without their own parameters."""
    return {"kind": "parameters", "t": round(time_s, 4), "switch": switch, "port": port, "values": dict(values)}


def note(time_s: float, text: str) -> dict[str, Any]:
    """A sentence for the viewer."""
    return {"kind": "note", "t": round(time_s, 4), "text": text}


def exact() -> dict[str, Any]:
    """The verdict in virtual time."""
    return {"kind": "health", "valid": True, "text": "exact: virtual time", "doubts": []}


def health(reports: Sequence[tuple[SwitchView, Fidelity]], use: MachineUse) -> dict[str, Any]:
    """The verdict so far, by the rule for a whole run (p4sched.lab.fidelity). `use`: use of the machine since the first
    viewer came. The switches report from the start of the measurement."""
    rtt_ns = max((view.rtt_ns for view, _ in reports), default=0)
    total = fidelity_of_all(rtt_ns, use, [report for _, report in reports])
    doubts = total.ill_health() if rtt_ns else []
    late = "" if total.lateness_p99_ns is None else f"99 % of frames at most {total.lateness_p99_ns / 1e6:.2f} ms late"
    good = f"valid so far; {late}" if rtt_ns else f"not judged, for no link is shaped; {late}"
    text = f"INVALID so far: {doubts[0]}" if doubts else good
    return {"kind": "health", "valid": not doubts, "text": text, "doubts": doubts}


def knobs(switch: str, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Knobs of a switch, and their held values."""
    return {"kind": "knobs", "switch": switch, "knobs": list(values)}


def change(line: Mapping[str, Any], origin_ns: int) -> dict[str, Any]:
    """A change by hand (p4sched.lab.desk)."""
    value = line["value"]
    text = f"{line['name']} released" if value is None else f"{line['name']} held at {value:g}"
    time_s = round((line["time_ns"] - origin_ns) / 1e9, 4)
    return {"kind": "change", "t": time_s, "switch": line["switch"], "port": line["port"], "text": text}


def pace(factor: float) -> dict[str, Any]:
    """Limit on the speed of virtual time."""
    return {"kind": "pace", "value": factor}
