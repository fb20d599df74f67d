//! Tofino programs, run on the data plane.

use p4sched_compiler::Arch;
use p4sched_dataplane::{CloneSession, MeterConfig};

use crate::common::tofino::Chip;

/// Checks the output frame at port 2 for each input frame.
#[track_caller]
fn check(chip: &Chip, rows: &[([u8; 4], [u8; 4])]) {
    let mut switch = chip.load();
    for (frame, expected) in rows {
        let (port, sent) = switch.forward(frame);
        assert_eq!((port, sent.as_slice()), (2, expected.as_slice()), "for {frame:?}");
    }
}

#[test]
fn a_register_action_reads_changes_and_writes_a_cell() {
    let chip = Chip {
        ingress: "
            Register<bit<16>, bit<8>>(4, 5) cells;
            RegisterAction<bit<16>, bit<8>, bit<16>>(cells) add = {
                void apply(inout bit<16> value, out bit<16> before) {
                    before = value;
                    value = value + (bit<16>) hdr.h.b;
                }
            };",
        ingress_apply: "hdr.h.c = add.execute(hdr.h.a);",
        ..Chip::default()
    };
    // Cells start at 5; index 5 is cell 1, because the index wraps.
    let rows = [
        ([1, 3, 0, 0], [1, 3, 0, 5]),
        ([1, 1, 0, 0], [1, 1, 0, 8]),
        ([2, 1, 0, 0], [2, 1, 0, 5]),
        ([5, 1, 0, 0], [5, 1, 0, 9]),
    ];
    check(&chip, &rows);
}

#[test]
fn a_cell_may_be_a_pair_and_its_action_may_decide() {
    let chip = Chip {
        types: "struct pair_t { bit<16> low; bit<16> high; }",
        ingress: "
            Register<pair_t, bit<1>>(1) pair;
            RegisterAction<pair_t, bit<1>, bit<16>>(pair) widen = {
                void apply(inout pair_t value, out bit<16> seen) {
                    if (value.high == 0 || hdr.h.c < value.low) { value.low = hdr.h.c; }
                    if (hdr.h.c > value.high) { value.high = hdr.h.c; }
                    seen = value.high - value.low;
                }
            };",
        ingress_apply: "hdr.h.c = widen.execute(0);",
        ..Chip::default()
    };
    let rows = [
        ([0, 0, 0, 9], [0, 0, 0, 0]),
        ([0, 0, 1, 0], [0, 0, 0, 247]),
        ([0, 0, 0, 4], [0, 0, 0, 252]),
        ([0, 0, 0, 50], [0, 0, 0, 252]),
    ];
    check(&chip, &rows);
}

#[test]
fn several_actions_share_a_register_in_actions_and_conditions() {
    let chip = Chip {
        types: "Register<bit<8>, _>(2) shared;",
        ingress: "
            RegisterAction<bit<8>, _, bit<8>>(shared) put = {
                void apply(inout bit<8> value) { value = hdr.h.b; }
            };
            RegisterAction<bit<8>, bit<1>, bit<8>>(shared) get = {
                void apply(inout bit<8> value, out bit<8> result) { result = value; }
            };
            action store() { put.execute(0); hdr.h.a = 0xff; }
            table choose {
                key = { hdr.h.a: exact; }
                actions = { store; NoAction; }
                default_action = NoAction();
                const entries = { 1: store(); }
            }",
        ingress_apply: "choose.apply(); if (hdr.h.a == 2) { if (get.execute(0) == 7) { hdr.h.c = 1; } }",
        ..Chip::default()
    };
    let rows = [
        ([2, 0, 0, 0], [2, 0, 0, 0]),
        ([1, 7, 0, 0], [0xff, 7, 0, 0]),
        ([2, 0, 0, 0], [2, 0, 0, 1]),
        ([1, 8, 0, 0], [0xff, 8, 0, 0]),
        ([2, 0, 0, 0], [2, 0, 0, 0]),
    ];
    check(&chip, &rows);
}

#[test]
fn an_action_may_return_whether_something_holds() {
    let chip = Chip {
        ingress: "
            Register<bit<8>, bit<1>>(1) most;
            RegisterAction<bit<8>, bit<1>, bool>(most) is_new = {
                void apply(inout bit<8> value, out bool result) {
                    if (hdr.h.a > value) { value = hdr.h.a; result = true; }
                }
            };",
        ingress_apply: "if (is_new.execute(0)) { hdr.h.c = 1; }",
        ..Chip::default()
    };
    let rows = [
        ([5, 0, 0, 0], [5, 0, 0, 1]),
        ([5, 0, 0, 0], [5, 0, 0, 0]),
        ([6, 0, 0, 0], [6, 0, 0, 1]),
    ];
    check(&chip, &rows);
}

