//! Parsers (P4_16 specification, section 13).

use crate::common::switch::{Parts, SMALL, Switch};

fn with_parser(types: &str, parser: &str, apply: &str) -> Switch {
    Parts {
        types,
        parser,
        ingress_apply: &format!("sm.egress_spec = 2; {apply}"),
        ..Parts::small()
    }
    .load()
}

#[test]
fn a_select_over_several_keys_takes_the_first_case_in_which_all_match() {
    let mut switch = with_parser(
        SMALL,
        "state start { p.extract(hdr.h); transition select(hdr.h.a, hdr.h.b, hdr.h.c[3:0]) {
            (1, _, _): first; (2, 8w0xf0 &&& 8w0xf0, _): second; (3, 10 .. 20, default): third; (_, _, 5): fourth; } }
         state first { meta.kept = 1; transition accept; } state second { meta.kept = 2; transition accept; }
         state third { meta.kept = 3; transition accept; } state fourth { meta.kept = 4; transition accept; }",
        "hdr.h.b = meta.kept;",
    );
    let mut kept = |a, b, c| switch.forward(&[a, b, 0, c]).1[1];
    assert_eq!(kept(1, 0xff, 5), 1);
    assert_eq!(kept(2, 0xf3, 5), 2);
    assert_eq!(kept(2, 0x73, 0x75), 4);
    assert_eq!(
        [kept(3, 9, 0), kept(3, 10, 0), kept(3, 20, 0), kept(3, 21, 0)],
        [0, 3, 3, 0]
    );
}

#[test]
fn a_packet_that_is_rejected_or_matches_no_case_goes_on_without_an_error_as_on_bmv2() {
    let apply = "hdr.h.b = meta.kept; if (sm.parser_error == error.NoError) { hdr.h.c = 0; }";
    let states = "state start { p.extract(hdr.h); transition select(hdr.h.a) { 1: reject; 2: more; } }
         state more { meta.kept = 1; transition accept; }";
    let mut switch = with_parser(SMALL, states, apply);
    for a in [1, 3] {
        assert_eq!(switch.forward(&[a, 9, 9, 9]).1, [a, 0, 0, 0]);
    }
}

#[test]
fn a_select_looks_at_values_and_at_what_lies_ahead() {
    let mut switch = with_parser(
        SMALL,
        "state start { transition select(p.lookahead<bit<8>>(), p.lookahead<bit<16>>()[7:0]) {
            (1, 2): skip; default: body; } }
         state skip { p.advance(16); transition body; }
         state body { p.extract(hdr.h); transition select(hdr.h.a + 1) { 0: full; default: accept; } }
         state full { meta.kept = 1; transition accept; }",
        "hdr.h.b = meta.kept;",
    );
    assert_eq!(switch.forward(&[1, 2, 5, 6, 7, 8]).1, [5, 0, 7, 8]);
    assert_eq!(switch.forward(&[1, 3, 7, 8]).1, [1, 0, 7, 8]);
    assert_eq!(switch.forward(&[255, 3, 7, 8]).1, [255, 1, 7, 8]);
}

const OPTIONS: &str = "header h_t { bit<8> a; bit<8> b; bit<16> c; } header o_t { bit<8> length; varbit<64> data; }
    struct headers_t { h_t h; o_t o; } struct meta_t { bit<8> kept; }";

#[test]
fn a_length_may_be_looked_up_ahead_of_the_header_that_has_it() {
    // The first byte of the header is the number of bytes after it.
    let mut switch = Parts {
        types: OPTIONS,
        parser: "state start { p.extract(hdr.o, (bit<32>)p.lookahead<bit<8>>() * 8); p.extract(hdr.h); transition accept; }",
        ingress_apply: "sm.egress_spec = 2; hdr.h.b = 0xbb;",
        deparser: "p.emit(hdr.o); p.emit(hdr.h);",
        ..Parts::default()
    }
    .load();
    assert_eq!(switch.forward(&[2, 8, 9, 1, 2, 3, 4]).1, [2, 8, 9, 1, 0xbb, 3, 4]);
    assert_eq!(switch.forward(&[0, 1, 2, 3, 4]).1, [0, 1, 0xbb, 3, 4]);
}

