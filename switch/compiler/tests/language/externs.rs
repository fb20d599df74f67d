//! The externs of v1model, with published check values.

use crate::common::switch::Parts;

/// A program that answers with hashes of the nine bytes of the packet.
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
    // The catalogue's check values, for the digits 1 to 9.
    assert_eq!(hash("crc32", 0, 1 << 32), 0xcbf4_3926);
    assert_eq!(hash("crc16", 0, 1 << 32), 0xbb3d);
    // The Internet checksum (RFC 1071): the last, odd byte is the high half of a word.
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
    // The example header of RFC 1071's many readers: checksum 0xb861.
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
    // One less in the high byte of a word is 0x100 more in the checksum.
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
