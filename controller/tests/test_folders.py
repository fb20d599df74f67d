"""A scheduler in a folder of its own: the description, the check, and the experiments."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab import P4SCHED

from p4sched import simulate
from p4sched.checks import folder as checking
from p4sched.cli.main import run_command
from p4sched.comparing import workloads
from p4sched.control.knobs import by_hand, knobs
from p4sched.control.parameters import Comparison
from p4sched.errors import P4schedError, UsageError
from p4sched.folders import models, schemes
from p4sched.folders.description import FILE, read
from p4sched.folders.formula import Formula, FormulaError
from p4sched.folders.new import new
from p4sched.folders.schemes import find, forget, of_folder
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.target import PROGRAMS
from p4sched.p4rt.traffic_manager import Scrr
from p4sched.paths import SCHEDULERS_DIR
from p4sched.schemes import SCHEMES

LABORATORY = tuple(name for name, scheme in SCHEMES.items() if scheme.in_laboratory)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """The folder of a new scheduler."""
    place = tmp_path / "gearbox"
    new(place)
    yield place
    forget(place)


def replaced(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def checked(folder: Path) -> tuple[bool, str]:
    """Whether the check passes, and all that it prints."""
    steps = list(checking.steps(of_folder(folder.resolve())))
    return all(step.passed for step in steps), "\n".join(line for step in steps for line in (step.title, *step.lines))


def test_a_new_scheduler_passes_its_check(folder: Path) -> None:
    passed, said = checked(folder)
    assert passed, said
    assert "program and model decide alike on 8700 packets" in said
    assert "in a comparison it holds 80 packets" in said


@pytest.mark.parametrize(
    ("sizes", "alike", "warning"),
    [
        ('["size"]', "queue_size", "enter queue 0, with room for 10 packets; `buffer` is 80"),
        ('["size", "size"]', "buffer // 2", "enter queue 0, with room for 40 packets; `buffer` is 80"),
        ('["size", "size"]', "buffer", ""),
    ],
)
def test_the_check_warns_of_queues_that_do_not_add_up_to_the_buffer(
    sizes: str, alike: str, warning: str, folder: Path
) -> None:
    replaced(folder / FILE, '["size"]', sizes)
    replaced(folder / FILE, 'alike = "buffer"', f'alike = "{alike}"')
    passed, said = checked(folder)
    assert passed
    assert f"scheduler.toml:13: port.queue_sizes: the packets {warning}" in said if warning else "room for" not in said


def test_a_new_scheduler_holds_as_many_packets_as_fifo(folder: Path) -> None:
    """The port of both holds 80 packets, so the template, which is a FIFO, does what FIFO does."""
    sizes = Comparison(80)
    ours, fifo = (SCHEMES[name].for_comparison(sizes) for name in (find(str(folder)), "fifo"))
    assert ours.queue_sizes == fifo.queue_sizes == (80,)


def test_the_check_shows_the_first_packet_with_two_decisions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replaced(folder / "model.py", ">= self.size", "> self.size")
    assert run_command(["check", str(folder)]) == 1
    said = capsys.readouterr().out
    assert re.search(r"Packet \d+ of \d+ is the first one with two decisions", said)
    assert "parameters  size = 10" in said
    assert "model       the packet enters queue 0 (priority 7)" in said
    assert "packets wait in queues 0 to 7 of the model" in said
    assert "program     the packet is dropped because its queue is full: verdict FULL" in said
    assert re.search(r"\| +tail_drop.apply\(length, queue_size, verdict\);", said)


def test_a_difference_in_the_minute_of_tcp_has_the_form_of_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only after a second, and only for ranks that the packets of the first part do not have."""
    replaced(folder / "model.py", ">= self.size", ">= self.size + (now > 10**9 and packet.rank % 1000 > 500)")
    assert run_command(["check", str(folder)]) == 1
    said = capsys.readouterr().out
    assert "✓ program and model decide alike on 8700 packets" in said
    assert "A packet at port 5 of switch s1 is the first one with two decisions." in said
    assert re.search(
        r"  packet      rank \d{4,}, \d+ bytes, from 10\.1\.\d+\.\d+ to 10\.2\.\d+\.\d+, at \d{10,} ns", said
    )
    assert "  queues      80 0 0 0 0 0 0 0 packets wait in queues 0 to 7 of the program" in said
    assert "  model       the packet enters queue 0 (priority 7)" in said
    assert "  program     the packet is dropped because its queue is full: verdict FULL" in said
    assert "Datagram" not in said