#[test]
fn an_action_of_tofino_2_has_more_results() {
    let chip = Chip {
        arch: Arch::T2na,
        ingress: "
            Register<bit<16>, bit<8>>(1) cell;
            RegisterAction<bit<16>, bit<8>, bit<16>>(cell) both = {
                void apply(inout bit<16> value, out bit<16> before, out bit<16> after) {
                    before = value;
                    value = value + 3;
                    after = value;
                }
            };",
        ingress_apply: "bit<16> after; bit<16> before = both.execute(0, after);
            hdr.h.a = before[7:0]; hdr.h.b = after[7:0];",
        ..Chip::default()
    };
    check(&chip, &[([0; 4], [0, 3, 0, 0]), ([0; 4], [3, 6, 0, 0])]);
}

#[test]
fn the_stateful_alu_tells_which_comparisons_hold_and_the_lesser_of_two() {
    let chip = Chip {
        ingress: "
            Register<bit<8>, bit<1>>(1, 4) cell;
            RegisterAction<bit<8>, bit<1>, bit<8>>(cell) compare = {
                void apply(inout bit<8> value, out bit<8> result) {
                    result = this.predicate(hdr.h.a > value, hdr.h.b > value);
                    value = min(value, hdr.h.a);
                }
            };",
        ingress_apply: "hdr.h.c = (bit<16>) compare.execute(0);",
        ..Chip::default()
    };
    // Bit 0 of the position is the outcome of the first comparison.
    let rows = [
        ([4, 4, 0, 0], [4, 4, 0, 1]),
        ([5, 4, 0, 0], [5, 4, 0, 2]),
        ([4, 5, 0, 0], [4, 5, 0, 4]),
        ([5, 5, 0, 0], [5, 5, 0, 8]),
        ([2, 0, 0, 0], [2, 0, 0, 1]),
        ([3, 0, 0, 0], [3, 0, 0, 2]),
    ];
    check(&chip, &rows);
}

#[test]
fn a_direct_register_has_a_cell_for_each_entry() {
    let chip = Chip {
        ingress: "
            DirectRegister<bit<16>>() hits;
            DirectRegisterAction<bit<16>, bit<16>>(hits) hit = {
                void apply(inout bit<16> value, out bit<16> result) { value = value + 1; result = value; }
            };
            action count() { hdr.h.c = hit.execute(); }
            table counted {
                key = { hdr.h.a: exact; }
                actions = { count; NoAction; }
                default_action = NoAction();
                const entries = { 1: count(); 2: count(); }
                registers = hits;
                size = 4;
            }",
        ingress_apply: "counted.apply();",
        ..Chip::default()
    };
    let rows = [
        ([1, 0, 0, 0], [1, 0, 0, 1]),
        ([1, 0, 0, 0], [1, 0, 0, 2]),
        ([2, 0, 0, 0], [2, 0, 0, 1]),
        ([3, 0, 0, 0], [3, 0, 0, 0]),
        ([1, 0, 0, 0], [1, 0, 0, 3]),
    ];
    check(&chip, &rows);
}

#[test]
fn the_math_unit_computes_with_four_bits() {
    let result = |unit: &str, x: u16| {
        let ingress = format!(
            "MathUnit<bit<16>>({unit}) unit;
            Register<bit<16>, bit<1>>(1) cell;
            RegisterAction<bit<16>, bit<1>, bit<16>>(cell) compute = {{
                void apply(inout bit<16> value, out bit<16> result) {{ value = unit.execute(hdr.h.c); result = value; }}
            }};"
        );
        let mut switch = Chip {
            ingress: &ingress,
            ingress_apply: "hdr.h.c = compute.execute(0);",
            ..Chip::default()
        }
        .load();
        let [high, low] = x.to_be_bytes();
        let (_, sent) = switch.forward(&[0, 0, high, low]);
        u16::from_be_bytes([sent[2], sent[3]])
    };
    // Exact if four bits are enough; otherwise truncated.
    assert_eq!(result("MathOp_t.MUL, 3", 5), 15);
    assert_eq!(result("MathOp_t.MUL, 1, 2", 300), 144);
    assert_eq!(result("MathOp_t.SQR, 1", 12), 144);
    assert_eq!(result("MathOp_t.SQRT, 1", 100), 9);
    assert_eq!(result("MathOp_t.SQRT, 1", 64), 8);
    assert_eq!(result("MathOp_t.DIV, 1000", 10), 100);
    assert_eq!(result("MathOp_t.MUL, 7", 0), 0);
    let table = "false, 0, 0, { 15, 14, 13, 12, 11, 10, 9, 8, 0, 0, 0, 0, 0, 0, 0, 5 }";
    assert_eq!(result(table, 0), 5);
    assert_eq!(result(table, 1), 8);
    assert_eq!(result(table, 0x1fff), 15 << 12);
}

