"""`p4sched control`: a controller as a process of its own, on real switches that come and go."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab import PATIENCE_S
from switches import RunningSwitch, found_parameters, start_switch

from p4sched.cli.main import run_command
from p4sched.control.laws.fdpa import Parameters
from p4sched.control.replay import replay
from p4sched.p4rt.program import Program
from p4sched.p4rt.rank_source import RankSource, set_rank_source
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.session import connect, watch
from p4sched.schemes import LAWS

INTERVAL_BYTES = 3_750_000
"""500 Mbit/s over 60 ms: one user's edge."""


async def start_control(switch: RunningSwitch, program: Program, log: Path, *more: str) -> asyncio.subprocess.Process:
    """`p4sched control` in a process of its own."""
    return await asyncio.create_subprocess_exec(
        *(str(Path(sys.prefix) / "bin" / "p4sched"), "control", switch.address, "--rate", "500mbit"),
        *("--program", str(program.json.parent), "--log", str(log), *more),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


async def line(process: asyncio.subprocess.Process) -> str:
    """The next line it prints."""
    assert process.stdout is not None
    return (await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)).decode()


async def test_a_killed_controller_leaves_the_bands_and_the_next_takes_over(
    switch: RunningSwitch, fdpa: Program, tmp_path: Path
) -> None:
    log = tmp_path / "decisions.jsonl"
    first = await start_control(switch, fdpa, log)
    assert "program loaded" in await line(first)
    assert "0 active users" in await line(first)
    first.kill()
    await first.wait()
    async with watch(switch.address) as reader:
        found = await found_parameters(reader, Parameters)
    assert found is not None
    assert found.edges[0] == INTERVAL_BYTES

    second = await start_control(switch, fdpa, log)
    assert "taken over as it is" in await line(second)
    second.send_signal(signal.SIGTERM)
    assert "ended" in await line(second)
    assert await second.wait() == 130
    starts = [json.loads(text) for text in log.read_text().splitlines() if '"start"' in text]
    assert [start["found"] is None for start in starts] == [True, False]


async def test_a_controller_says_that_another_program_and_its_entries_are_gone(
    embedded_switch: RunningSwitch, programs: dict[str, Program], tmp_path: Path
) -> None:
    async with connect(embedded_switch.address, programs["fifo"]):
        pass
    controller = await start_control(embedded_switch, programs["fdpa"], tmp_path / "log.jsonl")
    said = await line(controller)
    assert "program loaded in place of another; its tables are empty: it has no routes and no users" in said
    controller.send_signal(signal.SIGTERM)
    assert await controller.wait() == 130


async def test_a_switch_that_comes_back_is_taken_over_again(
    switch: RunningSwitch, fdpa: Program, tmp_path: Path
) -> None:
    log = tmp_path / "decisions.jsonl"
    controller = await start_control(switch, fdpa, log)
    assert "program loaded" in await line(controller)
    assert "0 active users" in await line(controller)
    await asyncio.to_thread(switch.stop)
    assert "the connection to the switch was lost; retrying for 30 s" in await line(controller)
    switch.start()
    back = await line(controller)
    assert "back after" in back
    assert "program loaded" in back
    assert "0 active users" in await line(controller)
    async with watch(switch.address) as reader:
        found = await found_parameters(reader, Parameters)
    assert found is not None
    assert found.edges[0] == INTERVAL_BYTES
    controller.send_signal(signal.SIGTERM)
    assert "ended" in await line(controller)
    assert await controller.wait() == 130
    starts = [json.loads(text) for text in log.read_text().splitlines() if '"start"' in text]
    assert [start["found"] is None for start in starts] == [True, True]
    assert all(entry.agrees for entry in replay(log, LAWS))


async def test_a_switch_that_does_not_come_back_ends_the_controller_with_one_error(
    embedded_switch: RunningSwitch, fdpa: Program, tmp_path: Path
) -> None:
    controller = await start_control(embedded_switch, fdpa, tmp_path / "log.jsonl", "--reconnect", "100ms")
    assert "program loaded" in await line(controller)
    assert "0 active users" in await line(controller)
    await asyncio.to_thread(embedded_switch.stop)
    assert "retrying for 0.1 s" in await line(controller)
    assert await line(controller) == (
        f"p4sched: switch {embedded_switch.address}: was lost, and did not return within 0.1 s\n"
    )
    assert await controller.wait() == 1


