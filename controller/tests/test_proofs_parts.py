"""Two programs with value sets, selectors, digests, resubmission, random numbers and elements that a field chooses."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compile_program
from p4sched.proofs.engine import Example, by_engine
from p4sched.proofs.exact import Int
from p4sched.proofs.program import read
from p4sched.proofs.step import LENGTH, TIMESTAMP, run

PACKETS = 200
PROGRAM = (Path(__file__).parent / "parts.p4").read_text(encoding="utf-8")
PARSED = "known: stack; 6: unions; 5: skip; 8: union; 9: options;"
"""Transitions of the parser."""
Case = tuple[str, str, str, str]
CASES: Mapping[str, Case] = {
    "selector": (
        "m.seen = hdr.h.b; chosen.apply();",
        "if (hdr.h.b != 0) { m.seen = hdr.h.b; } chosen.apply();",
        "m.seen = hdr.h.b & 3; chosen.apply();",
        "standard_metadata.egress_spec",
    ),
    "digest": (
        "if (hdr.h.a == 3) { digest<news_t>(1, { hdr.h.a, hdr.h.b }); }",
        "if (hdr.h.a == 3) { digest<news_t>(1, { 3, hdr.h.b }); } hdr.h.b = hdr.h.b + 0;",
        "if (hdr.h.a == 3) { digest<news_t>(1, { hdr.h.b, hdr.h.b }); }",
        "digest",
    ),
    "digest of a dropped packet": (
        "digest<news_t>(1, { hdr.h.a, 1 }); mark_to_drop(s);",
        "mark_to_drop(s); digest<news_t>(1, { hdr.h.a, 1 });",
        "mark_to_drop(s);",
        "digest",
    ),
    "resubmission": (
        "if (hdr.h.a == 3) { m.kept = 1; resubmit_preserving_field_list(1); s.egress_spec = 2; }",
        "m.kept = 1; if (hdr.h.a == 3) { resubmit_preserving_field_list(1); }",
        "m.kept = hdr.h.b; if (hdr.h.a == 3) { resubmit_preserving_field_list(1); }",
        "resubmission",
    ),
    "second pass": (
        "if (s.instance_type == 6) { s.egress_spec = (bit<9>) m.kept; } else { m.kept = 1; "
        "resubmit_preserving_field_list(1); }",
        "if (s.instance_type == 6) { s.egress_spec = 0; s.egress_spec[7:0] = m.kept; } else { m.kept = 1; "
        "resubmit_preserving_field_list(1); }",
        "if (s.instance_type == 6) { s.egress_spec = 1; } else { m.kept = 1; resubmit_preserving_field_list(1); }",
        "standard_metadata.egress_spec",
    ),
    "meter": (
        "paced.apply(); if (m.seen == 2) { s.egress_spec = 2; }",
        "paced.apply(); if (m.seen > 1) { s.egress_spec = 2; }",
        "paced.apply(); if (m.seen != 0) { s.egress_spec = 2; }",
        "standard_metadata.egress_spec",
    ),
    "lookup": (
        "paced.apply(); m.seen = 0;",
        "hdr.h.b = hdr.h.b + 1; paced.apply(); hdr.h.b = hdr.h.b - 1; m.seen = 0;",
        "if (hdr.h.b == 1) { paced.apply(); } m.seen = 0;",
        "lookup in I.paced",
    ),
    "random": (
        "random(m.seen, 0, 7); random(hdr.h.b, 1, m.seen);",
        "bit<8> x; random(x, 0, 7); if (hdr.h.a == 1) { random(hdr.h.b, 1, x); } else { random(hdr.h.b, 1, x); }",
        "random(m.seen, 0, 7); random(hdr.h.b, 1, 7);",
        "h.b",
    ),
}
"""Statements; others that mean the same; wrong ones; and what they differ in."""
CONFIRMED: Mapping[str, Case] = {
    "hash": (
        "hash(m.seen, HashAlgorithm.crc32, 8w1, { hdr.h.b, 8w3 }, hdr.h.a); s.egress_spec = (bit<9>) m.seen;",
        "m.seen = 3; hash(m.seen, HashAlgorithm.crc32, 8w1, { hdr.h.b, m.seen }, hdr.h.a); "
        "s.egress_spec = (bit<9>) m.seen;",
        "hash(m.seen, HashAlgorithm.crc32, 8w1, { hdr.h.b, 8w3 }, 8w9); s.egress_spec = (bit<9>) m.seen;",
        "standard_metadata.egress_spec",
    ),
    "saturation": (
        "m.number = (int<8>) hdr.h.a |+| (int<8>) hdr.h.b; hdr.h.a = (bit<8>) m.number;",
        "m.number = (int<8>) hdr.h.b |+| (int<8>) hdr.h.a; hdr.h.a = (bit<8>) m.number;",
        "m.number = (int<8>) hdr.h.a + (int<8>) hdr.h.b; hdr.h.a = (bit<8>) m.number;",
        "h.a",
    ),
    "loop": (
        "for (bit<8> i = 1; i < 4; i = i + 1) { hdr.h.b = hdr.h.b + i; }",
        "hdr.h.b = hdr.h.b + 6;",
        "hdr.h.b = hdr.h.b + 5;",
        "h.b",
    ),
    "swap of options": (
        "varbit<16> x = hdr.o.data; hdr.o.data = hdr.p.data; hdr.p.data = x;",
        "varbit<16> y = hdr.p.data; hdr.p.data = hdr.o.data; hdr.o.data = y;",
        "hdr.o.data = hdr.p.data; hdr.p.data = hdr.o.data;",
        "p.data",
    ),
    "moved unions": (
        "hdr.u.push_front(1); if (hdr.u[1].one.isValid()) { s.egress_spec = 2; }",
        "hdr.u[1] = hdr.u[0]; hdr.u[0].one.setInvalid(); hdr.u[0].two.setInvalid(); "
        "if (hdr.u[1].one.isValid()) { s.egress_spec = 2; }",
        "hdr.u.push_front(1); if (hdr.u[1].two.isValid()) { s.egress_spec = 2; }",
        "standard_metadata.egress_spec",
    ),
    "stack of unions": (
        "if (hdr.h.a == 8) { hdr.u[1].one.setValid(); hdr.u[1].one.v = 3; s.egress_spec[1:0] = hdr.u[1].one.v[1:0]; }",
        "if (hdr.h.a == 8) { s.egress_spec = 3; hdr.u[1].two.setInvalid(); hdr.u[1].one.setValid(); "
        "hdr.u[1].one.v = 3; }",
        "if (hdr.h.a == 8) { hdr.u[0].one.setValid(); hdr.u[0].one.v = 3; s.egress_spec[1:0] = hdr.u[1].one.v[1:0]; }",
        "standard_metadata.egress_spec",
    ),
}
"""The same, where a trace on the engine shows the difference."""


def compiled(statements: str, folder: Path, name: str, cases: str = PARSED) -> Path:
    source = folder / f"{name}.p4"
    source.write_text(PROGRAM.replace("STATEMENTS", statements).replace("CASES", cases), encoding="utf-8")
    return compile_program(source, folder / "built").json


def changed(path: Path, name: str, change: Any) -> Path:
    """A program with another JSON. `change`: gets each dict, and gives another one or None."""

    def of(part: Any) -> Any:
        if isinstance(part, list):
            return [of(one) for one in part]
        if not isinstance(part, dict):
            return part
        instead = change(part)
        return {key: of(value) for key, value in part.items()} if instead is None else instead

    other = path.with_name(f"{name}.json")
    other.write_text(json.dumps(of(json.loads(path.read_text(encoding="utf-8")))), encoding="utf-8")
    return other


@pytest.mark.parametrize("case", [*CASES, *CONFIRMED])
def test_two_programs_that_mean_the_same_are_proved_equal(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two, *_ = {**CASES, **CONFIRMED}[case]
    pair = [compiled(one, tmp_path, "one"), compiled(two, tmp_path, "two")]
    assert run_command(["prove", *map(str, pair)]) == 0
    assert capsys.readouterr().out == "equal\n"


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_program_is_told_apart(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, _, wrong, claim = CASES[case]
    pair = [compiled(one, tmp_path, "one"), compiled(wrong, tmp_path, "two")]
    assert run_command(["prove", *map(str, pair), "--packets", "1"]) == 1
    said = capsys.readouterr()
    assert f"✗ {claim} differs for this packet and state" in said.out
    assert said.err == ""


@pytest.mark.parametrize("case", CONFIRMED)
def test_a_wrong_program_gives_a_packet_that_the_engine_confirms(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, _, wrong, claim = CONFIRMED[case]
    pair = [compiled(one, tmp_path, "one"), compiled(wrong, tmp_path, "two")]
    script = tmp_path / "trace.stf"
    assert run_command(["prove", *map(str, pair), "--stf", str(script)]) == 1
    said = capsys.readouterr().out
    assert f"✗ {claim} differs for this packet and state" in said
    assert "the engine agrees: " in said
    assert [run_command(["stf", str(script), "--program", str(one)]) for one in pair] == [0, 1]


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ("known: stack; 7: accept; 6: unions; 5: skip; 8: union; 9: options;", "equal"),
        ("7: accept; known: stack; 6: unions; 5: skip; 8: union; 9: options;", "P.known: 0x7"),
        ("known: stack; 6: unions; 5: times; 8: union; 9: options;", "equal"),
        ("known: stack; 6: unions; 5: wrong; 8: union; 9: options;", "the engine agrees"),
        ("known: stack; 7: stack; 6: unions; 5: skip; 8: union; 9: options;", "the engine agrees"),
    ],
)
def test_a_value_set_has_any_members_and_an_advance_any_bytes(
    cases: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    statement = "if (hdr.s[0].isValid()) { s.egress_spec = 1w0 ++ hdr.s[0].v; }"
    pair = [compiled(statement, tmp_path, "one"), compiled(statement, tmp_path, "two", cases)]
    assert run_command(["prove", *map(str, pair)]) == int(said != "equal")
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(("name", "other", "is_same"), [("digest_0", "tuple_7", True), ("news_t", "olds_t", False)])
def test_only_a_digest_of_a_tuple_may_have_another_name(
    name: str, other: str, is_same: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = "<news_t>" if name == "news_t" else ""
    one = compiled(f"digest{kind}(1, {{ hdr.h.a, hdr.h.b }});", tmp_path, "one")
    two = changed(
        one, "two", lambda part: {**part, "name": other} if part.get("name") == name and "elements" in part else None
    )
    assert run_command(["prove", str(one), str(two), "--packets", "0"]) == int(not is_same)
    assert ("equal" if is_same else "digest differs") in capsys.readouterr().out


def element(part: Mapping[str, Any], index: str) -> Mapping[str, Any] | None:
    """In place of a field of `s[0]`: a field of the element that a field of `h` chooses, as p4c writes it."""
    if part != {"type": "field", "value": ["s[0]", "v"]}:
        return None
    stack, place = {"type": "header_stack", "value": "s"}, {"type": "field", "value": ["h", index]}
    chosen = {"type": "expression", "value": {"op": "dereference_header_stack", "left": stack, "right": place}}
    return {"type": "expression", "value": {"op": "access_field", "left": chosen, "right": 0}}


def header(part: Mapping[str, Any], index: str) -> Mapping[str, Any] | None:
    """The same, in place of the header `s[0]` itself."""
    if part != {"type": "header", "value": "s[0]"}:
        return None
    stack, place = {"type": "header_stack", "value": "s"}, {"type": "field", "value": ["h", index]}
    return {"type": "expression", "value": {"op": "dereference_header_stack", "left": stack, "right": place}}


PARSED_STACK = "known: accept; 0: stack; 1: stack; 2: stack; 3: skip;"
INDEXED = {
    "read": ("hdr.h.b = hdr.s[INDEX].v;", element),
    "write": ("hdr.s[INDEX].v = hdr.h.a;", element),
    "invalid": ("hdr.s[INDEX].setInvalid(); if (hdr.s[1].isValid()) { s.egress_spec = 2; }", header),
    "valid": (
        "hdr.s[1].setInvalid(); hdr.s[INDEX].setValid(); if (hdr.s[1].isValid()) { s.egress_spec = 2; }",
        header,
    ),
}


@pytest.mark.parametrize("case", INDEXED)
@pytest.mark.parametrize(("index", "is_same"), [("a", True), ("b", False)])
def test_an_element_that_a_field_chooses_is_one_of_the_stack(
    case: str, index: str, is_same: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    statement, change = INDEXED[case]
    one = compiled(statement.replace("INDEX", "hdr.h.a"), tmp_path, "one", PARSED_STACK)
    plain = compiled(statement.replace("INDEX", "0"), tmp_path, "plain", PARSED_STACK)
    two = changed(plain, "two", lambda part: change(part, index))
    assert two.read_text(encoding="utf-8") != json.dumps(json.loads(plain.read_text(encoding="utf-8")))
    assert run_command(["prove", str(one), str(two)]) == int(not is_same)
    assert ("equal" if is_same else "the engine agrees: ") in capsys.readouterr().out


def test_beyond_a_stack_a_read_is_anything_and_a_write_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """P4_16, "Operations on header stacks"."""
    statements = {
        "read": "if (hdr.h.a == 2) { hdr.h.b = OTHER; } else { hdr.h.b = hdr.s[0].v; }",
        "write": "if (hdr.h.a == 2) { hdr.h.b = OTHER; } else { hdr.s[0].v = 1; }",
    }
    for case, text in statements.items():
        one = compiled(text.replace("OTHER", "hdr.h.b"), tmp_path, "one", PARSED_STACK)
        indexed = changed(one, "indexed", lambda part: element(part, "a"))
        for body, code in ((f"{text.replace('OTHER', '7')}", 1), (text.replace("OTHER", "hdr.h.b"), 0)):
            other = changed(compiled(body, tmp_path, "other", PARSED_STACK), "two", lambda part: element(part, "a"))
            assert run_command(["prove", str(indexed), str(other), "--packets", "0"]) == code, case
    capsys.readouterr()


@pytest.mark.parametrize(
    ("statement", "said"), [("cells.read(m.seen, 0);", "equal"), ("cells.write(0, 1);", "I.cells")]
)
def test_a_register_that_only_one_program_has_must_not_change(
    statement: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = compiled("", tmp_path, "one")
    text = PROGRAM.replace(
        "    apply {\n        s.egress", "    register<bit<8>>(4) cells;\n    apply {\n        s.egress"
    )
    source = tmp_path / "two.p4"
    source.write_text(text.replace("STATEMENTS", statement).replace("CASES", PARSED), encoding="utf-8")
    other = compile_program(source, tmp_path / "built").json
    for pair in ((plain, other), (other, plain)):
        assert run_command(["prove", *map(str, pair), "--packets", "0"]) == int(said != "equal")
        assert said in capsys.readouterr().out


def random_packet(source: random.Random) -> Example:
    kind, size = source.randrange(4), source.randrange(1, 6)
    body = [kind, *(source.choice((0, 1, 2, 3, 200, 255)) for _ in range(size - 1))]
    bytes_of = {f"byte {place}": value for place, value in enumerate(body)}
    return Example(packet={**bytes_of, LENGTH: size, TIMESTAMP: 1000, "standard_metadata.ingress_port": 1})


SHOWS = """
        hdr.s[0].v = hdr.h.a + 1;
        if (hdr.h.b[0:0] == 1) { hdr.s[0].setInvalid(); } else { hdr.s[1] = hdr.s[0]; }
        for (bit<8> i = 0; i < 3; i = i + 1) { m.seen = m.seen + hdr.s[0].v; }
        m.number = (int<8>) hdr.h.b |-| (int<8>) hdr.s[1].v;
        bit<16> hashed;
        hash(hashed, HashAlgorithm.crc32, 16w1, { hdr.h.b, 8w3 }, hdr.h.b);
        bit<8> valid = 0;
        if (hdr.s[0].isValid()) { valid = valid + 1; }
        if (hdr.s[1].isValid()) { valid = valid + 2; }
        shown.write(0, hdr.s[0].v ++ hdr.s[1].v ++ m.seen ++ (bit<8>) m.number ++ hashed ++ valid);
"""


def test_the_step_is_that_of_the_engine(tmp_path: Path) -> None:
    text = PROGRAM.replace(
        "    apply {\n        s.egress", "    register<bit<56>>(1) shown;\n    apply {\n        s.egress"
    )
    source = tmp_path / "one.p4"
    source.write_text(text.replace("STATEMENTS", SHOWS).replace("CASES", PARSED_STACK), encoding="utf-8")
    built = compile_program(source, tmp_path / "built")
    indexed = changed(built.json, "indexed", lambda part: element(part, "a") or header(part, "a"))
    program, drawn = read(indexed), random.Random(1)
    packets = [random_packet(drawn) for _ in range(PACKETS)]
    outcomes = by_engine(indexed, built.p4info.read_text(encoding="utf-8"), [], packets, program)
    by_step = [run(program, packet).array("I.shown").cell(Int.of(0)).low for packet in packets]
    assert [outcome.changes["I.shown", 0] for outcome in outcomes] == by_step
    assert len(set(by_step)) > PACKETS // 5
