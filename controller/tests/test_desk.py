"""Parameters that a person turns on the live page, at the desk of whoever controls a real switch."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ranked_port import MS, PORT, Clock, Counters
from switches import RunningSwitch, found_parameters

from p4sched.control.laws import packs, ranked, rifo, sp_pifo
from p4sched.control.laws.headroom import HEADROOM_UNIT
from p4sched.control.ranked_loop import RankedLoop
from p4sched.control.replay import replay
from p4sched.errors import P4schedError
from p4sched.lab import desk
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.session import connect
from p4sched.schemes import LAWS


@pytest.fixture
def changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of changes; the desk's socket is beside it."""
    monkeypatch.setattr(desk, "own_desk", lambda: tmp_path / "desk.socket")
    return tmp_path / desk.CHANGES


async def turn(changes: Path, name: str, value: float | None) -> dict[str, Any]:
    """What a page asks for; the knob as it is afterwards."""
    request: dict[str, Any] = {"switch": "s1", "port": None, "name": name}
    request |= {"do": "release"} if value is None else {"do": "hold", "value": value}
    answer = await desk.ask(changes.parent / "desk.socket", request)
    (found,) = [knob for knob in answer["knobs"]["s1"] if knob["name"] == name]
    return dict(found)


def changed(changes: Path) -> list[tuple[str, float | None]]:
    """All changes that were written down."""
    lines = [json.loads(text) for text in changes.read_text().splitlines()]
    assert [(line["switch"], line["port"]) for line in lines] == [("s1", None)] * len(lines)
    return [(line["name"], line["value"]) for line in lines]


def read_back(name: str, parameters: Any) -> float:
    """What the switch has of a parameter."""
    if name == "B":
        return float(sum(parameters.sizes) if hasattr(parameters, "sizes") else parameters.capacity_packets)
    fields = {"k": "headroom_256", "T": "tracking_packets", "|W|": "window_ranks", "S": "sampling"}
    return float(getattr(parameters, fields[name])) / (HEADROOM_UNIT if name == "k" else 1)


@pytest.mark.parametrize(
    ("program", "config", "values"),
    [
        ("rifo", rifo.Config(100_000_000, 5 * MS, 512), {"B": 17, "k": 0.75, "T": 33}),
        ("packs", packs.Config(100_000_000, 5 * MS, 64), {"B": 40, "k": 0.75, "|W|": 6, "S": 3}),
    ],
)
async def test_a_law_leaves_what_is_held_on_the_switch_until_it_is_released(
    embedded_switch: RunningSwitch, changes: Path, program: str, config: ranked.Config, values: Mapping[str, float]
) -> None:
    log = changes.with_name("decisions.jsonl")
    async with connect(embedded_switch.address, compiled_program(program)) as session:
        counters = Counters(session)
        loop = RankedLoop(session, config, PORT, log=log, clock=Clock())

        async def rounds(admitted: int) -> dict[str, float]:
            """The law goes on with such traffic; what the switch has then."""
            for _ in range(15):
                await counters.arrive(admitted, 300, 113)
                await loop.step()
            found = await found_parameters(session, config.law.parameters)
            return {name: read_back(name, found) for name in values}

        async with desk.open_desk({"s1": desk.ControlledSwitch(session, loop, None)}, changes):
            await rounds(413)
            for name, value in values.items():
                assert (await turn(changes, name, value))["held"]
            # traffic of another rate, which the law would follow
            assert await rounds(60) == values
            for name in values:
                assert not (await turn(changes, name, None))["held"]
            after = await rounds(60)
            assert all(after[name] != value for name, value in values.items())
            with pytest.raises(P4schedError, match="B = 1e\\+06 is not in"):
                await turn(changes, "B", 10**6)
    assert changed(changes) == [*values.items(), *((name, None) for name in values)]
    assert all(entry.agrees for entry in replay(log, LAWS))


async def test_parameters_without_a_law_change_at_once_and_come_back(
    embedded_switch: RunningSwitch, changes: Path
) -> None:
    embedded_switch.wait_until_it_answers()
    own = sp_pifo.Parameters()
    async with connect(embedded_switch.address, compiled_program("sp_pifo")) as session:
        await session.set_default_action(own.table, own.action, own.action_data())
        async with desk.open_desk({"s1": desk.ControlledSwitch(session, None, own)}, changes):
            assert (await turn(changes, "B", 18))["value"] == 18
            found = await found_parameters(session, sp_pifo.Parameters)
            assert found is not None
            assert found.sizes == (3, 3, 2, 2, 2, 2, 2, 2)
            await turn(changes, "B", None)
            assert await found_parameters(session, sp_pifo.Parameters) == own
    assert changed(changes) == [("B", 18), ("B", None)]
