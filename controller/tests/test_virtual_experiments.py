"""Experiments in virtual time, from the command line to the result: each of them runs, two runs are the same, and a run
that cannot go on ends with a sentence."""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from lab import IN_VIRTUAL_TIME, MACHINE, P4SCHED, PATIENCE_S, busy_machine, living

from mininet_topos.dumbbell import dumbbell_sides
from p4sched.control.decision_log import logged_decisions
from p4sched.control.replay import replay
from p4sched.lab.virtual.client import Client
from p4sched.lab.virtual.process import virtual_process
from p4sched.lab.virtual.topology import describe
from p4sched.labs import catalogue, workspace
from p4sched.p4rt.compile import compile_program
from p4sched.paths import P4_DIR
from p4sched.results import summaries
from p4sched.schemes import LAWS

pytestmark = IN_VIRTUAL_TIME

SHORT = {
    "control_laws": ("--schemes", "aifo", "--quick", "--duration", "16s"),
    "fair_queueing": ("--schemes", "afq", "--rate", "20mbit", "--duration", "1s", "--loads", "0.5"),
    "fdpa_fairness": ("--users", "4", "--rate", "20mbit", "--warmup", "2s", "--duration", "2s"),
    "fdpa_join_leave": ("--rate", "20mbit", "--phase", "4s"),
    "flow_completion": ("--schemes", "packs", "--loads", "0.5", "--rate", "50mbit", "--duration", "2s"),
    "incast": ("--schemes", "fdpa,packs", "--senders", "8", "--block", "20k", "--duration", "2.5s"),
    "inversions": ("--schemes", "aifo", "--duration", "1s"),
    "leaf_spine": ("--schemes", "packs", "--rate", "5mbit", "--duration", "2s", "--urgent", "1", "--other", "1"),
    "priority_tcp": ("--schemes", "aifo", "--rate", "20mbit", "--duration", "7s"),
    "priority_udp": ("--schemes", "sp_pifo", "--rate", "5mbit", "--duration", "7s"),
    "three_flows": ("--schemes", "aifo", "--rate", "20mbit", "--duration", "2s"),
}
"""Options with which an experiment takes a second or two."""
ALONE = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all")
"""Without the power to make namespaces, or to change a setting of the machine."""


def run(name: str, out: Path, *further: str) -> subprocess.CompletedProcess[str]:
    """Runs an experiment in virtual time."""
    words = [*(ALONE if os.geteuid() == 0 else ()), str(P4SCHED), "run", name, "--virtual", *SHORT[name], *further]
    environment = os.environ | {"COLUMNS": "200"}
    return subprocess.run(
        [*words, "--out", str(out)], capture_output=True, text=True, check=False, env=environment, timeout=PATIENCE_S
    )


