"""An ONOS in place of the Python controller: it tells the switches the same, and may be killed and started again."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import finsy as fy
import pytest
from lab import MACHINE, P4SCHED, living, on_embedded
from switches import RunningSwitch, start_switch

from mininet_topos.leaf_spine import Shape
from p4sched.cli.main import run_command
from p4sched.constants import RANK_PORT
from p4sched.control.bands import Bands
from p4sched.control.controller import SwitchAddress
from p4sched.control.decision_log import logged_decisions
from p4sched.control.laws import fdpa
from p4sched.control.loop import action_data_in_force
from p4sched.control.parameters import equal_buffers
from p4sched.control.replay import replay
from p4sched.errors import P4schedError
from p4sched.lab import experiment, frame, onos, run, schemes
from p4sched.lab.controllers import AtWork, Controllers, Laws, SwitchPlan, python_controllers
from p4sched.lab.emulated.generator import GeneratorRuns
from p4sched.lab.emulated.lab import EmulatedLab
from p4sched.lab.emulated.network import Dumbbell, dumbbell
from p4sched.lab.errors import LabError
from p4sched.lab.experiment import ControllerKind, Stage
from p4sched.lab.law_configs import law_config
from p4sched.lab.ledger import Ledger
from p4sched.lab.onos import Onos, require_onos
from p4sched.lab.programming import program_network
from p4sched.lab.schemes import Link
from p4sched.p4rt.rank_source import RankSource
from p4sched.p4rt.reader import Reader
from p4sched.p4rt.users import FlowUser, PrefixUser, user_counters
from p4sched.results import summaries
from p4sched.schemes import LAWS, find_scheme


def not_here() -> str | None:
    """Why this machine cannot start an ONOS."""
    try:
        require_onos()
    except P4schedError as error:
        return str(error)
    return None


pytestmark = MACHINE
WITH_ONOS = pytest.mark.skipif(not_here() is not None, reason=str(not_here()))
LINK = Link(50_000_000, 10_000_000)
BANDS = Bands.parse("1+4*0.5")
SCHEME = schemes.scheme("fdpa", LINK, BANDS)
SENDING_S = 25
"""Time enough to start an ONOS on a busy machine."""
FDPA = fdpa.Config(LINK.rate_bps, BANDS, 60_000, LINK.rtt_ns)
ROUTES = [{"prefix": f"10.0.{port}.0/24", "port": port, "mac": f"02:00:00:00:00:0{port}"} for port in (1, 2, 3)]
PORTS = {port: f"s1-eth{port}" for port in (1, 2, 3)}
USERS = [PrefixUser(1, "10.0.1.1/32"), PrefixUser(2, "10.0.1.2/32", 3.0)]


def stage(folder: Path, ledger: Ledger | None = None) -> Stage:
    """A run with ONOS."""
    noted = ledger or Ledger(folder / "ledger.json")
    return Stage("", "embedded", folder, EmulatedLab(noted, "embedded"), lambda _: None, controller=ControllerKind.ONOS)


NAMES = ("fdpa", "fifo", "aifo", "rifo", "packs", "sp_pifo", "packs on each port")
"""A plan of each kind: a law for all ports, parameters of the paper's, a law for each port with ECMP groups."""


def plan(name: str, address: str, logs: Path) -> SwitchPlan:
    """A plan, for the switch at this address."""
    at = SwitchAddress(address)
    if name == "fdpa":
        return SwitchPlan(at, SCHEME, PORTS, ROUTES, (), USERS, laws=Laws({3: FDPA}, logs))
    if name in LAWS or name in ("fifo", "sp_pifo"):
        setup = find_scheme(name).default_setup()
        return SwitchPlan(at, setup, PORTS, ROUTES, (), USERS, RankSource.HEADER, setup.parameters)
    shape = Shape()
    ports = shape.structure.ports("s1")
    laws = Laws({port: law_config("packs", LINK.rate_bps, 10_000_000, 64) for port in ports}, logs, True)
    return SwitchPlan(
        at,
        find_scheme("packs").for_comparison(equal_buffers(64, 16)),
        {port: f"s1-eth{port}" for port in ports},
        shape.routes("s1"),
        shape.groups("s1"),
        [FlowUser(5, "10.1.1.1", 5205)],
        RankSource.TOS,
        laws=laws,
    )


async def content(reader: Reader) -> list[str]:
    """All entries and default actions of a switch, without counts and priorities, which each controller may choose."""
    found = await reader.read([fy.P4TableEntry()])
    for table in reader.schema.tables:
        found += await reader.read([fy.P4TableEntry(table.alias, is_default_action=True)])
    entries = [entry for entry in found if isinstance(entry, fy.P4TableEntry)]
    return sorted(f"{entry.table_id} {entry.match} {entry.action} {entry.is_default_action}" for entry in entries)


