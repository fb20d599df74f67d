"""Two programs with stacks, unions, lookahead, verify, fields of variable length and clones: the parser over bytes."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compile_program
from p4sched.proofs.engine import Example, by_engine
from p4sched.proofs.exact import Int
from p4sched.proofs.pair import compare
from p4sched.proofs.program import UnmodelledError, read
from p4sched.proofs.step import LENGTH, TIMESTAMP, run

PACKETS = 200
PROGRAM = (Path(__file__).parent / "wire.p4").read_text(encoding="utf-8")
CASES: Mapping[str, tuple[str, str, str]] = {
    "push": (
        "hdr.s.push_front(1); hdr.s[0].setValid(); hdr.s[0].v = 5;",
        "hdr.s[1] = hdr.s[0]; hdr.s[0].setInvalid(); hdr.s[0].setValid(); hdr.s[0].v = 5;",
        "hdr.s[0].setValid(); hdr.s[0].v = 5;",
    ),
    "pop": (
        "hdr.s.pop_front(1);",
        "hdr.s[0] = hdr.s[1]; hdr.s[1].setInvalid();",
        "hdr.s.pop_front(2);",
    ),
    "stack error": (
        "if (s.parser_error == error.StackOutOfBounds) { hdr.h.b = 9; }",
        "if (s.parser_error != error.StackOutOfBounds) {} else { hdr.h.b = 9; }",
        "if (s.parser_error == error.PacketTooShort) { hdr.h.b = 9; }",
    ),
    "verify": (
        "if (s.parser_error == error.Bad) { s.egress_spec = 2; }",
        "if (hdr.h.a == 4 && s.parser_error == error.Bad) { s.egress_spec = 2; }",
        "if (hdr.h.a == 4 && !hdr.o.isValid()) { s.egress_spec = 2; }",
    ),
    "lookahead": (
        "if (hdr.h.a == 5 && hdr.u.two.isValid()) { s.egress_spec = 2; }",
        "if (hdr.h.a == 5 && hdr.u.two.y == 0x102) { s.egress_spec = 2; }",
        "if (hdr.u.two.isValid()) { s.egress_spec = 2; }",
    ),
    "union": (
        "hdr.u.one.setValid(); hdr.u.one.v = 1; hdr.u.one.last = 1;",
        "hdr.u.two.setInvalid(); hdr.u.one.setValid(); hdr.u.one.v = 1; hdr.u.one.last = 1;",
        "if (!hdr.u.two.isValid()) { hdr.u.one.setValid(); hdr.u.one.v = 1; hdr.u.one.last = 1; }",
    ),
    "varbit": (
        "if (hdr.o.isValid()) { hdr.h.b = hdr.o.length; }",
        "if (hdr.o.isValid()) { hdr.h.b = hdr.o.length; hdr.o.length = hdr.h.b; }",
        "if (hdr.o.isValid()) { hdr.o.setInvalid(); }",
    ),
    "clone": (
        "if (hdr.h.b == 1) { m.kept = 3; clone_preserving_field_list(CloneType.I2E, 5, 1); }",
        "m.kept = 3; if (hdr.h.b == 1) { clone_preserving_field_list(CloneType.I2E, 5, 1); }",
        "if (hdr.h.b <= 1) { clone_preserving_field_list(CloneType.I2E, 5, 1); }",
    ),
}
"""Statements; others that mean the same; and wrong ones."""


def compiled(statements: str, folder: Path, name: str) -> Path:
    """A program with these statements as JSON, with its P4Info beside it."""
    source = folder / f"{name}.p4"
    source.write_text(PROGRAM.replace("STATEMENTS", statements), encoding="utf-8")
    return compile_program(source, folder / "built").json


@pytest.mark.parametrize("case", CASES)
def test_two_programs_that_mean_the_same_are_proved_equal(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two, _ = CASES[case]
    pair = [compiled(one, tmp_path, "one"), compiled(two, tmp_path, "two")]
    assert run_command(["prove", *map(str, pair)]) == 0
    assert capsys.readouterr().out == "equal\n"


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_program_gives_a_packet_that_the_engine_confirms(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, _, wrong = CASES[case]
    pair = [compiled(one, tmp_path, "one"), compiled(wrong, tmp_path, "two")]
    script = tmp_path / "trace.stf"
    assert run_command(["prove", *map(str, pair), "--stf", str(script)]) == 1
    assert "the engine agrees: " in capsys.readouterr().out
    assert [run_command(["stf", str(script), "--program", str(json)]) for json in pair] == [0, 1]


TABLE = """
    action to(bit<9> port) { s.egress_spec = port; }
    table routes {
        key = { KEY: exact @name("key"); }
        actions = { to; NoAction; }
    }
    apply {
"""


@pytest.mark.parametrize(("mask", "said"), [("0x0f", "equal"), ("0x1f", "differs")])
def test_a_mask_of_a_key_is_part_of_the_program(
    mask: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = []
    for name, key in {"one": "hdr.h.a & 0x0f", "two": "m.kept"}.items():
        text = PROGRAM.replace(
            "    apply {\n        s.egress_spec", f"{TABLE.replace('KEY', key)}        s.egress_spec"
        )
        source = tmp_path / f"{name}.p4"
        source.write_text(text.replace("STATEMENTS", f"m.kept = hdr.h.a & {mask}; routes.apply();"), encoding="utf-8")
        pair.append(str(compile_program(source, tmp_path / "built").json))
    assert run_command(["prove", *pair, "--packets", "0"]) == int(said != "equal")
    assert said in capsys.readouterr().out


def test_a_parser_without_end_is_one_sentence(tmp_path: Path) -> None:
    json = compiled("", tmp_path, "one")
    text = json.read_text(encoding="utf-8")
    json.write_text(text.replace('"type": "stack",', '"type": "regular",').replace('"value": "s"', '"value": "s[0]"'))
    program = read(json)
    with pytest.raises(UnmodelledError, match="a parser with more than"):
        next(iter(compare(program, program, 5)))


def test_a_parser_with_a_loop_needs_a_limit_of_the_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    looping = PROGRAM.replace("p.extract(hdr.s.next); transition select(hdr.s.last.last)", "LOOP").replace(
        "LOOP", "p.extract(hdr.s[0]); transition select(hdr.s[0].last)"
    )
    pair = []
    statements = (
        "if (hdr.s[0].v == 3) { hdr.h.b = 1; }",
        "if (hdr.s[0].v != 3) {} else { hdr.h.b = 1; }",
        "hdr.h.b = 1;",
    )
    for name, statement in zip(("one", "two", "wrong"), statements, strict=True):
        source = tmp_path / f"{name}.p4"
        source.write_text(looping.replace("STATEMENTS", statement), encoding="utf-8")
        pair.append(str(compile_program(source, tmp_path / "built").json))
    assert run_command(["prove", *pair[:2]]) == 1
    assert "--bytes" in capsys.readouterr().err
    assert run_command(["prove", *pair[:2], "--bytes", "12"]) == 0
    assert capsys.readouterr().out == "equal for packets of up to 12 bytes\n"
    assert run_command(["prove", pair[0], pair[2], "--bytes", "12"]) == 1
    assert "the engine agrees: " in capsys.readouterr().out


def random_packet(source: random.Random) -> Example:
    """A packet that takes one of the parser's ways, or ends on it."""
    kind, size = source.randrange(7), source.randrange(1, 10)
    body = [kind, *(source.choice((0, 1, 2, 3, 4, 5, 8, 255)) for _ in range(size - 1))]
    bytes_of = {f"byte {place}": value for place, value in enumerate(body)}
    return Example(packet={**bytes_of, LENGTH: size, TIMESTAMP: 1000, "standard_metadata.ingress_port": 1})


SHOWS = """
        bit<8> seen = 0;
        if (s.parser_error == error.PacketTooShort) { seen = 0x10; }
        if (s.parser_error == error.StackOutOfBounds) { seen = 0x20; }
        if (s.parser_error == error.Bad) { seen = 0x30; }
        if (hdr.s[0].isValid()) { seen = seen + 1; }
        if (hdr.s[1].isValid()) { seen = seen + 2; }
        if (hdr.u.one.isValid()) { seen = seen + 3; }
        if (hdr.u.two.isValid()) { seen = seen + 4; }
        if (hdr.o.isValid()) { seen = seen + 5; }
        if (hdr.h.b[0:0] == 1) { hdr.s.push_front(1); } else { hdr.s.pop_front(1); }
        if (hdr.h.b[1:1] == 1) { hdr.u.one.setValid(); }
        if (hdr.h.b[2:2] == 1) { hdr.s[0] = hdr.s[1]; hdr.u.two.setInvalid(); }
        bit<8> sum = hdr.s[0].v ++ hdr.s[1].last;
        shown.write(0, (bit<64>) (seen ++ sum ++ hdr.u.two.y ++ hdr.o.length ++ hdr.h.a));
"""


def test_the_step_is_that_of_the_engine(tmp_path: Path) -> None:
    text = PROGRAM.replace(
        "    apply {\n        s.egress_spec", "    register<bit<64>>(1) shown;\n    apply {\n        s.egress_spec"
    )
    source = tmp_path / "one.p4"
    source.write_text(text.replace("STATEMENTS", SHOWS), encoding="utf-8")
    built = compile_program(source, tmp_path / "built")
    program, drawn = read(built.json), random.Random(1)
    packets = [random_packet(drawn) for _ in range(PACKETS)]
    outcomes = by_engine(built.json, built.p4info.read_text(encoding="utf-8"), [], packets, program)
    steps = [run(program, packet) for packet in packets]
    by_step = [step.array("I.shown").cell(Int.of(0)).low for step in steps]
    assert [outcome.changes["I.shown", 0] for outcome in outcomes] == by_step
    assert len(set(by_step)) > PACKETS // 5
    assert len({step.field("standard_metadata.parser_error").low for step in steps}) == 4
