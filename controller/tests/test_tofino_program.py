"""Programs for a Tofino: what Stratum is given, and what `p4sched control --dry-run` would send."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compiled_program
from p4sched.p4rt.program import Program
from p4sched.p4rt.reader import SessionError
from p4sched.p4rt.target import Target
from p4sched.p4rt.tofino import TofinoProgram

BINARY = b"\0\0\0H\x02\0\0\0{}"
Change = Callable[[Path], object]


@pytest.fixture(scope="module")
def aifo() -> Program:
    """AIFO's program for Tofino 1."""
    return compiled_program("aifo", target=Target.TNA)


@pytest.fixture
def built(tmp_path: Path, aifo: Program) -> Path:
    """The output folder of the chip's compiler for AIFO. The .conf has the paths of the machine where it will run."""
    folder = tmp_path / "aifo.tofino"
    (folder / "pipe").mkdir(parents=True)
    p4info = aifo.p4info.read_text()
    (folder / "p4info.txt").write_text(p4info)
    names = [{"name": name} for name in re.findall(r'^    name: "(.*)"', p4info, flags=re.MULTILINE)]
    (folder / "bfrt.json").write_text(json.dumps({"tables": names}))
    (folder / "pipe" / "context.json").write_text('{"program_name": "aifo"}')
    (folder / "pipe" / "tofino.bin").write_bytes(BINARY)
    pipe = {
        "p4_pipeline_name": "pipe",
        "context": "share/tofinopd/aifo/pipe/context.json",
        "config": "share/tofinopd/aifo/pipe/tofino.bin",
        "pipe_scope": [0, 1, 2, 3],
        "path": "share/tofinopd/aifo",
    }
    program = {"program-name": "aifo", "bfrt-config": "/build/aifo.tofino/bfrt.json", "p4_pipelines": [pipe]}
    conf = {"chip_list": [{"chip_family": "tofino"}], "p4_devices": [{"device-id": 0, "p4_programs": [program]}]}
    (folder / "aifo.conf").write_text(json.dumps(conf))
    return folder


def field(number: int, content: bytes) -> bytes:
    """A field of bytes as protobuf sends it."""
    size = len(content)
    return bytes([number << 3 | 2, *([size] if size < 128 else [size & 127 | 128, size >> 7])]) + content


def test_stratum_gets_the_files_in_the_fields_of_its_message(built: Path) -> None:
    (built / "bfrt.json").write_text('{"tables": []}')
    profile = field(1, b"pipe") + field(2, b'{"program_name": "aifo"}') + field(3, BINARY) + field(4, bytes(range(4)))
    sent = field(1, b"aifo") + field(2, b'{"tables": []}') + field(3, profile)
    assert TofinoProgram(built).device_config().SerializeToString() == sent


def test_what_is_loaded_is_known_again_by_its_cookie(built: Path) -> None:
    first = TofinoProgram(built).pipeline().config
    assert TofinoProgram(built).pipeline().config == first
    (built / "pipe" / "tofino.bin").write_bytes(BINARY + b"\0")
    assert TofinoProgram(built).pipeline().config.cookie != first.cookie


def test_names_with_a_pipe_in_front_are_found_by_alias_and_by_full_name(built: Path) -> None:
    schema = TofinoProgram(built).pipeline().schema
    table = schema.tables["aifo_params"]
    assert table is schema.tables["pipe.AifoIngress.aifo_params"]
    assert [action.alias for action in table.actions] == ["set_aifo"]
    assert schema.counters["rank_histogram"].name.startswith("pipe.")


def test_the_pipe_in_front_of_the_names_may_be_left_out_of_p4info(built: Path) -> None:
    edit("p4info.txt", 'name: "pipe.', 'name: "')(built)
    schema = TofinoProgram(built).pipeline().schema
    assert schema.tables["aifo_params"].name == "AifoIngress.aifo_params"


def remove(name: str) -> Change:
    return lambda folder: (folder / name).unlink()


