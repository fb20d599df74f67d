//! The externs of v1model, with published check values.

use p4sched_dataplane::CloneSession;

use crate::common::switch::Parts;

/// Hash of the nine bytes of a packet, as computed by a program.
fn hash(algorithm: &str, base: u32, max: u64) -> u32 {
    let apply = format!(
        "sm.egress_spec = 2; bit<32> r; hash(r, HashAlgorithm.{algorithm}, 32w{base}, {{ hdr.h.a, hdr.h.b }}, 64w{max}); hdr.o.setValid(); hdr.o.r = r;"
    );
    let mut switch = Parts {
        types: "header h_t { bit<8> a; bit<64> b; } header o_t { bit<32> r; } struct headers_t { h_t h; o_t o; } struct meta_t { bit<8> x; }",
        parser: "state start { p.extract(hdr.h); transition accept; }",
        ingress_apply: &apply,
        deparser: "p.emit(hdr.o);",
        ..Parts::default()
    }
    .load();
    let (_, frame) = switch.forward(b"123456789");
    u32::from_be_bytes(frame.try_into().expect("four bytes"))
}

#[test]
fn hashes_give_the_check_values_of_their_algorithms() {
    // Check values of the CRC catalogue, for the digits 1 to 9.
    assert_eq!(hash("crc32", 0, 1 << 32), 0xcbf4_3926);
    assert_eq!(hash("crc16", 0, 1 << 32), 0xbb3d);
    // The Internet checksum (RFC 1071): the odd last byte is the high half of a word.
    let sum: u32 = 0x3132 + 0x3334 + 0x3536 + 0x3738 + 0x3900;
    assert_eq!(hash("csum16", 0, 1 << 32), !((sum & 0xffff) + (sum >> 16)) & 0xffff);
}

#[test]
fn a_hash_lies_between_base_and_base_plus_max() {
    assert_eq!(hash("crc32", 100, 10), 100 + 0xcbf4_3926 % 10);
    assert_eq!(hash("crc32", 7, 0), 7);
}

#[test]
fn checksums_are_verified_and_updated() {
    // A common example of an IPv4 header: checksum 0xb861.
    const HEADER: [u8; 20] = [
        0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7,
    ];
    const LIST: &str = "{ hdr.h.first, hdr.h.ttl, hdr.h.protocol, hdr.h.rest }";
    let mut switch = Parts {
        types: "header h_t { bit<64> first; bit<8> ttl; bit<8> protocol; bit<16> sum; bit<64> rest; }
            struct headers_t { h_t h; } struct meta_t { bit<8> x; }",
        parser: "state start { p.extract(hdr.h); transition accept; }",
        verify: &format!("verify_checksum(true, {LIST}, hdr.h.sum, HashAlgorithm.csum16);"),
        ingress_apply: "sm.egress_spec = 2; if (sm.checksum_error == 1) { sm.egress_spec = 3; } hdr.h.ttl = hdr.h.ttl - 1;",
        update: &format!("update_checksum(hdr.h.isValid(), {LIST}, hdr.h.sum, HashAlgorithm.csum16);"),
        deparser: "p.emit(hdr.h);",
        ..Parts::default()
    }
    .load();
    let (port, frame) = switch.forward(&HEADER);
    // The high byte of a word is 1 less, so the checksum is 0x100 more.
    assert_eq!((port, &frame[8..12]), (2, [0x3f, 0x11, 0xb9, 0x61].as_slice()));
    let mut wrong = HEADER;
    wrong[19] ^= 1;
    assert_eq!(switch.forward(&wrong).0, 3);
}

#[test]
fn a_decision_around_a_checksum_is_its_condition() {
    let update = "if (hdr.h.a == 1) { update_checksum(true, { hdr.h.b }, hdr.h.c, HashAlgorithm.csum16); }
        else if (hdr.h.b > 5) { update_checksum(hdr.h.b != 9, { hdr.h.a }, hdr.h.c, HashAlgorithm.csum16); }";
    let mut switch = Parts {
        ingress_apply: "sm.egress_spec = 2;",
        update,
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.forward(&[1, 2, 7, 7]).1, [1, 2, 0xfd, 0xff]);
    assert_eq!(switch.forward(&[2, 2, 7, 7]).1, [2, 2, 7, 7]);
    assert_eq!(switch.forward(&[2, 6, 7, 7]).1, [2, 6, 0xfd, 0xff]);
    assert_eq!(switch.forward(&[2, 9, 7, 7]).1, [2, 9, 7, 7]);
}