#[test]
fn hashes_are_those_of_the_chip() {
    let hash = |ty: &str, arguments: &str, data: &str| {
        let ingress = format!("Hash<{ty}>({arguments}) hash;");
        let apply = format!("hdr.h.c = (bit<16>) hash.get({data});");
        let types = "CRCPolynomial<bit<16>>(0x1021, false, false, false, 0xffff, 0) ccitt;";
        let mut switch = Chip {
            types,
            ingress: &ingress,
            ingress_apply: &apply,
            ..Chip::default()
        }
        .load();
        let (_, sent) = switch.forward(&[0x31, 0x32, 0x33, 0x34]);
        u16::from_be_bytes([sent[2], sent[3]])
    };
    let all = "{ hdr.h.a, hdr.h.b, 8w0x33, 8w0x34, 40w0x3536373839 }";
    // Check values of the CRC catalogue, for the digits 1 to 9.
    assert_eq!(hash("bit<16>", "HashAlgorithm_t.CRC16", all), 0xbb3d);
    assert_eq!(hash("bit<32>", "HashAlgorithm_t.CRC32", all), 0x3926);
    assert_eq!(hash("bit<8>", "HashAlgorithm_t.CRC8", all), 0xf4);
    assert_eq!(hash("bit<16>", "HashAlgorithm_t.CUSTOM, ccitt", all), 0x29b1);
    assert_eq!(
        hash("bit<12>", "HashAlgorithm_t.IDENTITY", "{ hdr.h.a, hdr.h.b }"),
        0x132
    );
    assert_eq!(hash("bit<16>", "HashAlgorithm_t.IDENTITY", "{ 3w1, hdr.h.b }"), 0x132);
    assert_eq!(hash("bit<8>", "HashAlgorithm_t.XOR8", "{ hdr.h.a, hdr.h.b }"), 0x03);
    assert!(hash("bit<4>", "HashAlgorithm_t.RANDOM", all) < 16);
}

#[test]
fn random_numbers_fill_their_type() {
    let mut switch = Chip {
        ingress: "Random<bit<3>>() random;",
        ingress_apply: "hdr.h.a = (bit<8>) random.get();",
        ..Chip::default()
    }
    .load();
    let mut seen = [false; 8];
    for _ in 0..1000 {
        seen[usize::from(switch.forward(&[0; 4]).1[0])] = true;
    }
    assert_eq!(seen, [true; 8]);
}

#[test]
fn a_parser_verifies_a_checksum_and_a_deparser_updates_it() {
    let chip = Chip {
        metadata: "bool wrong; bit<16> rest;",
        parser_locals: "Checksum() whole; Checksum() part;",
        parser: "state frame {
            p.extract(hdr.h);
            whole.add(hdr.h);
            meta.wrong = whole.verify();
            part.subtract({ hdr.h.c });
            part.subtract({ hdr.h.a, 8w0 });
            meta.rest = part.get();
            transition accept;
        }",
        ingress_apply: "if (meta.wrong) { tm.ucast_egress_port = 3; } hdr.h.a = hdr.h.a + 1;",
        deparser_locals: "Checksum() sum;",
        deparser: "hdr.h.c = sum.update({ hdr.h.a, 8w0, meta.rest });",
        ..Chip::default()
    };
    let mut switch = chip.load();
    // 0x1234 and its complement. If the high byte is 1 more, the checksum is 0x100 less.
    assert_eq!(
        switch.forward(&[0x12, 0x34, 0xed, 0xcb]),
        (2, vec![0x13, 0x34, 0xec, 0xcb])
    );
    assert_eq!(switch.forward(&[0x12, 0x34, 0xed, 0xcc]).0, 3);
}

#[test]
fn a_parser_counts() {
    let chip = Chip {
        types: "header byte_t { bit<8> value; }",
        metadata: "bit<8> last;",
        parser_locals: "ParserCounter() left; byte_t byte;",
        parser: "state frame {
                p.extract(hdr.h);
                left.set(hdr.h.a, 15, 0, 7, 1);
                transition next;
            }
            state next {
                left.decrement(1);
                transition select(left.is_zero()) { true: accept; false: skip; }
            }
            state skip { p.extract(byte); meta.last = byte.value; transition next; }",
        ingress_apply: "hdr.h.b = meta.last;",
        ..Chip::default()
    };
    let mut switch = chip.load();
    assert_eq!(switch.forward(&[0, 9, 0, 0, 1, 2, 3]).1, [0, 0, 0, 0, 1, 2, 3]);
    assert_eq!(switch.forward(&[2, 9, 0, 0, 1, 2, 3]).1, [2, 2, 0, 0, 3]);
}

