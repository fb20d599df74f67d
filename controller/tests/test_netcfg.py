"""Description of the switches for ONOS: all of the plan, in units that can be read back."""

from typing import Any

import pytest

from p4sched.control.bands import Bands
from p4sched.control.controller import SwitchAddress
from p4sched.control.laws import aifo, fdpa, packs
from p4sched.control.parameters import Comparison
from p4sched.errors import P4schedError
from p4sched.lab.controllers import Laws, SwitchPlan
from p4sched.lab.netcfg import law, network_configuration, pipeconf
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.target import Target
from p4sched.p4rt.users import FlowUser, PrefixUser
from p4sched.paths import ROOT
from p4sched.scheme import Setup
from p4sched.schemes import find_scheme
from p4sched.units import Duration, Rate

FDPA = fdpa.Config(500_000_000, Bands.parse("1+4*0.5"), 60_000, 10_000_000)
LOGS = ROOT / "build"
ROUTE = {"prefix": "10.0.9.0/24", "port": 3, "mac": "02:00:00:00:00:09"}


def plan(name: str, **more: Any) -> SwitchPlan:
    setup = (
        find_scheme(name).default_setup()
        if name != "fdpa"
        else find_scheme(name).for_comparison(Comparison(9, bands=FDPA.bands))
    )
    return SwitchPlan(SwitchAddress("127.0.0.1:9559", 7), setup, {3: "s1-eth3"}, [ROUTE], **more)


def test_a_device_is_told_where_it_is_what_it_runs_and_what_it_does() -> None:
    users = [PrefixUser(1, "10.0.0.1/32"), PrefixUser(2, "10.0.0.2/32", 0.5)]
    told = network_configuration({"s1": plan("fdpa", users=users, laws=Laws({3: FDPA}, LOGS))})
    assert told == {
        "devices": {
            "device:s1": {
                "basic": {
                    "managementAddress": "grpc://127.0.0.1:9559?device_id=7",
                    "driver": "bmv2",
                    "pipeconf": "org.p4sched.pipeconf.fdpa",
                },
                "ports": {
                    "3": {"number": 3, "name": "s1-eth3", "enabled": True, "removed": False, "type": "copper"},
                },
                "p4schedScheduler": {
                    "scheduler": "fdpa",
                    "routes": [ROUTE],
                    "groups": [],
                    "users": [
                        {"user": 1, "prefix": "10.0.0.1/32", "weight": 1.0},
                        {"user": 2, "prefix": "10.0.0.2/32", "weight": 0.5},
                    ],
                    "ports": {"3": {"rate": "500mbit", "bands": "1+4*0.5", "interval": "60ms", "rtt": "10ms"}},
                },
            }
        }
    }


def test_groups_users_by_flow_ranks_and_fixed_parameters_are_reported() -> None:
    group = {"group": 1, "paths": [{"port": 3, "mac": "02:00:00:00:00:09"}]}
    found = plan(
        "aifo",
        groups=[group],
        users=[FlowUser(4, "10.2.1.1", 5205)],
        rank_source=RankSource.TOS,
        parameters=aifo.Parameters(),
    )
    told = network_configuration({"s2": found})["devices"]["device:s2"]["p4schedScheduler"]
    assert told["groups"] == [group]
    assert told["users"] == [{"user": 4, "address": "10.2.1.1", "tcpPort": 5205, "weight": 1.0}]
    assert told["rankSource"] == "tos"
    assert told["parameters"] == aifo.Parameters().action_data()
    assert "ports" not in told


def test_an_ideal_is_the_lab_s_traffic_manager_behind_the_program_of_fifo() -> None:
    told = network_configuration({"s1": plan("pifo")})["devices"]["device:s1"]
    assert told["basic"]["pipeconf"] == "org.p4sched.pipeconf.fifo"
    assert told["p4schedScheduler"]["scheduler"] == "fifo"


@pytest.mark.parametrize(
    ("setup", "name"),
    [
        (find_scheme("aifo").default_setup(), "aifo"),
        (Setup(find_scheme("aifo"), aifo.Parameters(), macros=("WORKER_PACKETS",)), "aifo-worker_packets"),
        (find_scheme("aifo").default_setup().on(Target.TNA), "tna.aifo"),
        (find_scheme("packs").default_setup().on(Target.T2NA), "t2na.packs"),
    ],
)
def test_every_build_of_a_program_has_a_pipeconf(setup: Setup, name: str) -> None:
    assert pipeconf(setup) == f"org.p4sched.pipeconf.{name}"


def test_rates_and_times_keep_all_their_digits() -> None:
    told = law(aifo.Config(123_456_789, 1_234_567, 512, span_ns=987_654_321, fixed={"k": 0.1}))
    assert Rate.parse(told["rate"]) == 123_456_789
    assert Duration.parse(told["delay"]) == 1_234_567
    assert Duration.parse(told["span"]) == 987_654_321
    assert told["fixed"] == {"k": 0.1}
    odd = law(fdpa.Config(333_333_333, Bands(1, 4, 0.5), 65_537, 1_000_001, flowlet_gap_us=1))
    assert Duration.parse(odd["interval"]) == 65_537_000
    assert Duration.parse(odd["rtt"]) == 1_000_001
    assert Duration.parse(odd["flowletGap"]) == 1000


def test_what_is_as_ever_is_left_out() -> None:
    assert law(packs.Config(40_000_000, 10_000_000, 8)) == {"rate": "40mbit", "delay": "10ms", "queuePackets": 8}


def test_what_onos_has_no_key_for_is_refused() -> None:
    with pytest.raises(P4schedError, match="ONOS has no key for hold_ns = 1"):
        law(aifo.Config(40_000_000, 10_000_000, 8, hold_ns=1))
