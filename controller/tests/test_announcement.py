"""What a running network tells other processes."""

import asyncio
import os
import stat
from pathlib import Path

import pytest
from lab import PATIENCE_S
from switches import RunningSwitch

from mininet_topos.dumbbell import dumbbell_sides
from mininet_topos.leaf_spine import Shape
from p4sched.control.controller import SwitchAddress
from p4sched.errors import P4schedError
from p4sched.lab import announcement
from p4sched.lab.announcement import announce, announcements, of_run, topology, wiring
from p4sched.lab.experiment import HostKind
from p4sched.lab.processes import identify
from p4sched.lab.virtual.network import Dumbbell, JoinedSimulation, VirtualSwitch
from p4sched.live import source
from p4sched.live.hub import Hub
from p4sched.live.recording import RECORDING


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where announcements are."""
    found = tmp_path / "runs"
    monkeypatch.setattr(announcement, "runs_folder", lambda: found)
    return found


@pytest.fixture
def network() -> Dumbbell:
    """A dumbbell whose switch answers somewhere."""
    return network_at("127.0.0.1:9559")


def network_at(address: str) -> Dumbbell:
    """A dumbbell with its switch at an address."""
    switch = VirtualSwitch("s1", address, 1, [1, 2, 3])
    brought = JoinedSimulation(
        process=None,  # type: ignore[arg-type]
        client=None,  # type: ignore[arg-type]
        origin_ns=5,
        switches={"s1": switch},
        hosts=HostKind.MODEL,
    )
    return Dumbbell(brought, dumbbell_sides(2, 4))


def test_a_network_can_be_found_while_it_is_there(folder: Path, network: Dumbbell, tmp_path: Path) -> None:
    with announce("incast: AIFO", network, tmp_path, 5, "127.0.0.1:1"):
        (found,) = announcements()
        assert (found.heading, found.folder, found.simulation) == ("incast: AIFO", str(tmp_path), "127.0.0.1:1")
        assert found.switches == {"s1": SwitchAddress("127.0.0.1:9559", 1)}
        assert of_run(os.getpid()) == found
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert announcements() == []
    assert of_run(os.getpid()) is None


@pytest.mark.usefixtures("folder")
def test_the_next_network_has_a_recording_although_it_has_the_same_address_and_no_program(
    embedded_switch: RunningSwitch, tmp_path: Path
) -> None:
    """A measurement is repeated: the files of the first one are deleted."""
    up = network_at(embedded_switch.address)
    file = tmp_path / RECORDING

    async def there() -> None:
        while not file.exists():
            await asyncio.sleep(0.01)

    async def recorded() -> None:
        this = identify(os.getpid())
        assert this is not None
        recorder = asyncio.create_task(source.run(Hub(), this, source.SourceOptions(commands=False, record=True)))
        for _ in range(2):
            with announce("fdpa", up, tmp_path, 0):
                await asyncio.wait_for(there(), PATIENCE_S)
            file.unlink()
        recorder.cancel()

    embedded_switch.wait_until_it_answers()
    asyncio.run(recorded())


def test_each_network_of_a_run_has_another_number(folder: Path, network: Dumbbell, tmp_path: Path) -> None:
    numbers = []
    for _ in range(2):
        with announce("x", network, tmp_path, 0):
            numbers += [found.number for found in announcements()]
    assert numbers[0] != numbers[1]


def test_what_a_crashed_run_left_is_no_network(folder: Path, network: Dumbbell, tmp_path: Path) -> None:
    with announce("x", network, tmp_path, 0):
        (path,) = folder.glob("*.json")
        text = path.read_text()
    path.write_text(text.replace('"start_ticks": ', '"start_ticks": 1'))
    assert announcements() == []
    assert not path.exists()


def test_a_folder_in_which_others_can_write_is_refused(folder: Path, network: Dumbbell, tmp_path: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(P4schedError, match="others can write there"), announce("x", network, tmp_path, 0):
        pass


def test_a_dumbbell_has_its_server_above_and_its_users_below(network: Dumbbell) -> None:
    found = topology(network)
    assert {node["name"]: node["layer"] for node in found["nodes"]} == {"s1": 1, "u1": 0, "u2": 0, "server": 2}
    assert [{"node": "s1", "port": 3}, {"node": "server", "port": None}] in found["links"]


def test_every_leaf_has_a_link_to_every_spine() -> None:
    found = wiring(Shape(2, 3, 1).structure)
    assert {node["name"]: node["layer"] for node in found["nodes"]} == {
        **dict.fromkeys(("s1", "s2"), 1),
        **dict.fromkeys(("s3", "s4", "s5"), 2),
        **dict.fromkeys(("h1", "h2"), 0),
    }
    assert len(found["links"]) == 2 * 3 + 2
