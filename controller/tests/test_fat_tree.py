"""The fat tree: each port of each switch has one end of one link, and flows reach every core switch."""

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack

import pytest
from lab import IN_VIRTUAL_TIME

from mininet_topos.fat_tree import FatTree
from p4sched.constants import ECMP_BUCKETS
from p4sched.lab.virtual.client import in_lock_step
from p4sched.lab.virtual.loop import VirtualLoop
from p4sched.lab.virtual.process import virtual_process
from p4sched.lab.virtual.topology import describe
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.routes import entries
from p4sched.p4rt.session import connect
from p4sched.p4rt.traffic_manager import EmbeddedTrafficManager
from p4sched.proto import simulation_pb2 as pb

MS = 1_000_000


@pytest.mark.parametrize("k", [2, 4, 6, 16])
def test_each_port_of_each_switch_is_used_once(k: int) -> None:
    shape = FatTree(k)
    topology = describe(shape.structure)
    assert len(topology["hosts"]) == k**3 // 4
    ends = [end for link in topology["links"] for end in link["ends"]]
    used = Counter((end["switch"], end["port"]) for end in [*topology["hosts"], *ends])
    assert used == Counter((name, port) for name in shape.switch_names() for port in range(1, k + 1))
    assert (
        len({host["address"] for host in topology["hosts"]} | {host["mac"] for host in topology["hosts"]}) == k**3 // 2
    )


@pytest.mark.parametrize("k", [4, 6, 16])
def test_the_buckets_of_one_edge_reach_every_core_switch(k: int) -> None:
    shape = FatTree(k)
    above = dict(shape.links())
    (edge_group,), reached = shape.groups("s1"), set()
    groups = {name: shape.groups(name)[0] for name in shape.aggregations()[: shape.half]}
    for bucket in range(ECMP_BUCKETS):
        up = edge_group["paths"][bucket % len(edge_group["paths"])]
        aggregation, _ = above["s1", up["port"]]
        paths = groups[aggregation]["paths"]
        further = paths[bucket % len(paths)]
        reached.add(above[aggregation, further["port"]][0])
    assert reached == set(shape.core())


@IN_VIRTUAL_TIME
def test_every_host_sends_to_every_other_over_all_core_switches() -> None:
    shape = FatTree(4)
    hosts = [station for edge in shape.edges() for station in shape.rack(edge)]
    program = compiled_program("fifo")

    async def exchange() -> tuple[dict[str, int], dict[str, int]]:
        async with (
            virtual_process(describe(shape.structure), []) as process,
            in_lock_step(process.address) as (client, _),
            AsyncExitStack() as stack,
        ):
            switches = (await client.describe()).switches
            for switch in switches:
                session = await stack.enter_async_context(
                    connect(switch.address, program, device_id=switch.device_id, force=True)
                )
                await session.insert(entries(shape.routes(switch.name), shape.groups(switch.name)))
            runs = []
            for place, host in enumerate(hosts):
                flows = [
                    {
                        "flow": place * len(hosts) + number,
                        "src": host.address,
                        "dst": to.address,
                        "port": 5376,
                        "rate_bps": 1_000_000,
                        "frame_bytes": 1000,
                        "ranks": {"fixed": 1},
                        "start_s": 0.0,
                        "stop_s": 0.05,
                    }
                    for number, to in enumerate(hosts)
                    if to != host
                ]
                receive = pb.UdpReceive(address=host.address, ports=[5376], duration_ns=200 * MS)
                send = pb.UdpSend(flows=json.dumps(flows), seed=1)
                runs.append(pb.Run(name=f"receive {host.name}", host=host.name, udp_receive=receive))
                runs.append(pb.Run(name=f"send {host.name}", host=host.name, start_ns=MS, udp_send=send))
            await client.start(runs)
            await asyncio.sleep(0.3)
            states = await client.states([f"receive {host.name}" for host in hosts])
            heard = {state.name: len(json.loads(state.report)) for state in states}
            through = {}
            for switch in switches:
                manager = EmbeddedTrafficManager(switch.address)
                through[switch.name] = sum(port.tx_packets for port in (await manager.stats()).values())
                await manager.close()
        return heard, through

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        heard, through = runner.run(exchange())
    # a report for each flow that it has heard of
    assert set(heard.values()) == {len(hosts) - 1}
    assert all(through[name] > 0 for name in shape.core())
