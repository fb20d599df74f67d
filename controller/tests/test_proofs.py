"""Proofs of programs against the rules, and of two programs against each other."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compile_program
from p4sched.paths import P4_DIR
from p4sched.proofs.comparison import has_trace
from p4sched.proofs.program import read
from p4sched.proofs.rules import RULES
from p4sched.proofs.rules.arrival import Arrival
from p4sched.proofs.rules.fifo import Fifo
from p4sched.proofs.rules.scheme import Decision


def changed(folder: Path, program: str, file: str, before: str, after: str) -> Path:
    """A copy of the programs in which one file differs."""
    shutil.copytree(P4_DIR, folder / "p4")
    text = (folder / "p4" / file).read_text(encoding="utf-8")
    assert text.count(before) == 1
    (folder / "p4" / file).write_text(text.replace(before, after), encoding="utf-8")
    return compile_program(folder / "p4" / f"{program}.p4", folder / "built").json


@pytest.mark.parametrize("scheme", ["fifo", "aifo", "rifo"])
def test_a_scheme_is_proved(scheme: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["prove", scheme]) == 0
    assert f"{scheme}: proved" in capsys.readouterr().out


def test_a_solver_without_memory_is_one_sentence() -> None:
    command = "import resource, sys; from p4sched.cli.main import main; sys.argv = ['', 'prove', 'fifo'];"
    command += "resource.setrlimit(resource.RLIMIT_AS, (150_000 << 10, 150_000 << 10)); main()"
    ended = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert "memory" in line


def test_a_queue_that_takes_one_packet_too_many_is_refuted_and_the_engine_agrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = changed(tmp_path, "fifo", "include/queue_length.p4", "length >= (bit<32>) size", "length > (bit<32>) size")
    assert run_command(["prove", "fifo", "--program", str(wrong), "--packets", "0"]) == 1
    said = capsys.readouterr().out
    assert "✗ verdict: false for this packet and state:" in said
    assert "the rule: dropped" in said


@pytest.mark.parametrize("lemma", ["true", "false"])
def test_a_lemma_is_assumed_only_if_it_is_proved(
    lemma: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    decide = Fifo.decide

    def with_lemma(rule: Fifo, packet: Arrival) -> Decision:
        decision = decide(rule, packet)
        return replace(decision, lemmas={lemma: packet.port <= 511 if lemma == "true" else packet.port > 511})

    monkeypatch.setattr(Fifo, "decide", with_lemma)
    wrong = changed(tmp_path, "fifo", "include/queue_length.p4", "length >= (bit<32>) size", "length > (bit<32>) size")
    assert run_command(["prove", "fifo", "--program", str(wrong), "--packets", "0"]) == 1
    assert run_command(["prove", "fifo"]) == 0
    assert "fifo: proved" in capsys.readouterr().out


def test_a_hash_of_another_size_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hashed = "32w0, { FIVE_TUPLE }, (bit<32>) MAX_FLOWS"
    wrong = changed(tmp_path, "rifo", "include/stfq.p4", hashed, hashed.replace("MAX_FLOWS", "(MAX_FLOWS - 1)"))
    assert run_command(["prove", "rifo", "--program", str(wrong), "--packets", "0"]) == 1
    assert "finish_times" in capsys.readouterr().out


def test_all_schemes_with_a_rule_are_proved_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("p4sched.cli.prove.scheme", lambda name, *_: print(name) or 0)
    monkeypatch.setattr("p4sched.cli.prove.in_own_process", lambda work, _: work())
    assert run_command(["prove", "all"]) == 0
    *names, last = capsys.readouterr().out.splitlines()
    own = {"aifo_own", "packs_own", "rifo_own"}
    assert set(names) == {*RULES, *own, "exp_pifo", "fdpa_current", "gearbox", "pifo_tree", "scrr", "sp_pifo_flowlet"}
    assert last == "15 of 15 schemes proved"


def test_a_trace_refutes_a_wrong_mutant_and_not_the_program(tmp_path: Path) -> None:
    wrong = changed(tmp_path, "fifo", "include/queue_length.p4", "length >= (bit<32>) size", "length > (bit<32>) size")
    right = compile_program(P4_DIR / "fifo.p4", tmp_path / "right")
    info = right.p4info.read_text(encoding="utf-8")
    assert [has_trace(read(json), info, Fifo(), 30) for json in (wrong, right.json)] == [True, False]


def test_the_shortest_trace_of_a_wrong_program_is_a_script_that_fails_on_it_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = changed(tmp_path, "rifo", "include/rank_range.p4", "count >= tracking", "count > tracking")
    right = compile_program(P4_DIR / "rifo.p4", tmp_path / "right").json
    script = tmp_path / "trace.stf"
    assert run_command(["prove", "rifo", "--program", str(wrong), "--stf", str(script)]) == 1
    said = capsys.readouterr().out
    assert "Packet 2 of 2 is the first one that the program decides differently." in said
    assert "the engine agrees: " in said
    assert [run_command(["stf", str(script), "--program", str(one)]) for one in (wrong, right)] == [1, 0]


def test_a_rule_that_is_written_in_another_way_is_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = changed(
        tmp_path, "fifo", "include/queue_length.p4", "length >= (bit<32>) size", "!(length < (bit<32>) size)"
    )
    original = compile_program(P4_DIR / "fifo.p4", tmp_path / "original").json
    assert run_command(["prove", str(original), str(other)]) == 0
    assert capsys.readouterr().out == "equal\n"


def test_two_programs_that_differ_give_the_packet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = changed(tmp_path, "fifo", "include/forwarding.p4", "hdr.ipv4.ttl = hdr.ipv4.ttl - 1", "hdr.ipv4.ttl = 9")
    original = compile_program(P4_DIR / "fifo.p4", tmp_path / "original").json
    assert run_command(["prove", str(original), str(other)]) == 1
    assert "ipv4.ttl differs for this packet and state:" in capsys.readouterr().out


TINY = """#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
struct headers_t { h_t h; }
struct meta_t {}
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply {} }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        FIRST
        if (hdr.h.a == 0) { mark_to_drop(s); IF_DROPPED }
        else if (hdr.h.a == 1) { hdr.h.a = 0; hdr.h.b = 0; IF_ZERO }
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"""


@pytest.mark.parametrize(
    ("dropped", "zero", "said"),
    [
        ("s.priority = 3; hdr.h.b = 7;", "", "equal"),
        ("", "hdr.h.b = 7;", "✗ h.b differs"),
        ("", "s.priority = 3;", "✗ standard_metadata.priority differs"),
        ("s.egress_spec = 1;", "", "✗ standard_metadata.egress_spec differs"),
    ],
)
def test_two_programs_differ_in_what_leaves_the_switch(
    dropped: str, zero: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = [tiny(), tiny(dropped=dropped, zero=zero)]
    assert compared(tmp_path, *sources) == int(said != "equal")
    assert said in capsys.readouterr().out


def tiny(first: str = "", dropped: str = "", zero: str = "") -> str:
    return TINY.replace("FIRST", first).replace("IF_DROPPED", dropped).replace("IF_ZERO", zero)


def compared(folder: Path, *sources: str) -> int:
    """Exit code of `p4sched prove` for two programs."""
    compiled = []
    for place, text in enumerate(sources):
        source = folder / f"{place}.p4"
        source.write_text(text, encoding="utf-8")
        compiled.append(str(compile_program(source, folder / str(place)).json))
    return run_command(["prove", *compiled, "--packets", "0"])


EXITS = "if (hdr.h.a == 5) { s.priority = 2; exit; } hdr.h.b = 1;"


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (EXITS, "if (hdr.h.a == 5) { s.priority = 2; } else { hdr.h.b = 1; }", "equal"),
        (EXITS, EXITS.replace("exit; ", ""), "✗ h.b differs"),
        ("h_t kept = hdr.h; hdr.h.b = 1; hdr.h = kept;", "", "equal"),
        ("hdr.h.b = 3; hdr.h.setInvalid();", "hdr.h.setInvalid();", "equal"),
        ("hdr.h.setInvalid();", "", "✗ h.$valid$ differs"),
        (
            "int<8> i = (int<8>) hdr.h.b; hdr.h.b = (bit<8>) (i >> 7);",
            "if (hdr.h.b < 128) { hdr.h.b = 0; } else { hdr.h.b = 255; }",
            "equal",
        ),
    ],
)
def test_two_programs_with_exits_copied_headers_and_signs(
    one: str, two: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(tmp_path, tiny(first=one), tiny(first=two)) == int(said != "equal")
    assert said in capsys.readouterr().out


def test_fields_are_compared_by_their_places_in_a_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    renamed = tiny().replace("bit<8> b;", "bit<8> c;").replace("hdr.h.b", "hdr.h.c")
    assert compared(tmp_path, tiny(), renamed) == 0
    assert capsys.readouterr().out == "equal\n"


MASKED = """state start {
        p.extract(hdr.h);
        transition select(hdr.h.a) { 8w0x06 &&& 8w0x11: one; default: accept; }
    }
    state one { hdr.h.b = 1; transition accept; }"""


def test_a_case_of_the_parser_ignores_bits_that_its_mask_has_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "masked.p4"
    source.write_text(tiny().replace("state start { p.extract(hdr.h); transition accept; }", MASKED), encoding="utf-8")
    compiled = compile_program(source, tmp_path).json
    tree = json.loads(compiled.read_text(encoding="utf-8"))
    (case,) = (
        case
        for state in tree["parsers"][0]["parse_states"]
        for case in state["transitions"]
        if case["mask"] is not None
    )
    assert int(case["value"], 16) == 0
    # as p4c writes it
    case["value"] = "0x06"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(tree), encoding="utf-8")
    assert run_command(["prove", str(compiled), str(other)]) == 0
    assert capsys.readouterr().out == "equal\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nix"], "no rule 'nix'"),
        (["a.json", "b.json"], "cannot read 'a.json'"),
        (["a", "b", "c"], "one scheme, or two programs"),
        (["a", "b", "--limits"], "--program, --limits, --mutants and --conditions take one scheme, not two programs"),
        (
            ["all", "--mutants", "3"],
            "--program, --limits, --mutants and --conditions take one scheme, not two programs",
        ),
        (["fifo", "--program", "none.p4"], "no file 'none.p4'"),
        (["fifo", "rifo"], "'fifo' stands alone; two programs are files of BMv2 JSON"),
        (["all", "--stf", "a.stf"], "--stf takes a trace: not all, laws, --limits"),
        (["fifo", "--limits", "--stf", "a.stf"], "--stf takes a trace: not all, laws, --limits"),
        (["fifo", "--packets", "0", "--stf", "a.stf"], "--stf takes a trace: not all, laws, --limits"),
    ],
)
def test_wrong_usage_is_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(["prove", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("part", "key"),
    [("tables", "base_default_next"), ("tables", "default_entry"), ("actions", "primitives"), ("order", "")],
)
def test_json_that_lacks_a_part_is_one_sentence(
    part: str, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = compile_program(P4_DIR / "fifo.p4", tmp_path).json
    tree = json.loads(right.read_text(encoding="utf-8"))
    if part == "order":
        tree["deparsers"][0]["order"].append("none")
    else:
        for one in tree["actions"] if part == "actions" else tree["pipelines"][0]["tables"]:
            del one[key]
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps(tree), encoding="utf-8")
    assert run_command(["prove", str(right), str(damaged)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("p4sched: damaged: its JSON lacks a part, or has a wrong one")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe", "not a P4Info"),
        (b"none {", "not a P4Info"),
        (b'pkg_info { arch: "v1model" }', "it has no action 'FifoIngress.set_depth'"),
    ],
)
def test_a_p4info_of_something_else_is_one_sentence(
    content: bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built = compile_program(P4_DIR / "fifo.p4", tmp_path)
    built.p4info.write_bytes(content)
    assert run_command(["prove", "fifo", "--program", str(built.json)]) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_trace_tells_the_field_that_matters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = changed(
        tmp_path,
        "fifo",
        "fifo.p4",
        "fifo_params.apply();",
        "if (hdr.ipv4.ttl == 17) { standard_metadata.egress_spec = 3; } fifo_params.apply();",
    )
    assert run_command(["prove", "fifo", "--program", str(wrong)]) == 1
    assert "ipv4.ttl 18, 64 bytes" in capsys.readouterr().out


def test_a_script_that_fails_on_both_programs_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = (compile_program(P4_DIR / f"{name}.p4", tmp_path).json for name in ("fifo", "rifo"))
    script = tmp_path / "trace.stf"
    assert run_command(["prove", str(one), str(two), "--stf", str(script)]) == 1
    assert "was not written: it would fail on fifo, too" in capsys.readouterr().err
    assert not script.exists()


def test_an_error_shows_a_source_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "wrong.p4"
    source.write_text("root:x:0\n", encoding="utf-8")
    assert run_command(["prove", "fifo", "--program", str(source)]) == 1
    assert "root:x:0" in capsys.readouterr().err


def test_a_program_that_draws_a_random_number_is_refuted_without_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draws = "bit<32> drawn; random(drawn, 32w0, 32w9); if (drawn == 3) { mark_to_drop(standard_metadata); }"
    wrong = changed(tmp_path, "fifo", "fifo.p4", "fifo_params.apply();", f"fifo_params.apply(); {draws}")
    assert run_command(["prove", "fifo", "--program", str(wrong)]) == 1
    said = capsys.readouterr().out
    assert "verdict: false for this packet and state:" in said
    assert "no trace was looked for: a random number" in said