#[test]
fn a_packet_that_no_case_holds_is_dropped_unless_its_error_is_read() {
    let parser = "state frame { p.extract(hdr.h); transition select(hdr.h.a) { 1: accept; 2: reject; } }";
    let mut switch = Chip {
        parser,
        ..Chip::default()
    }
    .load();
    assert_eq!(switch.send(1, &[1, 0, 0, 0]).len(), 1);
    assert_eq!(switch.send(1, &[2, 0, 0, 0]), []);
    assert_eq!(switch.send(1, &[3, 0, 0, 0]), []);
    let chip = Chip {
        parser,
        ingress_apply: "if (from.parser_err != PARSER_ERROR_OK) { hdr.h.c = from.parser_err; }",
        ..Chip::default()
    };
    check(&chip, &[([1, 0, 0, 0], [1, 0, 0, 0]), ([3, 0, 0, 0], [3, 0, 0, 1])]);
}

#[test]
fn a_mirrored_copy_has_a_header_in_front() {
    let session = CloneSession {
        replicas: vec![(9, 0)],
        ..CloneSession::default()
    };
    let types = "header front_t { bit<16> kind; bit<8> a; bit<8> more; }";
    let chip = Chip {
        types,
        ingress_apply: "hdr.h.c = 0xffff; if (hdr.h.b == 1) { dprsr.mirror_type = 3; }",
        deparser_locals: "Mirror() mirror;",
        deparser: "if (dprsr.mirror_type == 3) { mirror.emit<front_t>(5, { 0x1234, hdr.h.a, hdr.h.b + 1 }); }",
        ..Chip::default()
    };
    let mut switch = chip.load();
    switch.pipeline.clone_session_set(5, session.clone());
    assert_eq!(switch.send(1, &[7, 0, 0, 0]), [(2, vec![7, 0, 0xff, 0xff])]);
    // At ingress, the copy is the frame as it arrived.
    let copy = vec![0x12, 0x34, 7, 2, 7, 1, 0, 0];
    assert_eq!(switch.send(1, &[7, 1, 0, 0]), [(9, copy), (2, vec![7, 1, 0xff, 0xff])]);
    let chip = Chip {
        types,
        egress_apply: "dprsr.mirror_type = 1; if (hdr.h.a == 0x12) { dprsr.drop_ctl = 4; }",
        egress_deparser_locals: "Mirror(1) mirror; Mirror(2) other;",
        egress_deparser: "mirror.emit<front_t>(5, { 0x1234, hdr.h.a, 0 }); other.emit(5);",
        ..Chip::default()
    };
    let mut switch = chip.load();
    switch.pipeline.clone_session_set(5, session);
    let sent = switch.send(1, &[7, 1, 0, 0]);
    assert_eq!(sent, [(2, vec![7, 1, 0, 0]), (9, vec![0x12, 0x34, 7, 0, 7, 1, 0, 0])]);
}

#[test]
fn a_resubmitted_packet_brings_data_in_place_of_that_of_the_port() {
    let chip = Chip {
        types: "header again_t { bit<8> pass; bit<56> rest; }",
        metadata: "again_t again;",
        parser_locals: "",
        parser: "state frame { transition select(ig.resubmit_flag) { 1: again; default: fresh; } }
            state fresh { p.extract(hdr.h); transition accept; }
            state again { p.extract(hdr.h); transition accept; }",
        ingress_apply: "
            if (ig.resubmit_flag == 1) { hdr.h.c = 0xabcd; } else { dprsr.resubmit_type = 1; hdr.h.b = 9; }",
        deparser_locals: "Resubmit() resubmit;",
        deparser: "if (dprsr.resubmit_type == 1) { resubmit.emit<again_t>({ 1, 0 }); }",
        ..Chip::default()
    };
    check(&chip, &[([1, 2, 3, 4], [1, 2, 0xab, 0xcd])]);
}

