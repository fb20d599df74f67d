//! The compiler's messages on wrong Tofino programs.

use p4sched_compiler::Arch;

use super::messages_for;

/// A program for Tofino 1 with these declarations in the ingress control, and this body.
fn program(declarations: &str, apply: &str) -> String {
    format!(
        "#include <tna.p4>
header h_t {{ bit<8> a; bit<8> b; bit<16> c; }}
struct headers_t {{ h_t h; }}
struct meta_t {{ bit<8> kept; }}
struct pair_t {{ bit<16> first; bit<16> second; }}
parser IP(packet_in p, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intr) {{
    state start {{ p.extract(intr); p.advance(PORT_METADATA_SIZE); p.extract(hdr.h); transition accept; }} }}
control I(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {{
{declarations}
apply {{ {apply} }} }}
control ID(packet_out p, inout headers_t hdr, in meta_t meta) {{ apply {{ p.emit(hdr); }} }}
parser EP(packet_in p, out headers_t hdr, out meta_t meta, out egress_intrinsic_metadata_t intr) {{
    state start {{ p.extract(intr); p.extract(hdr.h); transition accept; }} }}
control E(inout headers_t hdr, inout meta_t meta) {{ apply {{}} }}
control ED(packet_out p, inout headers_t hdr, in meta_t meta) {{ apply {{ p.emit(hdr); }} }}
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
"
    )
}

/// Checks the messages with their places.
#[track_caller]
fn says(arch: Arch, text: &str, expected: &[&str]) {
    let said = messages_for(arch, text);
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "to\n{text}");
}

/// Checks the messages on declarations of the ingress control, which start at line 11.
#[track_caller]
fn ingress_says(declarations: &str, expected: &[&str]) {
    says(Arch::Tna, &program(declarations, ""), expected);
}

#[test]
fn a_program_for_another_architecture() {
    says(
        Arch::V1model,
        &program("", ""),
        &["1:10: this program is written for tna; it is compiled with --arch tna, not v1model"],
    );
    says(
        Arch::T2na,
        &program("", ""),
        &["1:10: this program is written for tna; it is compiled with --arch tna, not t2na"],
    );
    says(
        Arch::Tna,
        "#include <core.p4>\n#include <v1model.p4>\n",
        &["2:10: this program is written for v1model; it is compiled with --arch v1model, not tna"],
    );
    says(
        Arch::V1model,
        "#include <t2na.p4>\n",
        &["1:10: this program is written for t2na; it is compiled with --arch t2na, not v1model"],
    );
}

#[test]
fn a_missing_include() {
    says(
        Arch::Tna,
        "#include <core.p4>\nRegister<bit<8>, _>(4) r;\n",
        &["2:1: no type 'Register' is declared here"],
    );
    says(
        Arch::Tna,
        "struct s_t { Register<bit<8>, _> r; }\n",
        &["1:14: no type 'Register' is declared here"],
    );
}

#[test]
fn an_unknown_extern_or_method() {
    ingress_says(
        "Regster<bit<8>, bit<8>>(4) r;",
        &["11:1: no type 'Regster' is declared here; did you mean 'Register'?"],
    );
    says(
        Arch::Tna,
        &program(
            "Hash<bit<8>>(HashAlgorithm_t.CRC8) hash;",
            "hdr.h.a = hash.gett({ hdr.h.b });",
        ),
        &["12:24: no method 'gett' in extern Hash; did you mean 'get'?"],
    );
}

#[test]
fn the_body_of_an_abstract_method() {
    let action = |methods: &str| {
        format!("Register<bit<8>, bit<8>>(4) r; RegisterAction<bit<8>, bit<8>, bit<8>>(r)\naction = {{ {methods} }};")
    };
    ingress_says(
        "Register<bit<8>, bit<8>>(4) r;\nRegisterAction<bit<8>, bit<8>, bit<8>>(r) change;",
        &[
            "12:43: RegisterAction needs the body of 'apply': = { void apply(inout bit<8> value, out bit<8> rv) { ... } };",
        ],
    );
    ingress_says(
        &action("").replace("action =", "change ="),
        &[
            "12:1: RegisterAction needs the body of 'apply': = { void apply(inout bit<8> value, out bit<8> rv) { ... } };",
        ],
    );
    let change = |methods: &str| action(methods).replace("action =", "change =");
    ingress_says(
        &change("void aply(inout bit<8> value) {} void apply(inout bit<8> value) {}"),
        &["12:17: no abstract method 'aply' in extern RegisterAction; did you mean 'apply'?"],
    );
    ingress_says(
        &change("void apply(inout bit<8> value) {} void apply(inout bit<8> value) {}"),
        &["12:51: the method 'apply' is given twice"],
    );
    let wanted = "'apply' must be declared as void apply(inout bit<8> value, out bit<8> rv); the last parameter may be \
                  left out";
    for head in [
        "void apply(inout bit<16> value)",
        "void apply(in bit<8> value)",
        "void apply(inout bit<8> value, inout bit<8> rv)",
        "void apply(inout bit<8> value, out bit<16> rv)",
        "void apply(inout bit<8> value, out bit<8> rv, out bit<8> more)",
        "void apply()",
        "bit<8> apply(inout bit<8> value)",
    ] {
        let body = if head.starts_with("bit") {
            "{ return value; }"
        } else {
            "{}"
        };
        let column = if head.starts_with("bit") { 19 } else { 17 };
        ingress_says(&change(&format!("{head} {body}")), &[&format!("12:{column}: {wanted}")]);
    }
    ingress_says(
        &change("void apply(inout bit<8> value) { value = valu; }"),
        &["12:53: no name 'valu' is declared here; did you mean 'value'?"],
    );
    ingress_says(
        "Hash<bit<8>>(HashAlgorithm_t.CRC8) hash = { bit<8> get(in bit<8> data) { return data; } };",
        &["11:52: no abstract method 'get' in extern Hash"],
    );
    ingress_says(
        &change("Register<bit<8>, _>(4) inner;"),
        &["12:12: only the abstract methods of the extern stand here"],
    );
}