async def contents_after(controllers: Controllers, folder: Path) -> dict[str, list[str]]:
    """What a controller makes of empty switches, one for each plan."""
    with ExitStack() as ends:
        plans = {}
        for number, name in enumerate(NAMES, start=1):
            switch = start_switch("embedded", made(folder / f"switch{number}"))
            ends.callback(switch.stop)
            plans[f"s{number}"] = plan(name, switch.address, folder / f"s{number}")
        async with asyncio.timeout(150), controllers(plans) as running:
            logs = [log for controller in running.values() for log in controller.logs.values()]
            # the first decision of a law writes; without traffic no other one does
            while not all(log.exists() and list(logged_decisions(log)) for log in logs):
                await asyncio.sleep(0.05)
            return {
                name: await content(controller.reader) for name, controller in zip(NAMES, running.values(), strict=True)
            }


def made(folder: Path) -> Path:
    """The folder, which there is now."""
    folder.mkdir(parents=True)
    return folder


@WITH_ONOS
async def test_a_switch_holds_the_same_whoever_controls_it(tmp_path: Path) -> None:
    expected = await contents_after(python_controllers, made(tmp_path / "python"))
    found = await contents_after(onos.controllers_of(stage(made(tmp_path / "onos"))), tmp_path / "onos")
    for name in NAMES:
        assert found[name] == expected[name], name


@WITH_ONOS
async def test_users_and_parameters_change_while_it_runs(embedded_switch: RunningSwitch, tmp_path: Path) -> None:
    planned = plan("fdpa", embedded_switch.address, tmp_path)
    joining = [PrefixUser(3, "10.0.1.3/32")]
    wanted = fdpa.parameters_for(FDPA, 7.0)
    async with asyncio.timeout(100), onos.controllers_of(stage(tmp_path))({"s1": planned}) as running:
        controller = running["s1"]
        await controller.add(joining)
        assert set(await user_counters(controller.reader)) == {1, 2, 3}
        await controller.remove(joining)
        assert set(await user_counters(controller.reader)) == {1, 2}
        await controller.set_parameters(wanted)
        found = await controller.reader.default_action(wanted.table)
        assert found is not None
        assert found[1] == wanted.action_data()
        with pytest.raises(LabError, match=r"ONOS refuses PUT /devices/device:s1/users/4: .*weight"):
            await controller.add([PrefixUser(4, "10.0.1.4/32", 0.0)])


@WITH_ONOS
async def test_a_wrong_configuration_is_reported_by_its_path(embedded_switch: RunningSwitch, tmp_path: Path) -> None:
    planned = plan("aifo", embedded_switch.address, tmp_path)
    wrong = SwitchPlan(
        planned.at, planned.setup, planned.ports, planned.routes, users=[PrefixUser(1, "10.0.1.1/32", 0.0)]
    )
    with pytest.raises(LabError, match=r"(?s)ONOS ended with status 2 at start:.*p4schedScheduler\.users\[0\]\.weight"):
        async with onos.controllers_of(stage(tmp_path))({"s1": wrong}):
            pass
    assert living(str(tmp_path)) == []


@WITH_ONOS
async def test_the_run_ends_when_it_does(embedded_switch: RunningSwitch, tmp_path: Path) -> None:
    planned = plan("fifo", embedded_switch.address, tmp_path)

    async def killed() -> None:
        async with asyncio.timeout(100), onos.controllers_of(stage(tmp_path))({"s1": planned}):
            (process,) = living(str(tmp_path))
            os.kill(process, signal.SIGKILL)
            await asyncio.Event().wait()

    with pytest.raises(LabError, match="ONOS was killed by SIGKILL during the run"):
        await killed()