/// Values of the digest that this ingress sends for the packet 1, 2, 3, 4.
fn digested(types: &str, ingress: &str, apply: &str) -> Vec<Vec<u8>> {
    let types = format!("{} {types}", Parts::small().types);
    let apply = format!("sm.egress_spec = 2; {apply}");
    let mut switch = Parts {
        types: &types,
        ingress,
        ingress_apply: &apply,
        ..Parts::small()
    }
    .load();
    switch.forward(&[1, 2, 3, 4]);
    assert_eq!(switch.out.digests.len(), 1, "{apply}");
    switch.out.digests.remove(0).fields
}

#[test]
fn a_digest_carries_the_values_of_its_call() {
    const PAIR: &str = "struct pair_t { bit<8> a; bit<16> c; }";
    let sent = [vec![1], vec![3, 4]];
    assert_eq!(
        digested(
            PAIR,
            "",
            "digest<pair_t>(1, { hdr.h.a, hdr.h.c }); hdr.h.a = 99; hdr.h.c = 88;"
        ),
        sent
    );
    let variable = "pair_t v; v.a = hdr.h.a; v.c = hdr.h.c; digest(1, v); v.a = 99; v.c = 88;";
    assert_eq!(digested(PAIR, "", variable), sent);
    let called = "action tell() { digest<pair_t>(1, { hdr.h.a, hdr.h.c }); } table t { actions = { tell; } default_action = tell; }";
    assert_eq!(digested(PAIR, called, "t.apply(); hdr.h.a = 99; hdr.h.c = 88;"), sent);
    let chosen = "if (hdr.h.b == 2) { digest<pair_t>(1, { hdr.h.a, hdr.h.c }); } else { digest<pair_t>(1, { 7, 7 }); } hdr.h.a = 99; hdr.h.c = 88;";
    assert_eq!(digested(PAIR, "", chosen), sent);
    assert_eq!(
        digested("", "", "digest(1, hdr.h); hdr.h.a = 99; hdr.h.setInvalid();"),
        [vec![1], vec![2], vec![3, 4]]
    );
}

#[test]
fn a_digest_may_hold_constants_and_computed_values_of_any_type() {
    const ALL: &str = "enum bit<8> kind_t { small = 5 } struct inner_t { int<8> i; bool b; }
        struct all_t { bit<16> constant; bit<8> sum; kind_t kind; inner_t inner; }";
    let apply =
        "digest<all_t>(1, { 16w700, hdr.h.a + 1, kind_t.small, { -1, hdr.h.b == 2 } }); hdr.h.a = 99; hdr.h.b = 0;";
    assert_eq!(
        digested(ALL, "", apply),
        [vec![2, 0xbc], vec![2], vec![5], vec![0xff], vec![1]]
    );
}

#[test]
fn of_several_digests_of_a_packet_the_last_one_is_sent() {
    // Each call sets the list; BMv2 sends it at the end of ingress (simple_switch.cpp, learning).
    const PAIR: &str = "struct pair_t { bit<8> a; bit<16> c; } struct one_t { bit<8> b; }";
    let twice = "digest<pair_t>(1, { hdr.h.a, hdr.h.c }); hdr.h.a = 5; digest<pair_t>(1, { hdr.h.a, 9 }); hdr.h.a = 6;";
    assert_eq!(digested(PAIR, "", twice), [vec![5], vec![0, 9]]);
    let other = "digest<pair_t>(1, { hdr.h.a, hdr.h.c }); digest<one_t>(1, { hdr.h.b }); hdr.h.b = 6;";
    assert_eq!(digested(PAIR, "", other), [vec![2]]);
    let parameter = "action tell(bit<8> n) { digest<pair_t>(1, { n, (bit<16>) n }); }";
    assert_eq!(
        digested(PAIR, parameter, "tell(hdr.h.b); hdr.h.b = 6;"),
        [vec![2], vec![0, 2]]
    );
}