def content(folder: Path) -> dict[str, bytes]:
    """Every file below it, by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", SHORT)
def test_every_experiment_runs_in_virtual_time_and_is_exact_without_any_privilege(name: str, tmp_path: Path) -> None:
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "virtual time, model hosts" in done.stdout
    found = summaries.read(tmp_path).content
    assert (summaries.doubts(found), summaries.verdict(found)) == ([], "exact")
    assert (tmp_path / "figure.png").stat().st_size > 0


@MACHINE
@pytest.mark.parametrize(
    ("name", "further"),
    [("fdpa_fairness", ("--schemes", "fdpa")), ("leaf_spine", ("--spines", "1", "--hosts", "1", "--duration", "1s"))],
)
def test_a_second_run_beside_load_writes_the_same_bytes(name: str, further: tuple[str, ...], tmp_path: Path) -> None:
    assert run(name, tmp_path / "quiet", *further).returncode == 0
    with busy_machine():
        assert run(name, tmp_path / "busy", *further).returncode == 0
    quiet, busy = content(tmp_path / "quiet"), content(tmp_path / "busy")
    assert list(quiet) == list(busy)
    assert [path for path in quiet if quiet[path] != busy[path]] == []
    assert {"summary.json", "figure.png"} <= set(quiet)
    logs = [path for path in quiet if path.endswith(".jsonl")]
    assert logs
    for path in logs:
        assert all(entry.agrees for entry in replay(tmp_path / "quiet" / path, LAWS))


def test_no_frame_is_late_so_pifo_makes_no_inversion_and_another_seed_is_another_run(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        assert run("inversions", tmp_path / seed, "--seed", seed, "--schemes", "rifo,pifo").returncode == 0
    first, second = (summaries.read(tmp_path / seed).content["schemes"] for seed in ("1", "2"))
    assert (first["pifo"]["inversions"], second["pifo"]["inversions"]) == (0, 0)
    assert first["rifo"]["inversions"] > 0
    assert first["rifo"]["departures_by_rank"] != second["rifo"]["departures_by_rank"]


@pytest.mark.parametrize("name", ["fdpa_fairness", "priority_udp"])
def test_programs_for_a_tofino_run_in_virtual_time_too(name: str, tmp_path: Path) -> None:
    schemes = {"fdpa_fairness": "fdpa", "priority_udp": "aifo"}[name]
    done = run(name, tmp_path, "--schemes", schemes, "--target", "tna")
    assert done.returncode == 0, done.stderr
    assert summaries.verdict(summaries.read(tmp_path).content) == "exact"


def running(out: Path) -> AbstractContextManager[tuple[subprocess.Popen[str], int]]:
    """A long run in virtual time, and the process of its network."""
    words = ("run", "fdpa_fairness", "--virtual", "--schemes", "fifo", "--duration", "10000s")
    return with_network(*words, "--out", str(out))


@contextmanager
def with_network(*words: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command that has a network in virtual time by now, and the process of that."""
    environment = os.environ | {"COLUMNS": "200"}
    process = subprocess.Popen(
        [str(P4SCHED), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    deadline = time.monotonic() + PATIENCE_S
    while not (found := [pid for pid in living("p4sched-virtual") if process.pid in ancestors(pid)]):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    try:
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


def ancestors(pid: int) -> Iterator[int]:
    """The process that started this one, and so on; none if it has ended."""
    with suppress(FileNotFoundError, ProcessLookupError):
        while pid > 1:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            yield pid


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process_and_no_results(number: signal.Signals, tmp_path: Path) -> None:
    with running(tmp_path) as (process, network):
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert said.strip().endswith("p4sched: interrupted")
    assert network not in living("p4sched-virtual")
    assert not (tmp_path / "summary.json").exists()


def test_a_check_that_is_ended_leaves_no_process_of_its_run(tmp_path: Path) -> None:
    workspace.start(catalogue.find("03"), tmp_path / "mine")
    with with_network("lab", "check", str(tmp_path / "mine")) as (process, network):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert network not in living("p4sched-virtual")


def test_a_network_that_dies_ends_the_run_with_a_sentence(tmp_path: Path) -> None:
    with running(tmp_path) as (process, network):
        os.kill(network, signal.SIGKILL)
        _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert said.strip().splitlines()[-1] == "p4sched: p4sched-virtual was killed by SIGKILL", said


def test_a_controller_of_its_own_takes_part_in_the_lock_step(tmp_path: Path) -> None:
    compile_program(P4_DIR / "fdpa.p4", tmp_path)
    log = tmp_path / "log.jsonl"

    def decisions() -> list[dict[str, Any]]:
        return list(logged_decisions(log)) if log.exists() else []

    async def controlled() -> str:
        async with virtual_process(describe(dumbbell_sides(1, 1).structure(), cpu_port=True), []) as process:
            client = Client(process.address)
            (switch,) = (await client.describe()).switches
            await client.close()
            words = [str(P4SCHED), "control", switch.address, "--rate", "20mbit", "--program", str(tmp_path)]
            words += ["--lock-step", process.address, "--log", str(log)]
            controller = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
            try:
                while len(decisions()) < 20:
                    assert controller.poll() is None
                    await asyncio.sleep(0.02)
            finally:
                controller.terminate()
                said, _ = controller.communicate(timeout=PATIENCE_S)
        return said

    assert asyncio.run(controlled()).splitlines()[-1].endswith("ended; traffic continues with the last bands")
    times = [decision["time_ns"] for decision in decisions()]
    # it is alone, so time goes on with it: from 0, however long it took to start
    assert times == [round_ * 100_000_000 for round_ in range(len(times))]
    assert decisions()[10]["wall"] == "1970-01-01T00:00:01.000+00:00"
