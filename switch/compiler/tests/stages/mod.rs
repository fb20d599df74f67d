//! Limits of the chip, and stages of small programs.

mod limits;
mod parsers;
mod placing;
mod stateful;

use p4sched_compiler::{Arch, EmbeddedIncludes, Input, Options, PlacedProgram, place};

/// Marks the place of an expected message, before the wrong text.
pub const HERE: &str = "/*!*/";

/// A Tofino program: declarations and statements of its ingress.
#[derive(Clone, Copy)]
pub struct Program<'a> {
    pub arch: Arch,
    /// Text before `apply`.
    pub declarations: &'a str,
    /// Text of `apply`.
    pub apply: &'a str,
    /// States of the ingress parser, from `parse_h` on.
    pub states: &'a str,
}

impl Program<'_> {
    pub fn source(&self) -> String {
        let Program {
            arch,
            declarations,
            apply,
            states,
        } = self;
        let arch = arch.name();
        format!(
            "#include <core.p4>
#include <{arch}.p4>
header h_t {{ bit<8> a; bit<8> b; bit<16> c; bit<32> d; bit<32> e; bit<48> mac; bit<8> r1; bit<8> r2; }}
struct headers_t {{ h_t h; }}
struct meta_t {{ bit<32> x; bit<32> y; bit<32> z; bit<16> s; bit<16> t; bit<8> n; bit<8> m; bit<1> flag; }}
struct pair_t {{ bit<32> lo; bit<32> hi; }}
struct empty_t {{ }}
parser IP(packet_in p, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t ig_intr_md) {{
    state start {{
        p.extract(ig_intr_md);
        p.advance(PORT_METADATA_SIZE);
        meta = {{ 0, 0, 0, 0, 0, 0, 0, 0 }};
        transition parse_h;
    }}
{states}
}}
control I(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {{
{declarations}
    apply {{
{apply}
    }}
}}
control ID(packet_out p, inout headers_t hdr, in meta_t meta, in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {{
    apply {{ p.emit(hdr); }}
}}
parser EP(packet_in p, out headers_t hdr, out empty_t meta, out egress_intrinsic_metadata_t eg_intr_md) {{
    state start {{ p.extract(eg_intr_md); transition accept; }}
}}
control E(inout headers_t hdr, inout empty_t meta, in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {{
    apply {{ }}
}}
control ED(packet_out p, inout headers_t hdr, in empty_t meta, in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {{
    apply {{ p.emit(hdr); }}
}}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"
        )
    }

    pub fn place(&self) -> PlacedProgram {
        let text = self.source();
        let input = Input {
            name: "test.p4",
            text: &text,
        };
        let options = Options {
            arch: self.arch,
            ..Options::default()
        };
        place(&input, &EmbeddedIncludes, &options)
    }
}

/// A program for an architecture with declarations and statements of ingress.
pub fn program<'a>(arch: Arch, declarations: &'a str, apply: &'a str) -> Program<'a> {
    Program {
        arch,
        declarations,
        apply,
        states: "    state parse_h { p.extract(hdr.h); transition accept; }",
    }
}

/// A register and two RegisterActions on it.
pub const COUNT: &str = "Register<bit<32>, bit<16>>(1024) r;
RegisterAction<bit<32>, bit<16>, bit<32>>(r) up = { void apply(inout bit<32> value, out bit<32> rv) { value = value + 1; rv = value; } };
RegisterAction<bit<32>, bit<16>, bit<32>>(r) down = { void apply(inout bit<32> value, out bit<32> rv) { value = value - 1; rv = value; } };";

/// Messages with their places.
pub fn messages(placed: &PlacedProgram) -> Vec<String> {
    let all = placed.messages.iter();
    let shown = all.map(|d| match &d.position {
        Some(p) => format!("{}:{}:{}: {}", p.file, p.line, p.column, d.message),
        None => d.message.clone(),
    });
    shown.collect()
}

/// Asserts that the program is refused at the mark with one message that begins like this.
#[track_caller]
pub fn refused(program: &Program, message: &str) {
    let source = program.source();
    let at = source.find(HERE).expect("a mark in the program") + HERE.len();
    let line = source[..at].lines().count();
    let column = source[..at].lines().last().unwrap_or("").chars().count() + 1;
    let said = messages(&program.place());
    let expected = format!("test.p4:{line}:{column}: {message}");
    assert!(
        said.len() == 1 && said[0].starts_with(&expected),
        "expected\n{expected}\nbut it says\n{}\nto\n{source}",
        said.join("\n")
    );
    // One sentence states the problem, and one the remedy.
    let sentences = said[0].trim_end_matches('.').matches(". ").count() + 1;
    assert_eq!(sentences, 2, "{}", said[0]);
}

/// Asserts that there are no messages.
#[track_caller]
pub fn fits(program: &Program) {
    let said = messages(&program.place());
    assert!(said.is_empty(), "{}\nto\n{}", said.join("\n"), program.source());
}