#[test]
fn the_fields_of_a_field_list_have_the_values_of_the_end_of_the_control() {
    // simple_switch.cpp copies them at the end of the control, not at the call.
    let session = CloneSession {
        replicas: vec![(7, 0)],
        ..CloneSession::default()
    };
    let sent = |ingress: &str, egress: &str| {
        let mut switch = Parts {
            ingress_apply: ingress,
            egress_apply: egress,
            ..Parts::small()
        }
        .load();
        switch.pipeline.clone_session_set(3, session.clone());
        switch.send(1, &[1, 0, 0, 0])
    };
    let shown = "if (sm.instance_type == 1 || sm.instance_type == 2) { hdr.h.b = meta.kept; }";
    let clone = "sm.egress_spec = 2; meta.kept = 5; clone_preserving_field_list(CloneType.I2E, 3, 1); meta.kept = 8;";
    assert_eq!(sent(clone, shown), [(7, vec![1, 8, 0, 0]), (2, vec![1, 0, 0, 0])]);
    let egress = "if (sm.instance_type == 0) { meta.kept = 5; clone_preserving_field_list(CloneType.E2E, 3, 1); meta.kept = 8; }";
    assert_eq!(
        sent("sm.egress_spec = 2;", &format!("{egress} else {{ {shown} }}")),
        [(2, vec![1, 0, 0, 0]), (7, vec![1, 8, 0, 0])]
    );
    let resubmit = "sm.egress_spec = 2; if (sm.instance_type == 0) { meta.kept = 5; resubmit_preserving_field_list(1); meta.kept = 8; }
        else { hdr.h.b = meta.kept; }";
    assert_eq!(sent(resubmit, ""), [(2, vec![1, 8, 0, 0])]);
    let again = "sm.egress_spec = 2; if (sm.instance_type == 4) { hdr.h.b = meta.kept; }";
    let recirculate = "if (hdr.h.b == 0) { meta.kept = 5; recirculate_preserving_field_list(1); meta.kept = 8; }";
    assert_eq!(sent(again, recirculate), [(2, vec![1, 8, 0, 0])]);
}

#[test]
fn a_deparser_does_all_else_before_it_emits() {
    let mut switch = Parts {
        ingress_apply: "sm.egress_spec = 2;",
        deparser: "log_msg(\"first\"); p.emit(hdr.h); bit<8> n = 3; log_msg(\"a is {}, n is {}\", { hdr.h.a, n });",
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.forward(&[1, 2, 3, 4]).1, [1, 2, 3, 4]);
    assert_eq!(switch.out.log, ["first", "a is 1, n is 3"]);
}

#[test]
fn registers_are_read_and_written_by_index() {
    let mut switch = Parts {
        ingress: "register<bit<16>>(4) cells; register<int<8>>(1) level;",
        ingress_apply: "sm.egress_spec = 2; bit<16> old; cells.read(old, (bit<32>)hdr.h.a); cells.write((bit<32>)hdr.h.a, old + hdr.h.c);
            int<8> l; level.read(l, 0); level.write(0, l - 1); hdr.h.c = old; if (l < -1) { hdr.h.b = 1; }",
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.forward(&[3, 0, 1, 2]).1, [3, 0, 0, 0]);
    assert_eq!(switch.forward(&[3, 0, 1, 2]).1, [3, 0, 1, 2]);
    assert_eq!(switch.forward(&[2, 0, 0, 9]).1, [2, 1, 0, 0]);
    assert_eq!(switch.forward(&[3, 0, 0, 0]).1, [3, 1, 2, 4]);
}

#[test]
fn counters_count_by_index_and_by_entry() {
    let mut switch = Parts {
        ingress: "counter(4, CounterType.packets_and_bytes) seen; direct_counter(CounterType.packets) hits;
            action pick() { hits.count(); }
            table t { key = { hdr.h.a: exact; } actions = { pick; NoAction; } default_action = NoAction;
                counters = hits; const entries = { 1: pick; } }",
        ingress_apply: "sm.egress_spec = 2; seen.count((bit<32>)hdr.h.b); t.apply();",
        ..Parts::small()
    }
    .load();
    for frame in [[1, 2, 0, 0], [1, 3, 0, 0], [0, 3, 0, 0]] {
        switch.forward(&frame);
    }
    let seen = switch.pipeline.counter("I.seen").expect("a counter");
    let cells: Vec<(u64, u64)> = (0..4)
        .map(|i| switch.pipeline.counter_read(seen, i).expect("a cell"))
        .map(|count| (count.packets, count.bytes))
        .collect();
    assert_eq!(cells, [(0, 0), (0, 0), (1, 4), (2, 8)]);
    let table = switch.table("I.t");
    let entry = switch.pipeline.table_entries(table)[0].handle;
    let hits = switch.pipeline.direct_counter(table, entry).expect("a direct counter");
    assert_eq!(hits.packets, 2);
}
