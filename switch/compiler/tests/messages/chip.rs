//! The compiler's messages on Tofino programs that are wrong, or that need features which the switch lacks.

use p4sched_compiler::Arch;

use crate::common::tofino::{Chip, messages_for};

#[track_caller]
fn chip_says(chip: Chip, expected: &[&str]) {
    let said = chip.messages();
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "to\n{}", chip.source());
}

#[track_caller]
fn ingress_says(ingress: &str, apply: &str, expected: &[&str]) {
    let chip = Chip {
        ingress,
        ingress_apply: apply,
        ..Chip::default()
    };
    chip_says(chip, expected);
}

#[test]
fn externs_that_the_switch_does_not_have() {
    ingress_says(
        "Hash<bit<14>>(HashAlgorithm_t.CRC16) hash; ActionProfile(4) profile;
        ActionSelector(profile, hash, SelectorMode_t.FAIR, 4, 4) group;
        SelectorAction(group) up = { void apply(inout bit<1> value) { value = 1; } };",
        "up.execute(0);",
        &["the extern SelectorAction is not supported by this switch"],
    );
}

#[test]
fn a_polynomial_that_the_switch_cannot_compute() {
    ingress_says(
        "CRCPolynomial<bit<65>>(0x1021, false, false, false, 0, 0) wide;",
        "",
        &["a CRC has 1 to 64 bits"],
    );
}

#[test]
fn filters_whose_specification_is_missing_or_wrong() {
    let low_pass = "@lpf_spec(gain ns, decay ns, scale down 0 .. 31)";
    let red = "@wred_spec(time constant ns, min, max, probability 1 .. 100 percent) with min <= max";
    ingress_says(
        "Wred<bit<19>, bit<8>>(4, 1, 0) red; Lpf<bit<32>, bit<8>>(4) low;",
        "",
        &[
            &format!("without {red}, 'red' drops nothing in this switch"),
            &format!("without {low_pass}, 'low' returns its samples as they are in this switch"),
        ],
    );
    let says = |filter: &str, form: &str| ingress_says(filter, "", &[&format!("it should be {form}")]);
    says("@lpf_spec(1000, 1000) Lpf<bit<32>, bit<8>>(4) low;", low_pass);
    says("@lpf_spec(1000, 1000, 32) Lpf<bit<32>, bit<8>>(4) low;", low_pass);
    says("@lpf_spec(4294967296, 1, 0) DirectLpf<bit<32>>() low;", low_pass);
    says("@wred_spec(1000, 9, 8, 50) Wred<bit<19>, bit<8>>(4, 1, 0) red;", red);
    says("@wred_spec(1000, 8, 9, 0) Wred<bit<19>, bit<8>>(4, 1, 0) red;", red);
    for ty in ["bit<48>", "bit<0>", "int<8>"] {
        ingress_says(
            &format!("@lpf_spec(1000, 1000, 0) Lpf<{ty}, bit<8>>(4) low;"),
            "",
            &["a filter takes numbers without sign, of 1 to 32 bits"],
        );
    }
}

#[test]
fn registers_and_their_actions() {
    ingress_says(
        "Register<h_t, bit<8>>(4) cells;",
        "",
        &["a cell of a register is a number or a struct of numbers of at most 128 bits, not h_t"],
    );
    ingress_says(
        "Register<bit<8>, bit<8>>(4) cells;
        RegisterAction<bit<8>, bit<8>, bit<8>>(cells) one = { void apply(inout bit<8> value) { value = 1; } };
        RegisterAction<bit<8>, bit<8>, bit<8>>(cells) two = {
            void apply(inout bit<8> value) { value = one.execute(0); }
        };",
        "two.execute(0);",
        &["a register action cannot execute another"],
    );
    ingress_says(
        "Register<bit<8>, bit<8>>(4, hdr.h.a) cells;",
        "",
        &["the first value of a register must be known when compiling"],
    );
    ingress_says(
        "Register<bit<8>, bit<8>>(4) cells;
        RegisterAction<bit<8>, bit<8>, bit<8>>(cells) log = { void apply(inout bit<8> value) { value = 1; } };",
        "log.execute_log();",
        &["the method 'execute_log' is not supported by this switch"],
    );
}

#[test]
fn deparsers() {
    let conditional = Chip {
        deparser: "if (dprsr.mirror_type == 1) { p.emit(hdr.h); }",
        ..Chip::default()
    };
    chip_says(
        conditional,
        &["headers are emitted without condition; make those invalid that are not to be sent"],
    );
    let odd = Chip {
        types: "header seven_t { bit<7> a; }",
        deparser_locals: "Mirror() mirror;",
        deparser: "mirror.emit<seven_t>(1, { 1 });",
        ..Chip::default()
    };
    chip_says(
        odd,
        &["mirror puts 7 bits in front of the packet; these must be whole bytes"],
    );
    ingress_says(
        "Mirror() mirror;",
        "mirror.emit(1);",
        &["'emit' can be called in deparsers only"],
    );
    ingress_says(
        "Checksum() sum;",
        "sum.add(hdr.h);",
        &["'add' of a Checksum can be called in parsers only"],
    );
}

#[test]
fn headers_of_packets_fill_their_bytes() {
    let metadata = Chip {
        types: "header bridge_t { bit<3> kind; }",
        metadata: "bridge_t bridge;",
        ingress_apply: "meta.bridge.kind = 1;",
        ..Chip::default()
    };
    chip_says(metadata, &[]);
    let extracted = Chip {
        parser: "state frame { p.extract(meta.bridge); transition accept; }",
        ..metadata
    };
    chip_says(
        extracted,
        &["the header bridge_t has 3 bits; BMv2 takes headers whose bits are a multiple of 8, so 5 more are needed"],
    );
}

#[test]
fn pipes() {
    let text = Chip::default().source();
    let other = "control J(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t from, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) { apply { } }
        Pipeline(IP(), J(), ID(), EP(), E(), ED()) second;";
    let two = text.replace("Switch(pipe) main;", &format!("{other} Switch(pipe, second) main;"));
    let warning = "pipe1 differs from pipe0; this switch runs the program of pipe0 in all pipes\n";
    assert_eq!(messages_for(Arch::Tna, &two), warning);
    let same = text.replace(
        "Switch(pipe) main;",
        "Pipeline(IP(), I(), ID(), EP(), E(), ED()) second; Switch(pipe, second) main;",
    );
    assert_eq!(messages_for(Arch::Tna, &same), "");
}
