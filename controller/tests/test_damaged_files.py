"""Everything in Python that reads what somebody else wrote: damaged files give one sentence, or are read."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from damage import damaged, damaged_json
from decision_logs import CONFIGS, write_short
from lab import not_built
from pyarrow import parquet

from mininet_topos.leaf_spine import Shape
from p4sched import simulate
from p4sched.bmv2 import runtime_json
from p4sched.bmv2.program import InputError
from p4sched.bmv2.program import Program as Names
from p4sched.cli.main import run_command
from p4sched.control.decision_log import refuse_other_file
from p4sched.errors import P4schedError
from p4sched.lab import announcement, switch_lookup, topology_file
from p4sched.lab.announcement import wiring
from p4sched.lab.ledger import read_ledger
from p4sched.lab.virtual.topology import describe
from p4sched.labs import workspace
from p4sched.live import messages, source
from p4sched.live.budget import Budget
from p4sched.live.hub import Hub
from p4sched.live.view import PortView, SwitchView
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.program import Program
from p4sched.proto.enums import Discipline
from p4sched.results import sweeps
from p4sched.sweep import folder as folders
from p4sched.sweep import plan as plans

COMPILER = pytest.mark.skipif(not_built("p4sched-p4c") is not None, reason=str(not_built("p4sched-p4c")))
TRIES = 40
Damage = Callable[[str, Random], bytes]


def as_bytes(text: str, source: Random) -> bytes:
    """Damage that knows nothing of the form."""
    return damaged(text.encode(), source)


def each_is_read_or_refused(path: Path, read: Callable[[], object], damage: Damage = damaged_json) -> None:
    """Reads a file, then damaged ones in its place. Only a P4schedError may come of it, and its text is one line."""
    read()
    text = path.read_text(encoding="utf-8")
    source = Random(1)
    for number in range(TRIES):
        content = damage(text, source)
        path.write_bytes(content)
        said = sentence(read, f"try {number}: {content[:3000]!r}")
        assert "\n" not in said
    path.write_text(text, encoding="utf-8")


def sentence(read: Callable[[], object], note: str) -> str:
    """What a P4schedError says; "" if there is none. Any other error goes on, with a note."""
    try:
        read()
    except P4schedError as error:
        assert str(error).strip(), note  # noqa: PT017 - every error must be shown
        return str(error)
    except Exception as error:
        error.add_note(note)
        raise
    return ""


@pytest.mark.parametrize("law", ["fdpa", *CONFIGS])
def test_decision_logs(law: str, tmp_path: Path) -> None:
    log = tmp_path / "fdpa" / "decisions.jsonl"
    write_short(log, law)
    summary = {"experiment": "incast", "configuration": {}, "schemes": {"fdpa": {"fidelity": {"doubts": []}}}}
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    exported = ["watch", "--replay", str(tmp_path), "--export", str(tmp_path / "page")]
    each_is_read_or_refused(log, lambda: ended(["replay", str(log)]))
    each_is_read_or_refused(log, lambda: ended(exported))
    each_is_read_or_refused(log, lambda: refuse_other_file(log))


def ended(command: list[str]) -> None:
    """Runs a command line. An exception that it does not foresee goes on."""
    assert run_command(command) in {0, 1, 2}


def test_a_folder_of_results(tmp_path: Path) -> None:
    fidelity = {"valid": False, "doubts": ["late"], "time": "wall", "late_us": {"p50": 1.5, "max": 10}}
    scheme = {"goodput_bps": 1.5e8, "fair": True, "rates": [1, 2], "users": [{"n": 1}], "fidelity": fidelity}
    summary = {
        "experiment": "leaf_spine", "finished": "today", "configuration": {"leaves": 2, "spines": 2, "hosts": 2},
        "machine": {"cpus": 2}, "versions": {"p4sched": "1"}, "schemes": {"fifo": scheme, "fdpa": scheme},
        "partial": {"reason": "ended", "missing": ["drr"]},
    }  # fmt: skip
    write_short(tmp_path / "fdpa" / "decisions.jsonl", "aifo")
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    path = tmp_path / "summary.json"
    each_is_read_or_refused(path, lambda: ended(["report", str(tmp_path)]))
    each_is_read_or_refused(path, lambda: ended(["watch", "--replay", str(tmp_path), "--export", str(tmp_path / "x")]))


def test_the_recording_of_a_page(tmp_path: Path) -> None:
    (tmp_path / "fifo").mkdir()
    (tmp_path / "summary.json").write_text(json.dumps({"experiment": "incast", "schemes": {"fifo": {}}}))
    recording = tmp_path / "fifo" / "live.jsonl"
    view = SwitchView("s1", None, "tna", (PortView(1, 10**6, 0, Discipline.FIFO, {0: 3}),), {1: 1.0})
    told = [
        messages.scene("x", [view], wiring(Shape(2, 2, 2).structure)),
        {"kind": "frame", "t": 1.0, "s": {"s1": {"q": {"1": [2]}, "tx": {}, "r": {"1": {"bounds": {"1": 2}}}}}},
        messages.parameters(1.0, "s1", 1, {"size_0": 1}),
        messages.note(1.0, "x"),
    ]
    recording.write_text("".join(f"{json.dumps(message)}\n" for message in told))
    command = ["watch", "--replay", str(tmp_path), "--export", str(tmp_path / "page")]
    assert run_command(command) == 0
    each_is_read_or_refused(recording, lambda: ended(command))
    recording.unlink()
    write_short(tmp_path / "fifo" / "decisions.jsonl", "fdpa")
    changes = tmp_path / "fifo" / "changes.jsonl"
    line = {"time_ns": 5, "switch": "s1", "port": 1, "name": "k", "value": 3}
    changes.write_text(f"{json.dumps(line)}\n")
    each_is_read_or_refused(changes, lambda: ended(command))


PLAN = """
scenario = "scenario.json"
schemes = ["fifo", {name = "packs 20", scheme = "packs", queues = 4}]
loads = [0.2, 0.6]
seeds = [1, 2, 3]
same_at_hosts = true
[parameters]
"topology.leaf_spine.spines" = [2, 4]
"""
SCENARIO = {
    "topology": {"leaf_spine": {"spines": 2}},
    "ports": {"scheme": "fifo"},
    "flows": {"poisson": {"load": 0.5}, "file": "flows.csv"},
    "seed": 4,
}


def test_a_sweep(tmp_path: Path) -> None:
    path, scenario = tmp_path / "sweep.toml", tmp_path / "scenario.json"
    path.write_text(PLAN)
    scenario.write_text(json.dumps(SCENARIO))
    each_is_read_or_refused(path, lambda: plans.read(path), as_bytes)
    each_is_read_or_refused(scenario, lambda: plans.read(path))

    def with_a_value(_: str, source: Random) -> bytes:
        value = source.choice(
            ["[[[", "[" * 5000, "9" * 400, "9" * 5000, "nan", "inf", "[nan]", "[[1]]", "{}", "1979-05-27", '""']
        )
        key = source.choice(["scenario", "schemes", "loads", "seeds", "same_at_hosts", '"a.b"', "check"])
        return f"{key} = {value}\n{PLAN if key not in PLAN else PLAN.replace(key, 'programs')}".encode()

    each_is_read_or_refused(path, lambda: plans.read(path), with_a_value)


def test_the_results_of_a_sweep(tmp_path: Path) -> None:
    (tmp_path / "points").mkdir()
    state, point = tmp_path / "sweep.json", tmp_path / "points" / "x.json"
    state.write_text(json.dumps({"sweep": "x", "simulator": "y"}))
    point.write_text(json.dumps({"figures": dict.fromkeys(("mean_ms", "p99_ms"), 1.0)}))
    folder = folders.Folder(tmp_path)
    each_is_read_or_refused(point, lambda: folder.outcome("x"))
    each_is_read_or_refused(state, lambda: folders._read(state))
    names = ("scheme", "load", "seed", "error", *sweeps.SHOWN)
    row = {"scheme": "fifo", "load": 0.5, "seed": 1, "error": None} | dict.fromkeys(sweeps.SHOWN, 1.5)
    source = Random(2)
    told = json.dumps({"sweep": "x", "parameters": []})
    for number in range(TRIES):
        meta = told.encode() if number % 2 else damaged_json(told, source)
        columns = {name: [row[name]] * 2 for name in names if number % 3 or source.random() < 0.9}
        table = pa.table(columns or {"x": [1]}).replace_schema_metadata({sweeps.META: meta})
        parquet.write_table(table, tmp_path / sweeps.FILE)
        content = (tmp_path / sweeps.FILE).read_bytes()
        (tmp_path / sweeps.FILE).write_bytes(damaged(content, source) if number % 2 else content)
        ended(["report", str(tmp_path)])


def test_a_network(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    path.write_text(json.dumps(describe(Shape(2, 2, 2).structure)))

    def read() -> None:
        fabric = topology_file.read(path)
        assert fabric.structure

    each_is_read_or_refused(path, read)


@COMPILER
def test_a_compiled_program_and_its_entries(tmp_path: Path) -> None:
    built = compiled_program("fifo")
    program = Program(tmp_path / "fifo.json", tmp_path / "fifo.p4info.txtpb")
    program.json.write_bytes(built.json.read_bytes())
    program.p4info.write_bytes(built.p4info.read_bytes())
    each_is_read_or_refused(program.json, program.pipeline)
    each_is_read_or_refused(program.p4info, program.pipeline, as_bytes)
    entries = tmp_path / "s1-runtime.json"
    names = Names(built.json.read_text())
    route = {
        "table": "FifoIngress.forwarding.ipv4_routes",
        "match": {"hdr.ipv4.dst_addr": ["10.0.1.1", 32]},
        "action_name": "forward",
        "action_params": {"port": 2, "dst_mac": "02:00:00:00:00:09"},
        "priority": 0,
    }
    group = {"multicast_group_id": 1, "replicas": [{"instance": 1, "egress_port": 2}]}
    session = {"clone_session_id": 1, "replicas": [{"egress_port": 2}]}
    told = {"table_entries": [route], "multicast_group_entries": [group], "clone_session_entries": [session]}
    entries.write_text(json.dumps(told))

    def read_entries() -> None:
        try:
            list(runtime_json.commands(entries.read_text(errors="replace"), names))
        except InputError as error:
            raise P4schedError(str(error)) from error

    each_is_read_or_refused(entries, read_entries)

    def read_names() -> None:
        try:
            Names(program.json.read_text(errors="replace"))
        except InputError as error:
            raise P4schedError(str(error)) from error

    each_is_read_or_refused(program.json, read_names)


def test_the_output_of_a_simulation(tmp_path: Path) -> None:
    queue = dict.fromkeys(("mean", "median", "p99", "longest"), 1.0)
    counts = dict.fromkeys(("sent_packets", "sent_bytes", "dropped_full", "dropped_refused", "pushed_out", "marked"), 1)
    ports = [{"node": "s1", "port": 1, "to": "h1", "queue_packets": queue, **counts}]
    summary, flows = tmp_path / simulate.SUMMARY, tmp_path / simulate.FLOWS
    summary.write_text(json.dumps({"end_ns": 100, "ports": ports}))
    names = ("flow", "source", "destination", "start_ns", "bytes", "received_bytes", "sent_segments", "retransmitted")
    head = (*names, "timeouts", "received_ns", "acknowledged_ns")
    flows.write_text(f"{','.join(head)}\n0,h1,h2,5,1000,1000,1,0,0,99,\n1,h1,h2,5,1000,10,1,0,0,,\n")
    each_is_read_or_refused(summary, lambda: simulate.read(tmp_path))
    each_is_read_or_refused(flows, lambda: simulate.read(tmp_path), as_bytes)


def test_what_a_run_says_of_itself(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    address = {"address": "127.0.0.1:9559", "device_id": 1}
    path.write_text(json.dumps({"run": {"pid": 1, "start_ticks": 0}, "switches": {"s1": address}}))

    def find() -> None:
        with pytest.raises(P4schedError, match=r"\S"):
            switch_lookup.find_switch("s1", path)

    each_is_read_or_refused(path, find)
    told = {"processes": [{"pid": 1, "start_ticks": 0}], "links": [], "settings": {"a": "b"}}

    def read() -> None:
        if path.exists():
            read_ledger(path)

    path.write_text(json.dumps(told))
    each_is_read_or_refused(path, read)
    path.write_text(json.dumps({"run": {"pid": 1, "start_ticks": 0}, "switches": {"s1": address}}))
    each_is_read_or_refused(path, lambda: announcement._read(path))


def test_the_folder_of_a_lab(tmp_path: Path) -> None:
    path = tmp_path / workspace.STATE
    path.write_text(json.dumps({"lab": "04", "hints_shown": 1}))

    def hint() -> None:
        workspace.next_hint(workspace.open_workspace(tmp_path))

    each_is_read_or_refused(path, hint)


def test_what_a_page_asks_for() -> None:
    pace = source.Pace()
    hub, shown = Hub(), source.Source("x", {}, source.WallClock(Budget(source.EVERY_S)), pace=pace)
    commands = source.Commands(hub, shown, source.Rounds(hub, shown, {}))
    told = json.dumps({"do": "pace", "value": 5})
    asyncio.run(commands.do(told))
    assert pace.factor == 5
    changes = Random(3)
    for _ in range(TRIES):
        asyncio.run(commands.do(damaged_json(told, changes).decode(errors="replace")))
        assert 0 <= pace.factor <= source.FASTEST


@pytest.mark.parametrize("command", ["replay", "report", "trace", "sweep", "stf"])
def test_names_command_no_terminal(command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    name = str(tmp_path / "\x1b[2J\udce9\uffff")
    assert run_command([command, name, *([name] if command in {"trace", "stf"} else [])]) != 0
    said = capfd.readouterr().err
    assert r"\x1b[2J\udce9\uffff" in said
    assert said.replace("\n", "").isprintable()
