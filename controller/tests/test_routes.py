"""Routes and ECMP groups on real switches."""

from collections import Counter

import finsy as fy
import pytest
from switches import RunningSwitch

from p4sched.constants import ECMP_BUCKETS
from p4sched.errors import P4schedError
from p4sched.p4rt.program import Program
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.routes import entries, group_paths
from p4sched.p4rt.session import connect

MACS = [f"02:00:00:01:00:0{number}" for number in range(1, 4)]


async def test_the_buckets_of_a_group_are_dealt_in_turn(switch: RunningSwitch, programs: dict[str, Program]) -> None:
    routes = [{"prefix": "10.1.0.0/16", "port": 1, "mac": MACS[0]}, {"prefix": "10.2.0.0/16", "group": 5}]
    paths = [{"port": port, "mac": mac} for port, mac in enumerate(MACS, start=11)]
    async with connect(switch.address, programs["fifo"]) as session:
        await session.insert(entries(routes, [{"group": 5, "paths": paths}]))
        found = await session.read([fy.P4TableEntry("ecmp_paths")])
        known = await session.entries("ipv4_routes")
    ports: Counter[object] = Counter()
    for entry in found:
        assert isinstance(entry, fy.P4TableEntry)
        assert isinstance(entry.action, fy.P4TableAction)
        ports[entry.action.args["port"]] += 1
    assert ports == {11: 22, 12: 21, 13: 21}
    assert {entry.action: dict(entry.arguments) for entry in known}["choose_path"] == {"group": 5}


def test_a_group_of_no_path_or_too_many_is_refused() -> None:
    for paths in ([], [(port, MACS[0]) for port in range(ECMP_BUCKETS + 1)]):
        with pytest.raises(P4schedError, match=f"ECMP group 1 has {len(paths)} paths: must be 1 to 64"):
            group_paths(1, paths)


async def test_a_port_wider_than_the_switch_has_is_refused(switch: RunningSwitch, programs: dict[str, Program]) -> None:
    async with connect(switch.address, programs["fifo"]) as session:
        with pytest.raises(SessionError):
            await session.insert(group_paths(1, [(512, MACS[0])]))