#[test]
fn type_arguments_that_do_not_fit_or_are_not_known() {
    ingress_says(
        "Register<bit<16>, bit<8>>(4) r;
         RegisterAction<bit<8>, bit<8>, bit<8>>(r) change = { void apply(inout bit<8> value) {} };",
        &["12:49: the argument 'reg' of RegisterAction must be Register<bit<8>, _>, not Register<bit<16>, bit<8>>"],
    );
    ingress_says(
        "Register(4) r;",
        &["11:13: the type argument T of Register is not known: Register<...>(...)"],
    );
    ingress_says(
        "Random() random;",
        &["11:10: the type argument W of Random is not known: Random<...>(...)"],
    );
    ingress_says(
        "Register<bit<8>>(4) r;",
        &["11:1: 'Register' takes 2 type argument(s), not 1"],
    );
}

#[test]
fn arguments_that_may_not_be_left_out() {
    ingress_says(
        "Counter<bit<32>, bit<8>>(4) c;",
        &["11:29: Counter takes 2 argument(s), not 1: 'type' is missing"],
    );
    says(
        Arch::Tna,
        &program(
            "Counter<bit<32>, bit<8>>(4, CounterType_t.BYTES) c;",
            "c.count(hdr.h.a, 4); c.count();",
        ),
        &["12:30: Counter.count takes 2 argument(s), not 0: 'index' is missing"],
    );
}

#[test]
fn the_blocks_of_a_pipeline() {
    let egress = "control E(inout headers_t hdr, inout meta_t meta)";
    let wrong = "control E(inout headers_t hdr, in meta_t meta)";
    says(
        Arch::Tna,
        &program("", "").replace(egress, wrong),
        &[
            "18:33: the argument 'egress' of Pipeline must have the parameters (inout headers_t, inout meta_t, @optional \
             in egress_intrinsic_metadata_t, @optional in egress_intrinsic_metadata_from_parser_t, @optional inout \
             egress_intrinsic_metadata_for_deparser_t, @optional inout egress_intrinsic_metadata_for_output_port_t), \
             but E has (inout headers_t, in meta_t)",
        ],
    );
    let text = program("", "").replace(", E(), ED()", "");
    says(
        Arch::Tna,
        &text,
        &["18:33: Pipeline takes 6 argument(s), not 4: 'egress' is missing"],
    );
}

#[test]
fn a_missing_pipe() {
    let main = |text: &str| program("", "").replace("Switch(pipe) main;", text);
    says(
        Arch::Tna,
        &main(""),
        &["18:49: no instance 'main' of a package: Pipeline(...) pipe; Switch(pipe) main;"],
    );
    says(
        Arch::Tna,
        &main("Switch() main;"),
        &["19:10: Switch takes 4 argument(s), not 0: 'pipe0' is missing"],
    );
    says(
        Arch::Tna,
        &main("Switch(pip) main;"),
        &["19:8: no name 'pip' is declared here; did you mean 'pipe'?"],
    );
    says(
        Arch::Tna,
        &main("Pipeline(IP(), I(), ID(), EP(), E(), ED()) main;"),
        &["19:44: 'main' must be an instance of Switch(Pipeline(...)), not of Pipeline"],
    );
    says(
        Arch::Tna,
        &main("Register<bit<8>, bit<8>>(4) main;"),
        &["19:29: 'main' must be an instance of the package Switch"],
    );
}

#[test]
fn this_outside_of_a_method() {
    says(
        Arch::Tna,
        &program("", "hdr.h.a = this.predicate();"),
        &["12:19: 'this' stands only in the abstract methods of an extern"],
    );
}

#[test]
fn properties_of_tables() {
    says(
        Arch::Tna,
        &program(
            "table t { key = { hdr.h.a : exact; } actions = { NoAction; } idle_timeot = true; }",
            "hdr.h.a = nothing;",
        ),
        &[
            "11:62: the property 'idle_timeot' has no meaning in tna and is ignored; did you mean 'idle_timeout'?",
            "12:19: no name 'nothing' is declared here",
        ],
    );
}
