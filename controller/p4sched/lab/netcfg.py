"""Makes ONOS's network configuration (netcfg) from the plans of the switches.

Rates and times are written as on the command line ("50mbit", "10ms"), with all digits, because both controllers must
make the same decisions. `controller/onos/app` describes the keys.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from p4sched.errors import P4schedError
from p4sched.lab.controllers import SwitchPlan
from p4sched.p4rt.compile import built_name
from p4sched.p4rt.target import Target
from p4sched.p4rt.users import FlowUser, PrefixUser, User
from p4sched.scheme import Setup
from p4sched.units import Duration, Rate

DRIVER = "bmv2"
"""ONOS's name for switches with the P4Runtime of simple_switch_grpc."""
SCHEDULER = "p4schedScheduler"
PIPECONFS = "org.p4sched.pipeconf"


def _rate(bps: int) -> str:
    return str(Rate(bps))


def _nanoseconds(time: int) -> str:
    return str(Duration(time))


def _microseconds(time: int) -> str:
    return str(Duration(time * 1000))


def _same(value: Any) -> Any:
    return value


LAW_KEYS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "capacity_bps": ("rate", _rate),
    "rate_bps": ("rate", _rate),
    "bands": ("bands", str),
    "interval_us": ("interval", _microseconds),
    "rtt_ns": ("rtt", _nanoseconds),
    "token_bucket": ("tokenBucket", _same),
    "burst_bytes": ("burst", _same),
    "flowlet_gap_us": ("flowletGap", _microseconds),
    "delay_ns": ("delay", _nanoseconds),
    "queue_packets": ("queuePackets", _same),
    "span_ns": ("span", _nanoseconds),
    "fixed": ("fixed", dict),
    "loss": ("loss", _same),
    "max_headroom": ("maxHeadroom", _same),
    "window_ranks": ("window", _same),
    "queues": ("queues", _same),
}
"""Fields of a law's configuration, each with its key and its format."""


def network_configuration(plans: Mapping[str, SwitchPlan]) -> dict[str, Any]:
    """The whole network configuration; `plans` by name of the switch."""
    return {"devices": {device(name): _device(plan) for name, plan in plans.items()}}


def device(switch: str) -> str:
    """A switch's name in ONOS."""
    return f"device:{switch}"


def _device(plan: SwitchPlan) -> dict[str, Any]:
    return {
        "basic": {
            "managementAddress": f"grpc://{plan.at.address}?device_id={plan.at.device_id}",
            "driver": DRIVER,
            "pipeconf": pipeconf(plan.setup),
        },
        "ports": {
            str(port): {"number": port, "name": name, "enabled": True, "removed": False, "type": "copper"}
            for port, name in plan.ports.items()
        },
        SCHEDULER: scheduler(plan),
    }


def pipeconf(setup: Setup) -> str:
    """ONOS's name for a scheme's program."""
    of_target = [] if setup.target is Target.V1MODEL else [setup.target.value]
    return ".".join([PIPECONFS, *of_target, built_name(setup.scheme.program, setup.macros)])


def scheduler(plan: SwitchPlan) -> dict[str, Any]:
    """The part of a switch: its scheduler, users and laws."""
    found: dict[str, Any] = {
        "scheduler": plan.setup.scheme.program,
        "routes": [dict(route) for route in plan.routes],
        "groups": [dict(group) for group in plan.groups],
        "users": [{"user": each.user, **user(each)} for each in plan.users],
    }
    if plan.rank_source is not None:
        found["rankSource"] = str(plan.rank_source)
    if plan.laws is not None:
        found["ports"] = {str(port): law(config) for port, config in plan.laws.configs.items()}
    elif plan.parameters is not None:
        found["parameters"] = plan.parameters.action_data()
    return found


def user(user: User) -> dict[str, Any]:
    """A user, without the id."""
    match user:
        case PrefixUser():
            return {"prefix": user.prefix, "weight": user.weight}
        case FlowUser():
            return {"address": user.address, "tcpPort": user.tcp_port, "weight": user.weight}


def law(config: Any) -> dict[str, Any]:
    """A law's configuration without default values. Raises P4schedError for a value that has no key."""
    found = {}
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        usual = field.default_factory() if callable(field.default_factory) else field.default
        if value == usual:
            continue
        if field.name not in LAW_KEYS:
            raise P4schedError(f"ONOS has no key for {field.name} = {value}")
        key, written = LAW_KEYS[field.name]
        found[key] = written(value)
    return found