def test_a_difference_at_a_port_without_numbered_queues_names_no_queue(folder: Path) -> None:
    replaced(folder / FILE, '"strict"', '"pifo"\nrank = "meta.rank"')
    replaced(folder / "model.py", ">= self.size", "> self.size")
    passed, said = checked(folder)
    assert not passed
    assert "model       the packet is admitted; the port files it" in said
    assert "enters queue" not in said


def test_parameters_of_the_port_set_the_port_and_are_unknown_to_the_program() -> None:
    sizes = Comparison(48, queues=6)
    scrr, gearbox = (SCHEMES[find(name)].for_comparison(sizes) for name in ("scrr", "gearbox"))
    assert (scrr.queue_sizes, scrr.layout.scrr) == ((48,), Scrr(flow_packets=100, version=5))
    assert scrr.parameters is not None
    assert scrr.parameters.action_data() == {}
    calendar = gearbox.layout.calendar
    assert calendar is not None
    assert (calendar.levels, calendar.queues, calendar.bytes_per_round, calendar.burst_rounds) == (4, 16, 64, 1000)
    assert gearbox.parameters is not None
    assert gearbox.parameters.action_data() == {"weights": 0}
    for name in ("scrr", "gearbox"):
        forget(SCHEDULERS_DIR / name)


FAULTS = {
    "raises": ("        if len(", "        1 // 0\n        if len(", r"model.py:14: ZeroDivisionError"),
    "exits": ("        if len(", "        raise SystemExit(3)\n        if len(", r"model.py:14: SystemExit: 3"),
    "returns a number": ("return FULL", "return 3", r"enqueue returned 3; it returns Queued\(queue\), REFUSED or FULL"),
    "chooses no queue": ("return self.put(packet, 0)", "return Queued(8)", "enqueue chose queue 8; there are queues 0"),
    "forgets packets": ("return self.put(packet, 0)", "return Queued(0)", r"len\(\) is 0, but 1 packets wait"),
    "a typo": ("def enqueue", "def enqeue", "Gearbox lacks the method enqueue"),
    "no Python": ("class Gearbox", "class class", "model.py:6: SyntaxError"),
    "another class": ("class Gearbox", "class Gear", r"model.py: there is no class Gearbox\(Model\)"),
    "never dequeues": (
        "    def enqueue",
        "    def dequeue(self, now):\n        return None\n\n    def enqueue",
        "dequeue returned None, while 1 packets wait",
    ),
    "invents packets": (
        "    def enqueue",
        "    def dequeue(self, now):\n        return Packet(99, 0, 0, 0, 64)\n\n    def enqueue",
        r"dequeue returned Packet\(id=99, .*\), which does not wait",
    ),
    "reorders a queue": (
        "    def enqueue",
        "    def dequeue(self, now):\n        return self.queues[0].pop()\n\n    def enqueue",
        r"packet \d+ left queue 0 before packet \d+, which came earlier; queues are FIFO",
    ),
}


@pytest.mark.parametrize(("before", "after", "says"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_a_model_is_one_sentence(before: str, after: str, says: str, folder: Path) -> None:
    replaced(folder / "model.py", before, after)
    replaced(folder / "model.py", "FULL, Packet, Queues", "FULL, Packet, Queued, Queues")
    passed, said = checked(folder)
    assert not passed
    assert re.search(says, said), said


def test_a_model_that_hangs_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "SLOWEST_S", 0.2)
    replaced(folder / "model.py", "        if len(", "        while True:\n            pass\n        if len(")
    passed, said = checked(folder)
    assert not passed
    assert "the model took longer than 0.2 s for 8700 packets" in said


def test_a_model_that_never_loads_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "SLOWEST_S", 0.2)
    replaced(folder / "model.py", "class ", "while True:\n    pass\n\n\nclass ")
    passed, said = checked(folder)
    assert not passed
    assert "model.py: it took longer than 0.2 s to load" in said