#[test]
fn a_length_may_be_a_field_of_a_struct_ahead() {
    let mut switch = Parts {
        types: "header h_t { bit<8> a; bit<8> b; bit<16> c; } header tag_t { bit<4> kind; bit<4> words; }
            header o_t { bit<8> first; varbit<256> rest; }
            struct headers_t { h_t h; o_t o; } struct meta_t { bit<8> kept; }",
        parser: "state start { p.extract(hdr.o, (bit<32>)(p.lookahead<tag_t>().words ++ 4w0) << 1); p.extract(hdr.h); transition accept; }",
        ingress_apply: "sm.egress_spec = 2; hdr.h.b = 0xbb;",
        deparser: "p.emit(hdr.o); p.emit(hdr.h);",
        ..Parts::default()
    }
    .load();
    // One word of 32 bits follows the first byte.
    assert_eq!(
        switch.forward(&[0x71, 5, 6, 7, 8, 1, 2, 3, 4]).1,
        [0x71, 5, 6, 7, 8, 1, 0xbb, 3, 4]
    );
}

#[test]
fn advance_skips_as_many_bits_as_a_value_says() {
    let mut switch = with_parser(
        SMALL,
        "state start { bit<8> n = p.lookahead<bit<8>>(); p.advance((bit<32>)n << 3); p.extract(hdr.h); transition accept; }",
        "",
    );
    assert_eq!(switch.forward(&[3, 0, 0, 5, 6, 7, 8]).1, [5, 6, 7, 8]);
}

#[test]
fn a_header_can_be_skipped() {
    let mut switch = with_parser(
        SMALL,
        "state start { p.extract<h_t>(_); p.extract(hdr.h); transition accept; }",
        "",
    );
    assert_eq!(switch.forward(&[9, 9, 9, 9, 5, 6, 7, 8, 1]).1, [5, 6, 7, 8, 1]);
}

#[test]
fn states_count_with_variables_and_decide_with_if() {
    let mut switch = with_parser(
        SMALL,
        "bit<8> left = 2;
         state start { p.extract(hdr.h); if (hdr.h.a == 1) { left = 3; meta.lost = 1; } else { meta.lost = 2; } transition next; }
         state next { p.advance(8); left = left - 1; transition select(left) { 0: accept; default: next; } }",
        "hdr.h.b = meta.lost;",
    );
    assert_eq!(switch.forward(&[1, 0, 0, 0, 1, 2, 3, 4]).1, [1, 1, 0, 0, 4]);
    assert_eq!(switch.forward(&[2, 0, 0, 0, 1, 2, 3, 4]).1, [2, 2, 0, 0, 3, 4]);
    // The variable is initialised again for each packet.
    assert_eq!(switch.forward(&[1, 0, 0, 0, 1, 2, 3, 4]).1, [1, 1, 0, 0, 4]);
}

#[test]
fn a_failed_verify_ends_the_parser_with_its_error() {
    let types = format!("error {{ Odd, Even }} {SMALL}");
    let mut switch = with_parser(
        &types,
        "state start { p.extract(hdr.h); verify(hdr.h.a[0:0] == 0, error.Odd); meta.kept = 1;
            verify(hdr.h.a != 2, error.Even); meta.lost = 1; transition accept; }",
        "hdr.h.b = meta.kept; hdr.h.c[7:0] = meta.lost;
         if (sm.parser_error == error.Odd) { hdr.h.c[15:8] = 1; } else if (sm.parser_error == error.Even) { hdr.h.c[15:8] = 2; }",
    );
    assert_eq!(switch.forward(&[1, 0, 0, 0]).1, [1, 0, 1, 0]);
    assert_eq!(switch.forward(&[2, 0, 0, 0]).1, [2, 1, 2, 0]);
    assert_eq!(switch.forward(&[4, 0, 0, 0]).1, [4, 1, 0, 1]);
}

