"""What the live page reads of a switch."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import finsy as fy
from switches import RunningSwitch

from p4sched.control.controller import SwitchAddress
from p4sched.live import messages
from p4sched.live.collector import Collector, collecting, quantiles
from p4sched.live.view import Cells, PortView, SwitchView
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.session import Session, connect
from p4sched.p4rt.users import prefix_user
from p4sched.proto.enums import Discipline
from p4sched.schemes import SCHEMES

T = TypeVar("T")
PORT = 3


async def with_program(switch: RunningSwitch, name: str, then: Callable[[Session, Collector], Awaitable[T]]) -> T:
    """A switch with a scheme's program, and a collector that asks for each snapshot."""
    async with connect(switch.address, compiled_program(name), force=True) as session:
        await session.insert([prefix_user(1, "10.0.0.1/32"), prefix_user(2, "10.0.0.2/32", 2.0)])
        async with collecting({"s1": SwitchAddress(switch.address)}, 0.0) as collectors:
            collector = collectors["s1"]
            return await then(session, collector)


def test_the_scheme_and_the_users_are_found_by_the_program_and_its_tables(embedded_switch: RunningSwitch) -> None:
    async def seen(_session: Session, collector: Collector) -> SwitchView:
        return collector.view

    embedded_switch.wait_until_it_answers()
    for name in ("fifo", "fdpa", "aifo", "rifo", "packs", "sp_pifo"):
        view = asyncio.run(with_program(embedded_switch, name, seen))
        assert (view.scheme, view.target) == (SCHEMES[name], "v1model")
        assert view.users == {1: 1.0, 2: 2.0}


def test_a_user_who_joins_and_parameters_that_change_are_seen(embedded_switch: RunningSwitch) -> None:
    async def steps(session: Session, collector: Collector) -> None:
        assert not await collector.look()
        await session.insert([prefix_user(7, "10.0.0.7/32")])
        assert await collector.look()
        assert list(collector.view.users) == [1, 2, 7]
        assert (await collector.parameters())[None]["target_packets"] == 20
        data = SCHEMES["aifo"].default_setup().parameters
        assert data is not None
        await session.set_default_action(data.table, data.action, data.action_data() | {"target_packets": 9})
        assert (await collector.parameters())[None]["target_packets"] == 9
        await collector.read()
        assert messages.frame(1.0, {"s1": collector})["s"]["s1"]["u"] == [0, 0, 0]

    embedded_switch.wait_until_it_answers()
    asyncio.run(with_program(embedded_switch, "aifo", steps))


def test_registers_tell_the_window_the_range_and_the_bounds(embedded_switch: RunningSwitch) -> None:
    async def of(session: Session, collector: Collector, values: dict[str, int]) -> dict[str, object]:
        view = SwitchView("s1", None, "", (PortView(PORT, 10**6, 0, Discipline.FIFO, {0: 10}),), {})
        await session.finsy.write([~fy.P4RegisterEntry(name, index=PORT, data=value) for name, value in values.items()])
        cells = Cells.of(session, view)
        # this switch has no ports
        del cells.request.ports[:]
        await collector.read_cells(cells)
        await collector.read()
        return dict(collector.newest.ranks[PORT])

    async def window(session: Session, collector: Collector) -> dict[str, object]:
        # a cell holds the complement of a rank
        return await of(session, collector, {"cell_0.entry": 2**32 - 1 - 40, "cell_4.entry": 2**32 - 1})

    async def range_(session: Session, collector: Collector) -> dict[str, object]:
        return await of(session, collector, {"min_rank": 3, "max_rank": 90})

    async def bounds(session: Session, collector: Collector) -> dict[str, object]:
        values = {"queue_1.raised_bound": 2**32 + 17, "queue_2.raised_bound": 2**32 + 30, "lowered_by": 12}
        return await of(session, collector, values)

    embedded_switch.wait_until_it_answers()
    assert asyncio.run(with_program(embedded_switch, "aifo", window)) == {"window": {0: 40, 4: 0}}
    assert asyncio.run(with_program(embedded_switch, "rifo", range_)) == {"lowest": 3, "highest": 90}
    assert asyncio.run(with_program(embedded_switch, "sp_pifo", bounds)) == {
        "bounds": {1: 5, 2: 18, **dict.fromkeys(range(3, 9), 0)}
    }


def test_quantiles_of_a_window() -> None:
    assert quantiles([1, 2, 3, 4, 5, 6, 7, 8, 9]) == [1, 3, 5, 7, 9]
    assert quantiles([4]) == [4] * 5
    assert quantiles([]) == []


def test_the_fair_share_goes_to_those_who_send() -> None:
    view = SwitchView(
        "s1", None, "", (PortView(PORT, 30_000_000, 0, Discipline.FIFO, {0: 10}),), {1: 1.0, 2: 2.0, 3: 1.0}
    )
    assert messages.fair_share_bps(view, [1e6, 1e6, 100.0]) == 10_000_000
    assert messages.fair_share_bps(view, [0.0, 0.0, 0.0]) is None
