"""Parameters written over P4Runtime while packets flow through the lab: the switch loses none, none stays behind."""

import asyncio
from pathlib import Path

import pytest
from lab import PATIENCE_S, on_embedded

from p4sched.constants import RANK_PORT
from p4sched.control.laws import aifo, packs, ranked, rifo
from p4sched.lab import run
from p4sched.lab.emulated.generator import GeneratorRuns
from p4sched.lab.emulated.network import Dumbbell, dumbbell
from p4sched.lab.fidelity import Fidelity
from p4sched.lab.observation import Observation, Observer
from p4sched.lab.ranked_schemes import decisions, ranked_testbed
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.scheme import Setup
from p4sched.schemes import find_scheme

LINK = Link(50_000_000, 10_000_000)
SECONDS = 1.5
CHANGES = 100
ROOMY: dict[str, tuple[ranked.Parameters, ranked.Parameters]] = {
    "aifo": (aifo.Parameters(8000, 8000, 128), aifo.Parameters(9000, 9000, 64, 32, 1)),
    "rifo": (rifo.Parameters(8000, 128, 50), rifo.Parameters(9000, 140, 500)),
    "packs": (packs.Parameters((1000,) * 8, 128), packs.Parameters((2500,) * 4, 64, 32, 10)),
}
"""Two settings with room for all packets at once, however long a busy machine holds the switch up: k is 1/4 at least,
so ranks count only above a quarter of the room."""


@on_embedded
@pytest.mark.parametrize("name", ROOMY)
def test_a_parameter_change_during_traffic_loses_no_packet(name: str, tmp_path: Path) -> None:
    first, second = ROOMY[name]
    started = Setup(find_scheme(name), first, room=10_000)

    async def send(network: Dumbbell) -> tuple[int, dict[str, int], Observation]:
        seat = network.seats[0]
        flow = {
            "flow": 1,
            "src": seat.address,
            "dst": network.server_address,
            "port": RANK_PORT,
            "rate_bps": LINK.rate_bps // 10,
            "frame_bytes": 500,
            "ranks": {"drawn": {"distribution": "uniform", "below": 100}},
            "arrivals": "poisson",
            "start_s": 0.1,
            "stop_s": 0.1 + SECONDS,
        }
        async with (
            ranked_testbed(network, started, LINK, RankSource.HEADER, [seat.user]) as testbed,
            GeneratorRuns(network, ledger, tmp_path / "traffic") as traffic,
        ):
            observer = await Observer.start(network, testbed.traffic_manager, LINK)
            await traffic.receive_udp([RANK_PORT], SECONDS + 1)
            sending = await traffic.send_udp(seat.host, [flow], seed=1)
            for change in range(CHANGES):
                await testbed.controller.set_parameters((second, first)[change % 2])
                await asyncio.sleep(SECONDS / CHANGES)
            sent = (await traffic.report(sending, PATIENCE_S))[0]["packets"]
            await traffic.report("receive", PATIENCE_S)
            counted = await decisions(testbed.session, network.bottleneck_port)
            observed = await observer.finish()
        return sent, counted, observed

    with run.clean_run("a test of the lab") as ledger, dumbbell(ledger, 1, "embedded", tmp_path) as network:
        sent, counted, observed = asyncio.run(send(network))
    # 5 Mbit/s of 4000-bit frames for 1.5 s: a Poisson number of mean 1875, standard deviation 43
    assert abs(sent - 1875) < 220
    admitted = counted["admitted"]
    assert counted == {"admitted": admitted, "dropped_by_admission": 0, "dropped_full": 0}
    queues = observed.bottleneck["queues"].values()
    assert sum(queue["dropped"] for queue in queues) == 0
    assert sum(queue["dequeued"] for queue in queues) == admitted
    # A busy machine loses frames on the way to the switch, and counts them.
    assert isinstance(observed.fidelity, Fidelity)
    lost = observed.fidelity.backlog_dropped + (observed.fidelity.rx_lost or 0)
    assert 0 <= sent - admitted <= lost