DESCRIPTIONS = {
    "an unknown key": ('colour = "wine"', 'color = "wine"', r":6: color: no key 'color'; did you mean 'colour'\?"),
    "an unknown colour": ('"wine"', '"vine"', r":6: colour: no value 'vine'; did you mean 'wine'\?"),
    "a bad name": ('name = "gearbox"', 'name = "Gear Box"', r":2: name: 'Gear Box' is no name"),
    "no such file": ('"gearbox.p4"', '"gear.p4"', r":16: program.v1model: there is no file gear.p4"),
    "no such discipline": ('"strict"', '"strikt"', r":12: port.discipline: .*did you mean 'strict'\?"),
    "nine queues": (
        'queue_sizes = ["size"',
        'queue_sizes = ["size", "size", "size", "size", "size", "size", "size", "size", "size"',
        r":13: port.queue_sizes: 9 queues: a port has 1 to 8",
    ),
    "an unknown number": (
        'alike = "buffer"',
        'alike = "room"',
        r":\d+: parameters.size.alike: 'room' has the name",
    ),
    "a default out of range": (
        "default = 10",
        "default = 0",
        r":31: parameters.size.default: '0' is not a whole number",
    ),
    "a parameter named like a size": (
        "[parameters.size]",
        "[parameters.queues]",
        r":\d+: parameters.queues: 'queues' is a common size of a comparison",
    ),
    "a parameter named like an attribute of models": (
        "[parameters.size]",
        "[parameters.random]",
        r":\d+: parameters.random: models have an attribute 'random'",
    ),
    "a parameter named like a method of models": (
        "[parameters.size]",
        "[parameters.put]",
        r":\d+: parameters.put: models have an attribute 'put'",
    ),
    "an unknown number of the port": (
        "[program]",
        '[port.calendar]\nqueues = "room"\n\n[program]',
        r":\d+: port.calendar.queues: 'room' has the name",
    ),
    "a number of the port below 0": (
        "[program]",
        "[port.scrr]\nflow_packets = -1\n\n[program]",
        r":\d+: port.scrr.flow_packets: '-1' is not a whole number from 0",
    ),
    "a parameter of nothing": (
        "[parameters.size]",
        '[parameters.size]\nof = "both"',
        r":\d+: parameters.size.of: no value 'both'",
    ),
    "no TOML": ("[port]", "[port", r":11: Expected ']'"),
}