@pytest.mark.parametrize("source", RankSource)
async def test_a_rank_source_is_chosen_by_its_name(
    embedded_switch: RunningSwitch, ranked_programs: dict[str, Program], tmp_path: Path, source: RankSource
) -> None:
    words = ("--scheme", "aifo", "--port", "1", "--rank-source", str(source))
    controller = await start_control(embedded_switch, ranked_programs["aifo"], tmp_path / "log.jsonl", *words)
    assert "program loaded" in await line(controller)
    async with watch(embedded_switch.address) as reader:
        in_force = await reader.default_action("rank_sources")
    assert in_force is not None
    assert in_force[1] == {"rank_source": source.value}
    controller.send_signal(signal.SIGTERM)
    assert await controller.wait() == 130


@pytest.fixture
def links() -> Iterator[dict[int, str]]:
    """Links for the ports 1 and 3 that lead nowhere."""
    names = {port: f"p4p{os.getpid()}.{port}" for port in (1, 3)}
    try:
        for name in names.values():
            subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}x"], check=True)
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
        yield names
    finally:
        for name in names.values():
            subprocess.run(["ip", "link", "delete", name], check=False, capture_output=True)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and ip")
async def test_a_port_that_the_switch_does_not_have_is_refused_before_anything_is_changed(
    ranked_programs: dict[str, Program], tmp_path: Path, links: dict[int, str]
) -> None:
    switch = start_switch("embedded", tmp_path, links)
    log = tmp_path / "log.jsonl"
    try:
        controller = await start_control(switch, ranked_programs["aifo"], log, "--scheme", "aifo", "--port", "99")
        assert await line(controller) == f"p4sched: switch {switch.address}: has no port 99; it has 1, 3\n"
        assert await controller.wait() == 1
        with pytest.raises(SessionError, match="runs no program yet"):
            async with watch(switch.address):
                pass
        controller = await start_control(switch, ranked_programs["aifo"], log, "--scheme", "aifo", "--port", "3")
        assert "program loaded" in await line(controller)
        controller.send_signal(signal.SIGTERM)
        assert await controller.wait() == 130
    finally:
        switch.stop()


async def test_bmv2_cannot_say_which_ports_it_has(ranked_programs: dict[str, Program], tmp_path: Path) -> None:
    switch = start_switch("bmv2", tmp_path)
    words = ("--scheme", "aifo", "--port", "99")
    try:
        controller = await start_control(switch, ranked_programs["aifo"], tmp_path / "log.jsonl", *words)
        assert "program loaded" in await line(controller)
        controller.send_signal(signal.SIGTERM)
        assert await controller.wait() == 130
    finally:
        switch.stop()


async def test_a_program_without_ranks_has_no_rank_source(embedded_switch: RunningSwitch, fdpa: Program) -> None:
    async with connect(embedded_switch.address, fdpa) as session:
        with pytest.raises(SessionError, match="its program has no table rank_sources; its packets have no ranks"):
            await set_rank_source(session, RankSource.TOS)


CONTROL = ("control", "127.0.0.1:9", "--rate", "10mbit", "--program", ".")
UNTUNED = "has no control law; these schemes have one: fdpa, aifo, rifo, packs"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--scheme", "sp_pifo"), f"sp_pifo {UNTUNED}"),
        (("--scheme", "fifo"), f"fifo {UNTUNED}"),
        (("--scheme", "pifo"), f"pifo {UNTUNED}"),
        (("--scheme", "rifu"), "no scheme 'rifu'; did you mean 'rifo'?"),
        (("--scheme", "aifo", "--port", "1", "--rank-source", "tso"), "no rank source 'tso'; did you mean 'tos'?"),
        (("--scheme", "aifo", "--port", "1", "--rank-source", "x"), "use one of: static, header, tos, stfq"),
        (("--rank-source", "tos"), "--rank-source has no effect for fdpa; it is for aifo, rifo, packs"),
    ],
)
def test_what_the_controller_cannot_do_is_one_sentence(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([*CONTROL, *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    "content", [b"a,b\n1,2\n", b"{}\n", b'{"kind":"decision"}\n', b"[1]\n", b"\x89PNG\r\n\x1a\n", b"\n"]
)
def test_a_file_that_is_no_decision_log_is_not_appended_to(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "notes"
    log.write_bytes(content)
    assert run_command([*CONTROL, "--log", str(log)]) == 1
    assert f"{log}: is not a decision log" in capsys.readouterr().err
    assert log.read_bytes() == content