def write(name: str, content: bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(content)


def edit(name: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return change


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (remove("aifo.conf"), "holds no .conf: it is not the output folder of a Tofino compiler that ended well"),
        (write("other.conf", b"{}"), "holds several programs: aifo.conf, other.conf"),
        (write("aifo.conf", b"{"), "aifo.conf: not JSON"),
        (write("aifo.conf", b"[]"), "aifo.conf: not a JSON object"),
        (write("aifo.conf", b'{"p4_devices": []}'), "aifo.conf does not describe one program on one device"),
        (edit("aifo.conf", '"pipe_scope": [0', '"pipe_scope": ["x"'), "does not describe one program on one device"),
        (edit("aifo.conf", '"p4_pipelines": [{', '"p4_pipelines": [3, {'), "does not describe one program"),
        (remove("bfrt.json"), "bfrt.json is missing (No such file or directory): compile the program again"),
        (write("bfrt.json", BINARY), "bfrt.json: not JSON"),
        (remove("pipe/context.json"), "pipe/context.json is missing"),
        (write("pipe/context.json", BINARY), "pipe/context.json: not JSON"),
        (remove("pipe/tofino.bin"), "pipe/tofino.bin is missing"),
        (write("pipe/tofino.bin", b""), "pipe/tofino.bin is empty"),
        (write("pipe/tofino.bin", b"{}"), "pipe/tofino.bin is not a binary for a Tofino"),
        (remove("p4info.txt"), "p4info.txt is missing: compile with -o FOLDER --p4runtime-files FOLDER/p4info.txt"),
        (write("p4info.txt", b"tables {"), "p4info.txt: not a P4Info in protobuf text"),
        (edit("p4info.txt", 'arch: "tna"', 'arch: "v1model"'), "p4info.txt is of a program for 'v1model'"),
        (edit("p4info.txt", "pipe.AifoIngress.aifo_params", "pipe.Other.params"), "the driver knows no 'pipe.Other."),
    ],
)
def test_half_a_build_folder_and_files_of_the_wrong_kind_are_one_line_each(
    built: Path, change: Change, wrong: str
) -> None:
    change(built)
    with pytest.raises(SessionError) as caught:
        TofinoProgram(built).pipeline()
    assert wrong in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"nowhere is not a folder; give the output folder"):
        TofinoProgram(tmp_path / "nowhere").pipeline()


CONTROL = ("control", "192.0.2.1:9559", "--rate", "10gbit", "--dry-run")
"""An address of no machine (RFC 5737)."""


def dry_run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, list[str]]:
    """All that is printed, and the kinds of messages."""
    assert run_command([*CONTROL, *words]) == 0
    text = capsys.readouterr().out
    return text, re.findall(r"^# (\w+)$", text, flags=re.MULTILINE)


def test_a_dry_run_prints_what_a_tofino_would_get(built: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_aifo = ("--scheme", "aifo", "--port", "3", "--rank-source", "tos", "--target", "tofino", "--program", str(built))
    text, kinds = dry_run(capsys, *of_aifo)
    loading = kinds.index("SetForwardingPipelineConfigRequest")
    assert "StreamMessageRequest" in kinds[:loading]
    # the mirror session, the parameters in force, the rank source, the port's counters, the law's first parameters
    assert kinds[loading + 1 :] == ["WriteRequest", "ReadRequest", "WriteRequest", "ReadRequest", "WriteRequest"]
    assert "election_id {\n    low: 10\n  }" in text
    assert f"#   pipe: context 24 bytes, binary {len(BINARY)} bytes, pipes 0 1 2 3" in text
    assert "action: VERIFY_AND_COMMIT" in text
    mirror, first, second = re.findall(r"^# WriteRequest\n((?:(?!#).+\n)+)", text, flags=re.MULTILINE)
    assert "packet_length_bytes: 32" in mirror
    assert "# pipe.AifoIngress.ranking.rank_sources" in first
    assert "# pipe.AifoIngress.aifo_params" in second
    for write_ in (first, second):
        assert write_.count("type: MODIFY") == 1
        assert "is_default_action: true" in write_
    assert len(re.findall(r"counter_id: \d+  # pipe\.AifoIngress\.carry_out\.admitted$", text, flags=re.MULTILINE)) == 8


def test_a_dry_run_for_the_other_switches_prints_the_same_way(
    programs: dict[str, Program], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = programs["fdpa"].json.parent
    text, kinds = dry_run(capsys, "--scheme", "fdpa", "--program", str(folder))
    assert kinds[-3:] == ["ReadRequest", "ReadRequest", "WriteRequest"]
    assert f"# p4_device_config: {programs['fdpa'].json.stat().st_size} bytes\n" in text
    assert "  # FdpaIngress.fdpa_params" in text


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--scheme", "fdpa"), "no table fdpa_params in its program, so this is not a program of fdpa"),
        (("--scheme", "aifo", "--port", "1", "--log", "log"), "--log has no effect with --dry-run"),
        (("--scheme", "aifo", "--port", "1", "--reconnect", "1s"), "--reconnect has no effect with --dry-run"),
        (("--scheme", "aifo", "--port", "1", "--window", "17"), "--window = 17 is out of range: 1 to 16 ranks for tna"),
        (("--scheme", "aifo", "--port", "1", "--rank-source", "stfq"), "a Tofino has no ranks of STFQ; use one of"),
    ],
)
def test_a_dry_run_that_makes_no_sense_is_one_line(
    built: Path, words: tuple[str, ...], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([*CONTROL, "--target", "tofino", "--program", str(built), *words]) != 0
    error = capsys.readouterr().err
    assert wrong in error
    assert len(error.splitlines()) == 1