@pytest.mark.parametrize(("before", "after", "says"), DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_a_fault_of_a_description_has_file_and_line(before: str, after: str, says: str, folder: Path) -> None:
    replaced(folder / FILE, before, after)
    with pytest.raises(UsageError, match=rf"{re.escape(str(folder / FILE))}{says}"):
        read(folder)


def test_a_program_with_other_parameters_than_the_description(folder: Path) -> None:
    replaced(folder / FILE, "[parameters.size]", "[parameters.room]")
    replaced(folder / FILE, '"size"', '"room"')
    passed, said = checked(folder)
    assert not passed
    assert "gearbox.p4: the parameters of the action set_gearbox are size; the description has room" in said


def test_a_program_whose_parameter_is_too_narrow(folder: Path) -> None:
    replaced(folder / "gearbox.p4", "(bit<16> size)", "(bit<8> size)")
    replaced(folder / "gearbox.p4", "queue_size = size;", "queue_size = (bit<16>) size;")
    passed, said = checked(folder)
    assert not passed
    assert f"{folder / FILE}:30: parameters.size.range: 65535 does not fit into the 8 bits of set_gearbox" in said


NAMES = {
    "table": (
        FILE,
        "gearbox_params",
        "gear_params",
        f"{FILE}:17: program.table: gearbox.p4: no table 'gear_params'; did",
    ),
    "action": (FILE, "set_gearbox", "set_gear", f"{FILE}:18: program.action: gearbox.p4: no action 'set_gear'; did"),
    "control": (
        "gearbox.p4",
        "GearboxIngress",
        "GearIngress",
        "gearbox.p4: the control with the rule is GearIngress; it must be GearboxIngress",
    ),
    "size": (
        FILE,
        '["size"]',
        '["size // (size - size)"]',
        f"{FILE}:13: port.queue_sizes: 'size // (size - size)' div",
    ),
    "alike": (
        FILE,
        '"buffer"',
        '"1 // (queues - 8)"',
        f"{FILE}:32: parameters.size.alike: '1 // (queues - 8)' divides",
    ),
    "range of a size": (
        FILE,
        '["size"]',
        '["0 - size"]',
        f"{FILE}:13: port.queue_sizes: queue size = -10 is out of range",
    ),
    "another default": (
        "gearbox.p4",
        "set_gearbox(10)",
        "set_gearbox(7)",
        f"{FILE}:31: parameters.size.default: it is 10, but the default_action of gearbox_params in gearbox.p4 has 7",
    ),
    "rule of a model": ("model.py", "return FULL", "return 5", "model.py:12: Gearbox: enqueue returned 5"),
}


@pytest.mark.parametrize(("file", "before", "after", "says"), NAMES.values(), ids=NAMES)
def test_a_fault_has_the_place_of_its_cause(file: str, before: str, after: str, says: str, folder: Path) -> None:
    replaced(folder / file, before, after)
    passed, said = checked(folder)
    assert not passed
    assert f"{folder}/{says}" in said


def test_a_setting_of_the_command_line_need_not_be_the_default_of_the_program(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_command(["check", f"{folder}:size=7", "--no-tcp"])
    assert "program and model decide alike" in capsys.readouterr().out


@pytest.mark.parametrize("with_model", [True, False])
def test_each_queue_that_packets_enter_has_a_size(folder: Path, *, with_model: bool) -> None:
    for file, change in BY_USER.items():
        replaced(folder / file, *change)
    if not with_model:
        text = (folder / FILE).read_text()
        (folder / FILE).write_text(re.sub(r"\[model\]\n(.+\n)+", "", text))
    passed, said = checked(folder)
    assert not passed
    assert re.search(
        rf"{FILE}:13: port.queue_sizes: it has a size for 1 queue, but packets? \d* ?enters? queue 1", said
    )


def test_a_law_that_does_not_end_is_ended_in_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "SLOWEST_S", 0.5)
    replaced(folder / FILE, 'colour = "wine"', 'law = "law.py"')
    (folder / "law.py").write_text("def parameters(traffic, link):\n    while True:\n        pass\n")
    passed, said = checked(folder)
    assert not passed
    assert "\nthe law took longer than 0.5 s for 200 decisions" in said
    assert "P4schedError" not in said


BY_USER = {
    "gearbox.p4": (
        "            standard_metadata.priority = 7;",
        "            standard_metadata.priority = meta.user < 4 ? (bit<3>) 7 : 6;",
    ),
    "model.py": (
        "        if len(self.queues[0]) >= self.size:\n            return FULL\n        return self.put(packet, 0)",
        "        queue = 0 if packet.user < 4 else 1\n        if len(self.queues[queue]) >= self.size:\n"
        "            return FULL\n        return self.put(packet, queue)",
    ),
}


@pytest.mark.parametrize("changed", [("gearbox.p4", "model.py"), ("gearbox.p4",), ("model.py",)])
def test_program_and_model_are_compared_with_users(changed: tuple[str, ...], folder: Path) -> None:
    for file in changed:
        replaced(folder / file, *BY_USER[file])
    replaced(folder / FILE, '["size"]', '["size", "size"]')
    passed, said = checked(folder)
    assert passed == (len(changed) == 2), said
    assert passed or re.search(r"packet      rank \d+, \d+ bytes, user [4-7] of weight (4|2|1|0.5), at", said)


def test_the_order_of_departures_is_compared(folder: Path) -> None:
    # queue 1 before queue 0, as long as both fill alike
    for file, change in BY_USER.items():
        replaced(folder / file, *change)
    replaced(folder / FILE, '["size"]', '["size", "size"]')
    replaced(folder / FILE, "range = [1, 65535]", "range = [1000, 65535]")
    replaced(folder / FILE, "default = 10", "default = 1000")
    replaced(folder / "gearbox.p4", "set_gearbox(10)", "set_gearbox(1000)")
    replaced(folder / FILE, "tried = [1, 16]", "tried = [1000, 1000]")
    replaced(
        folder / "model.py",
        "    def enqueue",
        "    def dequeue(self, now):\n        queue = self.queues[1] or self.queues[0]\n"
        "        return queue.popleft() if queue else None\n\n    def enqueue",
    )
    passed, said = checked(folder)
    assert not passed
    assert re.search(r"Departure \d+ of \d+ is the first one with two packets", said), said


def test_a_model_knows_the_weights_of_a_network(folder: Path) -> None:
    text = (folder / FILE).read_text()
    (folder / FILE).write_text(re.sub(r"\[program\]\n(.+\n)+", "", text))
    replaced(
        folder / "model.py",
        "        if len(",
        "        assert packet.weight == {0: 1, 1: 4, 2: 0.5}[packet.user]\n        if len(",
    )
    weights = {1: 4.0, 2: 0.5}
    flows = [simulate.Flow(f"u{user}", "server", 50_000, user=user, weight=weight) for user, weight in weights.items()]
    weighted = scenario(find(str(folder))).with_(flows=flows)
    assert simulate.run(weighted).summary["flows"]["completed"] == 2
    with pytest.raises(P4schedError, match=r"model.py:14: AssertionError"):
        simulate.run(weighted.with_(flows=[flows[1], simulate.Flow("u1", "server", 50_000, user=1, weight=2.0)]))


def test_what_a_model_prints_is_not_in_the_result(folder: Path, tmp_path: Path) -> None:
    replaced(folder / "model.py", "        if len(", "        print(packet)\n        if len(")
    command = ["attack", str(folder), "--against", "pifo", "--steps", "2", "--packets", "20"]
    assert run_command([*command, "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize("where", [("--stepped", "--packets", "2000"), ("--virtual", "--duration", "0.2s")])
def test_a_scheduler_that_fails_leaves_the_others_alone(
    where: tuple[str, ...], folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    replaced(folder / FILE, 'alike = "buffer"', 'alike = "buffer * 100000"')
    out = tmp_path / "out"
    assert run_command(["run", "inversions", *where, "--scheme", f"{folder},fifo", "--out", str(out)]) == 1
    error = capfd.readouterr().err.strip().splitlines()[-1]
    assert re.search(r"gearbox is left out: .*size = 8000000 is out of range: 1 to 65535", error)
    found = json.loads((out / "summary.json").read_text())
    assert list(found["schemes"]) == ["fifo"]
    assert found["partial"]["missing"] == ["gearbox"]
    # alone it ends the run
    assert run_command(["run", "inversions", *where, "--scheme", str(folder), "--out", str(out)]) != 0


def test_a_syntax_error_of_a_program_has_its_line_in_a_run(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    replaced(folder / "gearbox.p4", "queue_size, verdict);", "queue_size, verdict)")
    says = rf"{re.escape(str(folder))}/gearbox.p4:46:\d+: ';' expected after this, not 'carry_out'$"
    out = str(tmp_path / "out")
    stepped = ["run", "inversions", "--stepped", "--packets", "2000", "--scheme", f"{folder},fifo", "--out", out]
    assert run_command(stepped) == 1
    assert re.search(rf"p4sched: gearbox is left out: {says}", capfd.readouterr().err.strip())
    with pytest.raises(P4schedError, match=f"^{says}"):
        simulate.run(scenario(find(str(folder))), programs=True)


def test_a_comparison_that_a_scheduler_takes_no_part_in_is_refused_before_the_run(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    run = ["run", "fdpa_fairness", "--virtual", "--quick", "--schemes", f"fifo,{folder}", "--out", str(out)]
    assert run_command(run) == 2
    said = capsys.readouterr()
    assert f'{folder / FILE}:7: compared has no "users", which fdpa_fairness needs' in said.err
    assert said.out == ""
    assert not out.exists()


def test_a_check_takes_the_name_of_a_known_scheduler(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "p4sched_installed"
    folder.rename(package)
    replaced(package / FILE, 'name = "gearbox"', 'name = "installed"')
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    listed = [EntryPoint("installed", "p4sched_installed", "p4sched.schedulers")]
    monkeypatch.setattr(schemes, "entry_points", lambda group: listed)
    try:
        assert run_command(["check", "installed", "--no-tcp"]) == 0
    finally:
        forget(package)
    assert "program and model decide alike on 8700 packets" in capsys.readouterr().out


@pytest.mark.parametrize("word", [*LABORATORY, str(SCHEDULERS_DIR / "fifo")])
def test_a_check_of_a_scheme_of_the_laboratory(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", word]) == 0
    name = Path(word).name
    said = capsys.readouterr().out
    assert f"{SCHEMES[name].title} is of the laboratory: the tests check its model and its law" in said
    programs = SCHEMES[name].description.programs
    assert programs is None or f"{SCHEMES[name].description.program_name}.p4 compiles for v1model" in said


def test_a_check_of_no_scheduler(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["check", "pakcs"]) == 2
    assert "no folder or scheme 'pakcs'; did you mean 'packs'?" in capsys.readouterr().err
    assert run_command(["check", "--watch", str(tmp_path / "nosuch")]) == 2
    assert f"--watch: '{tmp_path / 'nosuch'}' is not a folder" in capsys.readouterr().err


def test_only_schedulers_with_a_window_are_shown_with_it(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "inversions", "--stepped", "--packets", "2000", "--scheme", f"{folder},packs"]
    assert run_command([*run, "--out", str(tmp_path / "out")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"compiled gearbox: \d+ inversions, \d+.\d+ times compiled PACKS': equal", said)
    assert re.search(r"compiled PACKS, \|W\| = 32: \d+ inversions, 1.00 times compiled PACKS': equal", said)


ENDS = ("        if len(", "        import os\n        os._exit(0)\n        if len(")


def test_a_model_that_ends_its_process_does_not_end_the_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replaced(folder / "model.py", *ENDS)
    assert run_command(["check", str(folder), "--no-tcp"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "✓ gearbox.p4 compiles for v1model" in said
    assert f"✗ model {folder}: its Python code ended its process with code 0" in said


def test_a_model_that_ends_its_process_leaves_no_result_of_an_earlier_run(folder: Path, tmp_path: Path) -> None:
    scheme, out = find(str(folder)), tmp_path / "out"
    assert simulate.run(scenario(scheme), output=out).summary["flows"]["completed"] == 3
    replaced(folder / "model.py", *ENDS)
    with pytest.raises(P4schedError, match="the model of gearbox ended its process"):
        simulate.run(scenario(scheme), output=out)


def test_a_model_that_ends_its_process_is_left_out_of_a_run(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "inversions", "--stepped", "--packets", "2000", "--scheme", f"{folder},fifo", "--out"]
    assert run_command([*command, str(tmp_path / "out")]) == 0
    replaced(folder / "model.py", *ENDS)
    assert run_command([*command, str(tmp_path / "out")]) == 1
    assert "gearbox is left out: the model of gearbox ended its process" in capfd.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ("check", "{folder}"),
        ("compare", "fifo,{folder}", "--quick", "--seeds", "1", "--out", "{out}"),
        ("run", "inversions", "--stepped", "--packets", "2000", "--scheme", "{folder}", "--out", "{out}"),
    ],
    ids=lambda words: words[0],
)
def test_what_a_model_prints_is_on_standard_error(
    command: tuple[str, ...],
    folder: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workloads, "QUICK", workloads.Scale(2000, 3_000_000, 200_000_000, 20))
    replaced(
        folder / "model.py",
        "        if len(",
        "        if packet.id == 7:\n            print('packet seven')\n        if len(",
    )
    replaced(folder / "model.py", "class ", "print('is loaded')\n\n\nclass ")
    assert run_command([word.format(folder=folder, out=tmp_path / "out") for word in command]) == 0
    said = capfd.readouterr()
    for text in ("packet seven", "is loaded"):
        assert "flows completed" not in said.err
        assert text in said.err
        assert text not in said.out


def test_two_schedulers_of_one_name(folder: Path, tmp_path: Path) -> None:
    of_folder(folder)
    (tmp_path / "copy").mkdir()
    for file in folder.iterdir():
        (tmp_path / "copy" / file.name).write_bytes(file.read_bytes())
    with pytest.raises(UsageError, match=rf"copy/{FILE}:2: name: there is another scheme 'gearbox', in {folder}"):
        of_folder(tmp_path / "copy")
    replaced(tmp_path / "copy" / FILE, 'name = "gearbox"', 'name = "aifo"')
    with pytest.raises(UsageError, match="there is another scheme 'aifo', of the laboratory"):
        of_folder(tmp_path / "copy")


def test_a_folder_is_a_scheme_of_the_laboratory(folder: Path) -> None:
    assert find(str(folder)) == "gearbox"
    scheme = SCHEMES["gearbox"]
    setup = scheme.for_comparison(Comparison(48, queues=6))
    assert setup.queue_sizes == (48,)
    assert setup.parameters is not None
    assert setup.parameters.action_data() == {"size": 48}
    with pytest.raises(UsageError, match=r"size = 0 is out of range: 1 to 65535 packets"):
        scheme.parameters.from_action_data({"size": 0})


def test_parameters_of_a_folder_can_be_changed_by_hand(folder: Path) -> None:
    parameters = SCHEMES[find(str(folder))].for_comparison(Comparison(48, queues=6)).parameters
    (knob,) = knobs(parameters)
    assert (knob.name, knob.unit, knob.low, knob.high, knob.value) == ("B", "packets", 1, 192, 48)
    assert parameters is not None
    assert by_hand(parameters, {"B": 9}).action_data() == {"size": 9}


def test_no_folder_and_no_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is not the folder of a scheduler"):
        find("./nowhere/")
    with pytest.raises(UsageError, match=r"has no scheduler.toml; 'p4sched new-scheduler NAME'"):
        find(str(tmp_path))
    with pytest.raises(UsageError, match="no scheme 'pack'; did you mean 'packs'"):
        find("pack", ["packs"])


def test_paths_that_are_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for path in (tmp_path / "file", tmp_path / "circle", tmp_path / ("long" * 100)):
        with pytest.raises(UsageError, match=r"is not the folder of a scheduler"):
            find(str(path))


def test_entry_points_that_do_not_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, text in {"p4sched_raises": "1 / 0", "p4sched_exits": "raise SystemExit(3)", "p4sched_empty": ""}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    names = {"raises": 1, "exits": 1, "empty": 1, "absent": 1, "twice": 2}
    listed = [
        EntryPoint(name, f"p4sched_{name}", "p4sched.schedulers") for name, count in names.items() for _ in range(count)
    ]
    monkeypatch.setattr(schemes, "entry_points", lambda group: listed)
    says = {
        "raises": "the entry point p4sched.schedulers: raises does not load: ZeroDivisionError: division by zero",
        "exits": "exits does not load: SystemExit: 3",
        "empty": "has no scheduler.toml",
        "absent": "absent does not load: ModuleNotFoundError",
        "twice": "the entry point p4sched.schedulers: twice is in p4sched_twice and p4sched_twice; name the folder",
    }
    for name, text in says.items():
        with pytest.raises(P4schedError, match=text):
            find(name)


def test_a_folder_by_its_name_and_by_its_path(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parent)
    run = ["run", "inversions", "--stepped", "--schemes", "gearbox,./gearbox,pifo", "--out", str(tmp_path / "out")]
    assert run_command(run) == 2
    assert f"twice: 'gearbox' and './gearbox' are the one in {folder}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["1st", "aifo", "a b"])
def test_names_that_no_new_scheduler_may_have(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        new(tmp_path / name)


def scenario(scheme: str) -> simulate.Scenario:
    """Three flows over one link."""
    return simulate.Scenario(
        topology=simulate.Dumbbell(3, simulate.Link.of("100mbit", "10us"), simulate.Link.of("10mbit", "1ms")),
        ports=simulate.Ports(scheme, queue_size=10),
        flows=[simulate.Flow(f"u{number}", "server", 300_000, rank=number) for number in (1, 2, 3)],
        end_ns=2_000_000_000,
    )


def test_a_network_of_models_in_python_is_that_of_programs(folder: Path) -> None:
    scheme = find(str(folder))
    by_model = simulate.run(scenario(scheme))
    by_program = simulate.run(scenario(scheme), programs=True)
    assert (by_model.flows == by_program.flows).all()
    assert simulate.run(scenario(scheme), programs=True, check=True).summary["flows"]["completed"] == 3
    fifo = simulate.run(scenario("fifo"))
    assert (by_model.flows["completion_s"] == fifo.flows["completion_s"]).all()


def test_a_model_that_fails_in_a_network_ends_the_run_with_its_place(folder: Path) -> None:
    replaced(
        folder / "model.py",
        "        if len(",
        "        if packet.id == 5:\n            raise KeyError(5)\n        if len(",
    )
    with pytest.raises(P4schedError, match=r"model.py:15: KeyError: 5"):
        simulate.run(scenario(find(str(folder))))


def test_stepped_inversions_of_a_folder(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["run", "inversions", "--stepped", "--packets", "2000", "--scheme", f"{folder},fifo,pifo"]
    assert run_command([*command, "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "compiled gearbox" in said
    rows = [line.split(",")[0] for line in (tmp_path / "out" / "ranks.csv").read_text().splitlines()[1:]]
    assert list(dict.fromkeys(rows)) == ["gearbox", "fifo", "pifo"]


def test_a_scheduler_of_users_is_not_compared_in_a_stream_without_users(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", "inversions", "--stepped", "--packets", "2000", "--schemes", "aifo_own,aifo"]
    assert run_command([*command, "--out", str(tmp_path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"compiled AIFO, a window each.*?: not compared: it has no model, or serves users", said)
    assert re.search(r"compiled AIFO, \|W\|.*?: equal to the model's", said)


def test_a_model_is_found_without_its_program(folder: Path) -> None:
    text = (folder / FILE).read_text()
    (folder / FILE).write_text(re.sub(r"\[program\]\n(.+\n)+", "", text))
    scheme = find(str(folder))
    assert simulate.run(scenario(scheme)).summary["flows"]["completed"] == 3
    passed, said = checked(folder)
    assert passed
    assert "model: 8700 packets" in said


def test_only_a_program_that_knows_no_users_gets_packets_of_one_flow(folder: Path) -> None:
    replaced(folder / "model.py", "        if len(", "        assert packet.flow != 3\n        if len(")
    replaced(folder / "gearbox.p4", "    Users() users;\n", "")
    replaced(folder / "gearbox.p4", "            users.apply(hdr, meta);\n", "")
    passed, said = checked(folder)
    assert passed, said
    text = (folder / FILE).read_text()
    (folder / FILE).write_text(re.sub(r"\[program\]\n(.+\n)+", "", text))
    forget(folder)
    passed, said = checked(folder)
    assert not passed
    assert "model.py:14: AssertionError" in said


NUMBERS = {"buffer": 80, "queues": 8}


@given(st.text(max_size=30))
def test_any_text_is_a_formula_or_an_error(text: str) -> None:
    with suppress(FormulaError):
        assert isinstance(Formula.parse(text, NUMBERS).value(NUMBERS), int)


@pytest.mark.parametrize(("text", "value"), [("buffer // queues - 1", 9), ("max(2, min(buffer, 7)) * 2", 14), (5, 5)])
def test_formulas(text: str | int, value: int) -> None:
    assert Formula.parse(text, NUMBERS).value(NUMBERS) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_a_description_or_an_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    place = tmp_path_factory.mktemp("scheduler")
    (place / FILE).write_bytes(content)
    with pytest.raises(UsageError):
        read(place)


def test_the_watch_of_a_check_ends_with_an_interrupt(folder: Path) -> None:
    command = [str(P4SCHED), "check", str(folder), "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any("waiting for a change" in line for line in lines)
        replaced(folder / "model.py", ">= self.size", "> self.size")
        assert any("is the first one with two decisions" in line for line in lines)
        process.terminate()
        assert process.wait() == 130


def test_the_class_of_a_model_is_loaded_anew(folder: Path) -> None:
    described = read(folder).model
    assert described is not None
    first = models.load(described)
    assert models.load(described) is not first


OF_THE_REPOSITORY = [path.parent for path in SCHEDULERS_DIR.glob(f"*/{FILE}") if read(path.parent).laboratory is None]


@pytest.mark.parametrize("folder", OF_THE_REPOSITORY, ids=lambda path: path.name)
def test_each_scheduler_of_the_repository_passes_its_check_and_is_known_by_its_name(folder: Path) -> None:
    assert find(folder.name) == folder.name
    passed, said = checked(folder)
    assert passed, said
    assert f"| [`{folder.name}`]({folder.name}/README.md) |" in (SCHEDULERS_DIR / "README.md").read_text()
    assert (folder / "README.md").is_file()
    forget(folder)


def test_each_scheduler_of_the_laboratory_names_its_files() -> None:
    """The description, the class of the parameters and the folders of the programs agree."""
    for name, scheme in SCHEMES.items():
        if not scheme.in_laboratory:
            continue
        programs = scheme.description.programs
        assert programs is not None
        action = compiled_program(scheme.program).schema().actions[programs.action]
        widths = {parameter.name: parameter.bitwidth for parameter in action.params}
        assert [each.name for each in scheme.description.parameters] == list(widths), name
        assert all(each.maximum < 2 ** widths[each.name] for each in scheme.description.parameters), name
        assert (programs.table, programs.action) == (scheme.parameters.table, scheme.parameters.action), name
        assert all(
            file == (PROGRAMS[target].folder / f"{scheme.program}.p4") for target, file in programs.files.items()
        )


def test_code_that_catches_the_end_of_its_time_is_ended_nevertheless() -> None:
    end = time.monotonic() + 20

    def stubborn() -> None:
        with suppress(P4schedError):
            while time.monotonic() < end:
                pass
        while time.monotonic() < end:
            pass

    with pytest.raises(P4schedError, match="too long"), checking.foreign_code(0.05, "too long"):
        stubborn()