@on_embedded
@WITH_ONOS
def test_a_killed_onos_is_started_again_while_traffic_goes_on(tmp_path: Path) -> None:
    async def restarted(network: Dumbbell) -> tuple[int, int, float]:
        seat = network.seats[0]
        laws = Laws({network.bottleneck_port: FDPA}, tmp_path)
        plans: dict[str, SwitchPlan] = {}
        ours = Onos(ledger, tmp_path)

        def noting(planned: Mapping[str, SwitchPlan]) -> AtWork:
            plans.update(planned)
            return ours.at_work(planned)

        programming = program_network(network, SCHEME, LINK, {seat.user: 1.0}, laws=laws, controllers=noting)
        async with asyncio.timeout(200), programming as testbed:
            reader, (log,) = testbed.reader, testbed.controller.logs.values()
            async with GeneratorRuns(network, ledger, tmp_path / "traffic") as traffic:
                await traffic.receive_udp([RANK_PORT], SENDING_S + 2)
                sending = await traffic.send_udp(seat.host, [flow(seat.address, network.server_address)], seed=1)
                while not any(decision["active"] for decision in logged_decisions(log)):
                    await asyncio.sleep(0.05)
                found = await state(reader, seat.user)

                killed_at = time.monotonic()
                ours.process.kill()
                await ours.process.wait()
                alone = await state(reader, seat.user)
                while (await state(reader, seat.user)).sent_bytes == alone.sent_bytes:
                    await asyncio.sleep(0.05)
                decided = len(list(logged_decisions(log)))
                await ours.start(plans)
                while len(list(logged_decisions(log))) < decided + 3:
                    await asyncio.sleep(0.05)
                without_s = time.monotonic() - killed_at
                again = await state(reader, seat.user)
                (sent,) = await traffic.report(sending, SENDING_S)
                (received,) = await traffic.report("receive", SENDING_S)
            assert (again.cookie, again.parameters) == (found.cookie, found.parameters)
            # a program loaded again, or an entry written again, would count from 0
            assert again.sent_bytes > alone.sent_bytes > found.sent_bytes
            starts = [line for line in map(json.loads, log.read_text().splitlines()) if line["kind"] == "start"]
            assert [line["found"] for line in starts] == [starts[0]["found"], found.parameters]
            assert all(entry.agrees for entry in replay(log, LAWS))
        return sent["packets"], received["packets"], without_s

    with run.clean_run("a test of the lab") as ledger, dumbbell(ledger, 1, "embedded", tmp_path, hosts=1) as network:
        sent, received, without_s = asyncio.run(restarted(network))
    # 5 Mbit/s of 4000-bit frames
    assert sent == pytest.approx(1250 * SENDING_S, rel=0.01)
    # a sender that waited for a CPU makes up for it at once, and FDPA drops of such a burst what is above the last band
    assert sent - received < 0.1 * 1250 * without_s


@dataclass(frozen=True)
class SwitchState:
    """What a reset would change."""

    cookie: int | None
    parameters: Mapping[str, int]
    sent_bytes: int


async def state(reader: Reader, user: int) -> SwitchState:
    """As the switch tells it now."""
    parameters = await action_data_in_force(reader, fdpa.Parameters)
    assert parameters is not None
    return SwitchState(await reader.pipeline_cookie(), parameters, (await user_counters(reader))[user].sent_bytes)


def flow(source: str, destination: str) -> dict[str, Any]:
    """A tenth of the link, in frames that come at regular times."""
    return {
        "flow": 1,
        "src": source,
        "dst": destination,
        "port": RANK_PORT,
        "rate_bps": LINK.rate_bps // 10,
        "frame_bytes": 500,
        "ranks": {"fixed": 1},
        "start_s": 0.1,
        "stop_s": 0.1 + SENDING_S,
    }


@on_embedded
@WITH_ONOS
def test_both_controllers_in_one_run_share_the_link_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--controller", "python,onos", "--schemes", "fdpa", "--users", "4", "--warmup", "3s", "--duration", "5s"]
    assert run_command(["run", "fdpa_fairness", *words, "--rate", "50mbit", "--out", str(tmp_path)]) == 0, (
        capsys.readouterr().err
    )
    found = summaries.read(tmp_path).content
    assert found["configuration"]["controller"] == "python,onos"
    assert list(found["schemes"]) == ["fdpa", "fdpa@onos"]
    assert all(scheme["jain_index"] > 0.9 for scheme in found["schemes"].values())
    starts, logs = [], [tmp_path / "fdpa" / "decisions.jsonl", tmp_path / "fdpa@onos" / "s1" / "decisions.jsonl"]
    for log in logs:
        assert all(entry.agrees for entry in replay(log, LAWS))
        starts.append(json.loads(log.read_text().splitlines()[0]))
    # of the same law with the same configuration
    assert starts[0]["config"] == starts[1]["config"]
    frame.discard_results(experiment.load("fdpa_fairness"), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert living("p4sched-onos") == []


@on_embedded
@WITH_ONOS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_onos_behind(number: signal.Signals, tmp_path: Path) -> None:
    words = [
        "run",
        "leaf_spine",
        "--schemes",
        "aifo",
        "--controller",
        "onos",
        "--rate",
        "20mbit",
        "--out",
        str(tmp_path),
    ]
    process = subprocess.Popen([P4SCHED, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 150
    while not (tmp_path / "aifo" / "s4" / "port-2.jsonl").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert len(living("p4sched-onos")) == 1
    process.send_signal(number)
    process.wait(timeout=30)
    # the kernel kills what a killed run leaves, a moment later
    while number == signal.SIGKILL and living("p4sched-onos"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert living("p4sched-onos") == []
    assert run_command(["clean"]) == 0


def test_without_java_one_line_says_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    out = tmp_path / "out"
    assert run_command(["run", "fdpa_fairness", "--controller", "onos", "--out", str(out)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "'java' is not on the PATH; ONOS runs in it; './setup.sh onos' installs it" in line
    assert not out.exists()


def test_without_a_build_one_line_says_what_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "java").write_text("#!/bin/sh\n")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(onos, "ONOS_JAR", tmp_path / "gone.jar")
    assert run_command(["run", "leaf_spine", "--controller", "python,onos", "--out", str(tmp_path / "out")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{tmp_path / 'gone.jar'} is not built; run './setup.sh onos' in" in line