#[test]
fn mirrored_data_and_digests_have_the_values_of_their_call() {
    let session = CloneSession {
        replicas: vec![(9, 0)],
        ..CloneSession::default()
    };
    let mut switch = Chip {
        types: "header front_t { bit<8> a; bit<8> b; } struct seen_t { bit<8> a; bit<16> c; bit<8> constant; }",
        ingress_apply: "dprsr.mirror_type = 1; dprsr.digest_type = 1;",
        deparser_locals: "Mirror() mirror; Digest<seen_t>() seen;",
        deparser: "mirror.emit<front_t>(5, { hdr.h.a, 7 }); seen.pack({ hdr.h.a, hdr.h.c, 6 });
            hdr.h.a = 0x55; hdr.h.c = 0x6666;",
        ..Chip::default()
    }
    .load();
    switch.pipeline.clone_session_set(5, session);
    let sent = switch.send(1, &[1, 2, 3, 4]);
    assert_eq!(sent, [(9, vec![1, 7, 1, 2, 3, 4]), (2, vec![0x55, 2, 0x66, 0x66])]);
    assert_eq!(switch.out.digests[0].fields, [vec![1], vec![3, 4], vec![6]]);
}

#[test]
fn a_digest_has_the_data_of_its_packet() {
    let mut switch = Chip {
        types: "struct seen_t { bit<8> a; bit<16> c; }",
        ingress_apply: "dprsr.digest_type = hdr.h.b[2:0];",
        deparser_locals: "Digest<seen_t>() seen;",
        deparser: "if (dprsr.digest_type == 2) { seen.pack({ hdr.h.a, hdr.h.c }); }",
        ..Chip::default()
    }
    .load();
    switch.forward(&[1, 1, 2, 3]);
    assert!(switch.out.digests.is_empty());
    switch.forward(&[1, 2, 2, 3]);
    assert_eq!(switch.out.digests.len(), 1);
    assert_eq!(switch.out.digests[0].fields, [vec![1], vec![2, 3]]);
}

#[test]
fn what_the_chip_knows_of_a_packet_can_be_read() {
    let chip = Chip {
        ingress_apply: "hdr.h.a = ig.ingress_port[7:0]; hdr.h.b = (bit<8>) sizeInBytes(hdr.h);",
        egress_apply: "hdr.h.c = eg.pkt_length;",
        ..Chip::default()
    };
    check(&chip, &[([0; 4], [1, 4, 0, 4])]);
}

#[test]
fn invalid_means_that_nothing_was_written() {
    let chip = Chip {
        ingress_apply: "if (hdr.h.a == 1) { invalidate(tm.ucast_egress_port); } else if (hdr.h.a == 2) { dprsr.drop_ctl = 1; }",
        ..Chip::default()
    };
    let mut switch = chip.load();
    assert_eq!(switch.send(1, &[0; 4]).len(), 1);
    assert_eq!(switch.send(1, &[1, 0, 0, 0]), []);
    assert_eq!(switch.send(1, &[2, 0, 0, 0]), []);
}

#[test]
fn meters_without_rates_are_green_and_a_packet_gets_no_better_colour() {
    let chip = Chip {
        ingress: "
            Meter<bit<8>>(4, MeterType_t.BYTES) indexed;
            DirectMeter(MeterType_t.PACKETS) direct;
            action measure() { hdr.h.b = direct.execute(); }
            table measured {
                key = { hdr.h.a: exact; }
                actions = { measure; }
                const default_action = measure();
                meters = direct;
            }",
        ingress_apply: "measured.apply(); hdr.h.c[15:8] = indexed.execute(1); hdr.h.c[7:0] = indexed.execute(1, MeterColor_t.RED);",
        ..Chip::default()
    };
    check(&chip, &[([0, 9, 9, 9], [0, 0, 0, 3])]);
}

#[test]
fn colours_have_the_numbers_of_the_chip_or_of_the_program() {
    let chip = Chip {
        ingress: "Meter<bit<8>>(4, MeterType_t.PACKETS) plain; Meter<bit<8>>(4, MeterType_t.PACKETS, 10, 20, 30) own;",
        ingress_apply: "hdr.h.a = plain.execute(1); hdr.h.b = own.execute(1);",
        ..Chip::default()
    };
    let mut switch = chip.load();
    let rates = MeterConfig {
        cir: 1,
        cburst: 1,
        pir: 1,
        pburst: 2,
        eburst: 0,
    };
    for name in ["pipe.I.plain", "pipe.I.own"] {
        let meter = switch.pipeline.meter(name).expect("the meter");
        switch
            .pipeline
            .meter_write(meter, 1, Some(rates))
            .expect("to set the rates");
    }
    // The constructor lists red, yellow, green.
    for colours in [[0, 30], [1, 20], [3, 10]] {
        assert_eq!(switch.forward(&[0; 4]).1[..2], colours);
    }
}
