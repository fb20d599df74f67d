"""Two programs of two compilers: other names of the parts of structs, another order of entries."""

import json
import re
from pathlib import Path

import pytest

from p4sched.cli.main import run_command
from p4sched.p4rt.compile import compile_program

NESTED = """
#include <core.p4>
#include <v1model.p4>
struct pair_t { bit<8> left; bit<8> right; }
header h_t { pair_t pair; }
struct headers_t { h_t h; }
struct inner_t { h_t seen; }
struct metadata_t { inner_t inner; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t m, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); packet.extract(m.inner.seen); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t m) { apply { } }
control I(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        if (m.inner.seen.isValid() && m.inner.seen.pair.left == 3) { hdr.h.pair.RIGHT = m.inner.seen.pair.left; }
    }
}
control E(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t hdr, inout metadata_t m) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""
FLAT = (
    NESTED.replace("{ pair_t pair; }", "{ bit<8> _pair_left0; bit<8> _pair_right1; }")
    .replace("inner_t inner", "h_t _inner_seen0")
    .replace("m.inner.seen", "m._inner_seen0")
    .replace(".pair.left", "._pair_left0")
    .replace(".pair.RIGHT", "._pair_right1")
)


def compiled(text: str, folder: Path, name: str) -> str:
    source = folder / f"{name}.p4"
    source.write_text(text, encoding="utf-8")
    return str(compile_program(source, folder / "built").json)


def test_parts_of_structs_may_have_other_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = [compiled(NESTED.replace("RIGHT", "right"), tmp_path, "nested"), compiled(FLAT, tmp_path, "flat")]
    for both in (pair, pair[::-1]):
        assert run_command(["prove", *both]) == 0
        assert "equal" in capsys.readouterr().out


def test_a_wrong_program_with_other_names_gives_a_packet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = FLAT.replace("hdr.h._pair_right1", "hdr.h._pair_left0")
    pair = [compiled(NESTED.replace("RIGHT", "right"), tmp_path, "nested"), compiled(wrong, tmp_path, "flat")]
    assert run_command(["prove", *pair]) == 1
    said = capsys.readouterr()
    assert "h.pair.left differs for this packet and state" in said.out
    assert "Packet 1 of 1 is the first one that the program decides differently" in said.out
    assert said.err == ""


def test_headers_of_other_sizes_cannot_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = FLAT.replace("bit<8> _pair_right1", "bit<16> _pair_right1").replace("= m._inner_seen0._pair_left0", "= 1")
    pair = [compiled(NESTED.replace("RIGHT", "right"), tmp_path, "nested"), compiled(other, tmp_path, "flat")]
    assert run_command(["prove", *pair]) == 2
    assert "have other headers or registers" in capsys.readouterr().err


TERNARY = """
    action to(bit<9> port) { s.egress_spec = port; }
    table t {
        key = { hdr.h.pair.left: KIND; }
        actions = { to; }
        const default_action = to(4);
        const entries = { ENTRIES }
    }
    apply { t.apply(); } }
"""


@pytest.mark.parametrize(
    ("kind", "entries"),
    [
        ("ternary", "0x10 &&& 0xf0: to(1); 0x11: to(2); 0x01 &&& 0x0f: to(3);"),
        ("lpm", "0x10 &&& 0xf0: to(1); 0x18 &&& 0xf8: to(2); 0x19: to(3);"),
    ],
)
def test_entries_win_by_their_precedence_and_not_by_their_place(
    kind: str, entries: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = TERNARY.replace("KIND", kind).replace("ENTRIES", entries)
    text = re.sub(r"    apply \{\n        s\.egress_spec.*?\n    \}\n\}\n", lambda _: body, NESTED, flags=re.DOTALL)
    one = Path(compiled(text, tmp_path, "one"))
    tree = json.loads(one.read_text(encoding="utf-8"))
    (table,) = [each for each in tree["pipelines"][0]["tables"] if each["name"].endswith(".t")]
    table["entries"].reverse()
    other = tmp_path / "reversed.json"
    other.write_text(json.dumps(tree), encoding="utf-8")
    assert run_command(["prove", str(one), str(other)]) == 0
    assert "equal" in capsys.readouterr().out


CHOSEN_ELEMENT = {
    "op": "dereference_header_stack",
    "left": {"type": "header_stack", "value": "h"},
    "right": {"type": "field", "value": ["h", "index"]},
}
"""An element of a stack whose place is a field, as p4c writes it."""


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ('{"type": "field", "value": ["h", "pair.left"]}', '{"type": "field", "value": [ELEMENT, "v"]}'),
        ('"target": ["h", "pair.left"]', '"target": {"type": "expression", "value": ELEMENT}'),
    ],
)
def test_an_element_that_the_packet_chooses_is_one_sentence(
    written: str, instead: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "table t { key = { hdr.h.pair.left: exact; } actions = { NoAction; } } apply { t.apply();"
    text = NESTED.replace("RIGHT", "right").replace("    apply {\n        s.egress", f"    {table} s.egress")
    built = Path(compiled(text.replace("m.inner.seen.pair.left", "hdr.h.pair.left"), tmp_path, "one"))
    tree = json.dumps(json.loads(built.read_text(encoding="utf-8")))
    assert written in tree
    built.write_text(tree.replace(written, instead.replace("ELEMENT", json.dumps(CHOSEN_ELEMENT))), encoding="utf-8")
    assert run_command(["prove", str(built), str(built)]) == 1
    said = capsys.readouterr().err
    assert "an element of a stack whose place varies is not modelled" in said
    assert "Traceback" not in said
