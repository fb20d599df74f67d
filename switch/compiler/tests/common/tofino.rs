//! A Tofino program around the parts under test.
#![allow(dead_code)]

use p4sched_compiler::{Arch, Compiled, EmbeddedIncludes, Input, Options, compile};

use super::switch::Switch;

/// The parts of a program; by default it forwards packets to port 2. The header `h` has the fields `a` and `b` of 8
/// bits, and `c` of 16 bits.
#[derive(Clone, Copy)]
pub struct Chip<'a> {
    pub arch: Arch,
    /// Types, constants and registers before the parser.
    pub types: &'a str,
    /// Fields of the user metadata of ingress.
    pub metadata: &'a str,
    /// Declarations of the ingress parser.
    pub parser_locals: &'a str,
    /// States of the ingress parser from `frame` on, after the chip's own headers.
    pub parser: &'a str,
    pub ingress: &'a str,
    pub ingress_apply: &'a str,
    /// Declarations of the ingress deparser, and its statements before it emits.
    pub deparser_locals: &'a str,
    pub deparser: &'a str,
    pub egress: &'a str,
    pub egress_apply: &'a str,
    pub egress_deparser_locals: &'a str,
    pub egress_deparser: &'a str,
    /// Body of a ghost control; only T2NA has one.
    pub ghost: &'a str,
}

/// The state of a parser that extracts the only header.
pub const PLAIN: &str = "state frame { p.extract(hdr.h); transition accept; }";

impl Default for Chip<'_> {
    fn default() -> Self {
        Chip {
            arch: Arch::Tna,
            types: "",
            metadata: "bit<8> unused;",
            parser_locals: "",
            parser: PLAIN,
            ingress: "",
            ingress_apply: "",
            deparser_locals: "",
            deparser: "",
            egress: "",
            egress_apply: "",
            egress_deparser_locals: "",
            egress_deparser: "",
            ghost: "",
        }
    }
}

impl Chip<'_> {
    pub fn source(&self) -> String {
        let Chip {
            types,
            metadata,
            parser_locals,
            parser,
            ingress,
            ingress_apply,
            deparser_locals,
            deparser,
            egress,
            egress_apply,
            egress_deparser_locals,
            egress_deparser,
            ghost,
            ..
        } = self;
        let name = self.arch.name();
        let (ghost, last, also) = if ghost.is_empty() {
            (String::new(), "", "")
        } else {
            let control = format!("control G(in ghost_intrinsic_metadata_t gh) {{ {ghost} }}");
            (control, ", G()", ", in ghost_intrinsic_metadata_t gh")
        };
        format!(
            "#include <core.p4>
#include <{name}.p4>
header h_t {{ bit<8> a; bit<8> b; bit<16> c; }}
struct headers_t {{ h_t h; }}
struct empty_t {{}}
{types}
struct meta_t {{ {metadata} }}
parser IP(packet_in p, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t ig) {{
    {parser_locals}
    state start {{ p.extract(ig); p.advance(PORT_METADATA_SIZE); transition frame; }}
    {parser}
}}
control I(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t from, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm{also}) {{
    {ingress}
    apply {{ tm.ucast_egress_port = 2; {ingress_apply} }}
}}
control ID(packet_out p, inout headers_t hdr, in meta_t meta, in ingress_intrinsic_metadata_for_deparser_t dprsr) {{
    {deparser_locals}
    apply {{ {deparser} p.emit(hdr); }}
}}
parser EP(packet_in p, out headers_t hdr, out empty_t meta, out egress_intrinsic_metadata_t eg) {{
    state start {{ p.extract(eg); p.extract(hdr.h); transition accept; }}
}}
control E(inout headers_t hdr, inout empty_t meta, in egress_intrinsic_metadata_t eg,
          in egress_intrinsic_metadata_from_parser_t from, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {{
    {egress}
    apply {{ {egress_apply} }}
}}
control ED(packet_out p, inout headers_t hdr, in empty_t meta, in egress_intrinsic_metadata_for_deparser_t dprsr) {{
    {egress_deparser_locals}
    apply {{ {egress_deparser} p.emit(hdr); }}
}}
{ghost}
Pipeline(IP(), I(), ID(), EP(), E(), ED(){last}) pipe;
Switch(pipe) main;
"
        )
    }

    pub fn compiled(&self) -> Compiled {
        let text = self.source();
        compiled_for(self.arch, &text)
    }

    pub fn load(&self) -> Switch {
        Switch::new(&self.compiled().json)
    }

    /// All messages of the compiler, one per line.
    pub fn messages(&self) -> String {
        messages_for(self.arch, &self.source())
    }
}

/// Compiles a correct program for an architecture.
pub fn compiled_for(arch: Arch, text: &str) -> Compiled {
    let (input, options) = input(arch, text);
    match compile(&input, &EmbeddedIncludes, &options) {
        Ok(compiled) => compiled,
        Err(diagnostics) => panic!("{diagnostics}\n{text}"),
    }
}

pub fn messages_for(arch: Arch, text: &str) -> String {
    let (input, options) = input(arch, text);
    let list = match compile(&input, &EmbeddedIncludes, &options) {
        Ok(compiled) => compiled.warnings,
        Err(diagnostics) => diagnostics,
    };
    list.iter().map(|d| format!("{}\n", d.message)).collect()
}

fn input(arch: Arch, text: &str) -> (Input<'_>, Options) {
    let options = Options {
        arch,
        ..Options::default()
    };
    (Input { name: "test.p4", text }, options)
}
