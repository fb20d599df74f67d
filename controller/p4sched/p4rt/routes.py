"""Routes in the programs: entries of `ipv4_routes`, and of `ecmp_paths` for routes with several paths."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import finsy as fy

from p4sched.constants import ECMP_BUCKETS
from p4sched.errors import P4schedError


def route(prefix: str, port: int, mac: str) -> fy.P4TableEntry:
    """The route to `prefix`: egress port and MAC address of the next hop."""
    return fy.P4TableEntry("ipv4_routes", match=fy.P4TableMatch({"hdr.ipv4.dst_addr": prefix}), action=_out(port, mac))


def group_route(prefix: str, group: int) -> fy.P4TableEntry:
    """The route to `prefix`: the flow selects a path of the group."""
    action = fy.P4TableAction("choose_path", group=group)
    return fy.P4TableEntry("ipv4_routes", match=fy.P4TableMatch({"hdr.ipv4.dst_addr": prefix}), action=action)


def group_paths(group: int, paths: Sequence[tuple[int, str]]) -> list[fy.P4TableEntry]:
    """A group whose buckets are assigned in turn to these paths: (port, next hop's MAC address)."""
    if not 1 <= len(paths) <= ECMP_BUCKETS:
        raise P4schedError(f"ECMP group {group} has {len(paths)} paths: must be 1 to {ECMP_BUCKETS}")
    return [
        fy.P4TableEntry(
            "ecmp_paths",
            match=fy.P4TableMatch({"ecmp_group": group, "ecmp_bucket": bucket}),
            action=_out(*paths[bucket % len(paths)]),
        )
        for bucket in range(ECMP_BUCKETS)
    ]


def entries(routes: Iterable[Mapping[str, Any]], groups: Iterable[Mapping[str, Any]] = ()) -> list[fy.P4TableEntry]:
    """All entries of a switch, from routes and groups in the format of mininet-topos/stations.py."""
    found = [
        group_route(r["prefix"], r["group"]) if "group" in r else route(r["prefix"], r["port"], r["mac"])
        for r in routes
    ]
    for group in groups:
        found += group_paths(group["group"], [(path["port"], path["mac"]) for path in group["paths"]])
    return found


def _out(port: int, mac: str) -> fy.P4TableAction:
    return fy.P4TableAction("forward", port=port, dst_mac=int(mac.replace(":", ""), 16))
