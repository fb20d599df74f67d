"""Compiling programs: with the compiler that is built, and with p4c where it is installed."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.errors import INTERRUPTED, P4schedError, UsageError
from p4sched.folders.new import new
from p4sched.folders.schemes import forget
from p4sched.p4rt.build_options import macros_of
from p4sched.p4rt.compile import CompileError, Compiler, compile_program, compiled_program
from p4sched.p4rt.target import PROGRAMS, Target
from p4sched.paths import P4_DIR, TOFINO_DIR, rust_binary


@pytest.fixture(params=list(Compiler))
def compiler(request: pytest.FixtureRequest) -> Compiler:
    """Each compiler in turn."""
    which: Compiler = request.param
    if which is Compiler.P4C and not shutil.which("p4c-bm2-ss"):
        pytest.skip("p4c-bm2-ss is not on the PATH")
    if which is Compiler.P4SCHED:
        try:
            rust_binary("p4sched-p4c")
        except P4schedError as error:
            pytest.skip(str(error))
    return which


@pytest.mark.parametrize("name", ["fifo", "fdpa"])
def test_a_program_becomes_bmv2_json_and_p4info(compiler: Compiler, name: str, tmp_path: Path) -> None:
    program = compile_program(P4_DIR / f"{name}.p4", tmp_path / "new" / "out", compiler)
    assert "pipelines" in json.loads(program.json.read_text())
    schema = program.schema()
    assert {table.alias for table in schema.tables} >= {"ipv4_routes", "users_by_prefix", "users_by_flow"}
    assert sorted(path.name for path in program.json.parent.iterdir()) == [f"{name}.json", f"{name}.p4info.txtpb"]


def test_a_program_built_with_macros_has_files_of_its_own(compiler: Compiler, tmp_path: Path) -> None:
    plain = compile_program(P4_DIR / "aifo.p4", tmp_path, compiler)
    worker = compile_program(P4_DIR / "aifo.p4", tmp_path, compiler, ["WORKER_PACKETS"])
    portable = compile_program(P4_DIR / "aifo.p4", tmp_path, compiler, ["PORTABLE_DEPTH"])
    assert [program.json.name for program in (plain, worker, portable)] == [
        "aifo.json",
        "aifo-worker_packets.json",
        "aifo-portable_depth.json",
    ]
    texts = [program.p4info.read_text() for program in (plain, worker, portable)]
    assert ["queue_length_ingress" in text for text in texts] == [False, True, False]
    assert ["@queue_depth" in text for text in texts] == [True, True, False]


def test_the_command_line_defines_macros(
    compiler: Compiler, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "sized.p4"
    source.write_text((P4_DIR / "aifo.p4").read_text().replace("size = MAX_PORTS;", "size = ROOM;"))
    words = ("compile", str(source), "--compiler", str(compiler), "-D", "WORKER_PACKETS", "-D", "ROOM=77")
    assert run_command([*words, "-o", str(tmp_path)]) == 0
    json_path, p4info_path = capsys.readouterr().out.split()
    assert Path(json_path) == tmp_path / "sized-worker_packets-room=77.json"
    p4info = Path(p4info_path).read_text()
    assert "queue_length_ingress" in p4info
    assert "size: 77" in p4info


@pytest.mark.parametrize("text", ["", "=1", "9X", "A B", "A-B=1", "-DX", "ß"])
def test_what_is_no_macro_is_one_line(text: str, refused: Callable[[tuple[str, ...]], str]) -> None:
    message = refused(("compile", str(P4_DIR / "aifo.p4"), "-D", text, "-o", "out"))
    assert f"-D '{text}' is not NAME or NAME=VALUE" in message


@pytest.mark.parametrize("command", ["compile", "stages"])
@pytest.mark.parametrize(
    ("macro", "meant"), [("WORKER_PACKET", "WORKER_PACKETS"), ("worker_packets=1", "WORKER_PACKETS")]
)
def test_a_build_option_that_a_program_of_the_laboratory_does_not_have_is_an_error(
    command: str, macro: str, meant: str, refused: Callable[[tuple[str, ...]], str]
) -> None:
    source = (P4_DIR if command == "compile" else TOFINO_DIR) / "aifo.p4"
    message = refused((command, str(source), "-D", macro, *(("-o", "out") if command == "compile" else ())))
    assert f"no build option of aifo.p4 '{macro.partition('=')[0]}'; did you mean '{meant}'?" in message


@pytest.mark.parametrize(
    "macro", ["_CORE_P4_", "_V1_MODEL_P4_", "V1MODEL_VERSION=20200408", "TAKES_WORKERS", "LENGTH_REPORTS", "MAX_USERS"]
)
def test_guards_and_what_a_program_defines_for_itself_are_no_build_options(
    macro: str, refused: Callable[[tuple[str, ...]], str]
) -> None:
    name = macro.partition("=")[0]
    for source, options in ((P4_DIR, "PORTABLE_DEPTH, WORKER_PACKETS"), (TOFINO_DIR, "WORKER_PACKETS")):
        arch = ("--arch", "tna") if source is TOFINO_DIR else ()
        message = refused(("compile", str(source / "aifo.p4"), *arch, "-D", macro, "-o", "out"))
        other = "did you mean 'WORKER_PACKETS'?" if name == "TAKES_WORKERS" else f"use one of: {options}"
        assert f"no build option of aifo.p4 '{name}'; {other}" in message


@pytest.mark.parametrize(
    ("macro", "suggestion"),
    [("ROM", "; did you mean 'ROOM'?"), ("FEW_PORT", "; did you mean 'FEW_PORTS'?"), ("X", ""), ("_CORE_P4_", "")],
)
def test_a_macro_that_no_line_of_a_program_mentions_is_an_error(macro: str, suggestion: str, tmp_path: Path) -> None:
    source = tmp_path / "own.p4"
    (tmp_path / "sizes.p4").write_text("// ROM X\n#ifdef FEW_PORTS\nconst bit<8> PORTS = 4;\n#endif\n")
    source.write_text('#include <core.p4>\n#include "sizes.p4"\nconst bit<8> SIZE = ROOM; /* FEW_PORT */\n')
    with pytest.raises(UsageError) as refused:
        compile_program(source, tmp_path / "out", macros=["ROOM=7", macro])
    assert str(refused.value) == f"-D {macro}: no line of own.p4 or its includes mentions it{suggestion}"
    # the compiler says what is wrong with an include that is not there
    source.write_text('#include "none.p4"\n')
    with pytest.raises(CompileError, match=r"none\.p4"):
        compile_program(source, tmp_path / "out", macros=[macro])


@pytest.mark.parametrize("target", Target)
def test_the_build_options_of_each_program_are_found_in_its_sources(target: Target) -> None:
    of_target = PROGRAMS[target]
    for source in of_target.folder.glob("*.p4"):
        found = macros_of(source, of_target.includes)
        assert found.complete
        assert ("PORTABLE_DEPTH" in found.options) == (target is Target.V1MODEL)
        assert "WORKER_PACKETS" in found.options


def test_a_syntax_error_says_where_and_leaves_the_outputs_of_before(compiler: Compiler, tmp_path: Path) -> None:
    source = tmp_path / "fifo.p4"
    shutil.copy(P4_DIR / "fifo.p4", source)
    before = compile_program(source, tmp_path / "out", compiler).json.read_bytes()
    source.write_text(source.read_text().replace("apply {", "apply {{;", 1))
    with pytest.raises(CompileError, match=r"fifo\.p4[:(]\d+"):
        compile_program(source, tmp_path / "out", compiler)
    assert (tmp_path / "out" / "fifo.json").read_bytes() == before
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_a_program_that_is_up_to_date_is_not_compiled_again(
    compiler: Compiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = replace(PROGRAMS[Target.V1MODEL], build=tmp_path)
    monkeypatch.setitem(PROGRAMS, Target.V1MODEL, here)
    first = compiled_program("fifo", compiler).json.stat().st_mtime_ns
    assert compiled_program("fifo", compiler).json.stat().st_mtime_ns == first


def test_an_output_folder_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match=r"cannot write to .*file/out"):
        compile_program(P4_DIR / "fifo.p4", tmp_path / "file" / "out")


def test_a_program_that_is_not_there_suggests_one_that_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean '.*fdpa\.p4'"):
        compile_program(tmp_path / "fdpaa.p4", tmp_path)


def test_the_stages_of_a_program_are_printed_with_the_chips_share(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["stages", str(TOFINO_DIR / "fifo.p4")]) == 0
    text = capfd.readouterr().out
    assert "stateful" in text
    assert run_command(["stages", str(TOFINO_DIR / "t2na" / "packs.p4"), "--arch", "t2na"]) == 0


def test_the_programs_of_a_scheduler_are_placed_on_each_chip(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["stages", "aifo"]) == 0
    heads = [line for line in capfd.readouterr().out.splitlines() if "stages of" in line]
    assert ["Tofino 1" in line for line in heads] == [True, False]
    assert run_command(["stages", "aifo", "--arch", "t2na"]) == 0
    assert capfd.readouterr().out.count("stages of") == 1
    own = tmp_path / "own"
    new(own)
    shutil.copy(TOFINO_DIR / "fifo.p4", own / "own.tna.p4")
    description = own / "scheduler.toml"
    description.write_text(
        description.read_text().replace('v1model = "own.p4"', 'v1model = "own.p4"\ntna = "own.tna.p4"')
    )
    assert run_command(["stages", str(own)]) == 0
    assert "own.tna.p4: " in capfd.readouterr().out
    for words, reason in (
        (["pifo"], "pifo: an ideal of the project's own traffic manager, which no Tofino has"),
        (["packs", "--arch", "tna"], "packs: there is no packs.p4 for tna, only for v1model and t2na"),
        ([str(own), "--arch", "t2na"], "scheduler.toml names no program for t2na"),
        (["pack"], "no scheme or program 'pack'; did you mean 'packs'?"),
        ([str(tmp_path)], "has no scheduler.toml"),
    ):
        assert run_command(["stages", *words]) == 2
        assert reason in capfd.readouterr().err
    forget(own)


def test_what_has_no_stages_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_command(["stages", str(P4_DIR / "fifo.p4")]) == 1
    assert "fifo.p4" in capfd.readouterr().err
    assert run_command(["stages", str(P4_DIR / "fifo.p4"), "--arch", "v1model"]) == 2
    assert "v1model has no stages" in capfd.readouterr().err
    assert run_command(["stages", str(tmp_path / "fdpaa.p4")]) == 2


def test_a_program_for_another_architecture_is_refused_with_its_place(tmp_path: Path) -> None:
    for source, target in ((P4_DIR / "fifo.p4", Target.TNA), (TOFINO_DIR / "fifo.p4", Target.V1MODEL)):
        with pytest.raises(CompileError, match=r"fifo\.p4:\d+:\d+"):
            compile_program(source, tmp_path, target=target)
    with pytest.raises(UsageError, match="p4c-bm2-ss supports only v1model, not tna"):
        compile_program(TOFINO_DIR / "fifo.p4", tmp_path, Compiler.P4C, target=Target.TNA)


def test_an_interrupt_that_ends_the_compiler_is_no_error_of_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted = tmp_path / "compiler"
    interrupted.write_text("#!/bin/sh\ntrap - INT\nkill -INT $$\n", encoding="utf-8")
    interrupted.chmod(0o755)
    monkeypatch.setenv("P4SCHED_P4C", str(interrupted))
    assert run_command(["compile", str(P4_DIR / "fifo.p4"), "-o", str(tmp_path)]) == INTERRUPTED
    assert capsys.readouterr().err == "p4sched: interrupted\n"