#[test]
fn a_sub_parser_fills_what_it_is_given_and_returns() {
    let types = format!(
        "{SMALL} parser Body(packet_in p, out h_t h, inout bit<8> sum, in bit<8> limit) {{
            state start {{ p.extract(h); sum = sum + h.a; transition select(h.b) {{ 0: accept; default: again; }} }}
            state again {{ sum = sum + limit; transition accept; }}
        }}"
    );
    let mut switch = with_parser(
        &types,
        "Body() body; state start { meta.kept = 1; body.apply(p, hdr.h, meta.kept, 10); transition second; }
         state second { body.apply(p, hdr.h, meta.kept, 20); transition accept; }",
        "hdr.h.c = (bit<16>)meta.kept;",
    );
    assert_eq!(switch.forward(&[2, 0, 0, 0, 3, 1, 0, 0]).1, [3, 1, 0, 1 + 2 + 3 + 20]);
    assert_eq!(switch.forward(&[2, 1, 0, 0, 3, 0, 0, 0]).1, [3, 0, 0, 1 + 2 + 10 + 3]);
}

#[test]
fn the_last_index_counts_what_was_extracted() {
    let types = "header h_t { bit<8> a; bit<8> b; bit<16> c; } header s_t { bit<8> v; }
        struct headers_t { h_t h; s_t[4] s; } struct meta_t { bit<32> last; }";
    let mut switch = Parts {
        types,
        parser: "state start { p.extract(hdr.s.next); meta.last = hdr.s.lastIndex;
                    transition select(hdr.s.last.v, hdr.s.lastIndex) { (0, _): body; (_, 3): body; default: start; } }
                 state body { p.extract(hdr.h); transition accept; }",
        ingress_apply: "sm.egress_spec = 2; hdr.h.c = (bit<16>)meta.last;",
        deparser: "p.emit(hdr.h);",
        ..Parts::default()
    }
    .load();
    assert_eq!(switch.forward(&[9, 0, 1, 1, 1, 1]).1, [1, 1, 0, 1]);
    assert_eq!(switch.forward(&[9, 9, 9, 9, 1, 1, 1, 1]).1, [1, 1, 0, 3]);
}

#[test]
fn the_controller_fills_a_value_set() {
    let mut switch = with_parser(
        SMALL,
        "value_set<bit<8>>(4) known; state start { p.extract(hdr.h); transition select(hdr.h.a) { known: found; default: accept; } }
         state found { meta.kept = 1; transition accept; }",
        "hdr.h.b = meta.kept;",
    );
    assert_eq!(switch.forward(&[7, 0, 0, 0]).1, [7, 0, 0, 0]);
    let set = switch.pipeline.value_set("P.known").expect("a value set");
    switch
        .pipeline
        .value_set_write(set, &[vec![7]])
        .expect("room for a value");
    assert_eq!(switch.forward(&[7, 0, 0, 0]).1, [7, 1, 0, 0]);
}

#[test]
fn a_header_of_any_length_goes_to_the_next_union_of_a_stack() {
    let mut switch = Parts {
        types: "header long_t { bit<8> length; varbit<64> data; } header short_t { bit<8> length; bit<8> data; }
            header_union either_t { long_t long; short_t short; }
            struct headers_t { either_t[3] u; } struct meta_t { bit<8> kept; }",
        parser: "state start { transition select(p.lookahead<bit<8>>()) { 0: accept; 1: short; default: long; } }
            state short { p.extract(hdr.u.next.short); transition start; }
            state long { p.extract(hdr.u.next.long, (bit<32>)p.lookahead<bit<8>>() * 8); transition start; }",
        ingress_apply: "sm.egress_spec = 2; if (hdr.u[1].long.isValid()) { hdr.u[1].long.length = 9; }",
        deparser: "p.emit(hdr.u);",
        ..Parts::default()
    }
    .load();
    assert_eq!(switch.forward(&[1, 5, 2, 6, 7, 1, 8, 0]).1, [1, 5, 9, 6, 7, 1, 8, 0]);
}
