//! Registers, counters, meters, hashes, random numbers, assertions, messages.

use crate::common::{Parts, Switch};
use p4sched_dataplane::{Count, MeterConfig, TableError};

#[test]
fn registers_keep_values_between_packets() {
    let parts = Parts {
        ingress: "register<bit<16>>(4) total;",
        ingress_apply: "sm.egress_spec = 2; bit<16> n; total.read(n, (bit<32>)hdr.h.a);
                        n = n + hdr.h.c; total.write((bit<32>)hdr.h.a, n); hdr.h.c = n;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    assert_eq!(switch.forward(&[1, 0, 0, 3]).1, [1, 0, 0, 3]);
    assert_eq!(switch.forward(&[1, 0, 0, 4]).1, [1, 0, 0, 7]);
    assert_eq!(switch.forward(&[2, 0, 0, 4]).1, [2, 0, 0, 4]);
    let total = switch.pipeline.register("I.total").expect("the register");
    assert_eq!(
        (
            switch.pipeline.register_size(total),
            switch.pipeline.register_width(total)
        ),
        (4, 16)
    );
    assert_eq!(switch.pipeline.register_read(total, 1), Ok(vec![0, 7]));
    switch
        .pipeline
        .register_write(total, 1, &[0xff, 0xff])
        .expect("to write it");
    // 16 bits wrap.
    assert_eq!(switch.forward(&[1, 0, 0, 2]).1, [1, 0, 0, 1]);
    // A cell that does not exist: no read and no write.
    assert_eq!(switch.forward(&[9, 0, 0, 2]).1, [9, 0, 0, 2]);
    let missing = TableError::NoCell {
        array: "I.total".into(),
        cell: 4,
        size: 4,
    };
    assert_eq!(switch.pipeline.register_read(total, 4), Err(missing.clone()));
    assert_eq!(switch.pipeline.register_write(total, 4, &[1]), Err(missing));
    assert!(matches!(
        switch.pipeline.register_write(total, 0, &[1, 0, 0]),
        Err(TableError::BadValue(..))
    ));
}

#[test]
fn a_protected_register_is_written_by_its_owner_only() {
    let parts = Parts {
        ingress: "register<bit<32>>(8) depths;",
        ingress_apply: "sm.egress_spec = 2; bit<32> n; depths.read(n, 3); depths.write(3, n + 1); hdr.h.c = (bit<16>)n;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    let depths = switch.pipeline.register("I.depths").expect("the register");
    switch.forward(&[0; 4]);
    assert_eq!(switch.forward(&[0; 4]).1[3], 1);
    switch.pipeline.register_protect(depths);
    switch.pipeline.register_store(depths, 3..4, 77);
    switch.forward(&[0; 4]);
    assert_eq!(switch.forward(&[0; 4]).1[3], 77);
    switch.pipeline.register_store(depths, 7..9, 1);
}

#[test]
fn wide_registers_and_fields_keep_every_bit() {
    let parts = Parts {
        types: "header h_t { bit<128> a; bit<128> b; } struct headers_t { h_t h; } struct meta_t { bit<8> x; }",
        ingress: "register<bit<128>>(2) r;",
        ingress_apply: "sm.egress_spec = 2; bit<128> n; r.read(n, 1); r.write(1, hdr.h.a + hdr.h.b);
                        if (hdr.h.a == hdr.h.b) { n = n + 1; } if (hdr.h.a > hdr.h.b) { n = n >> 64; } hdr.h.a = n;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    let frame = |a: u128, b: u128| [a.to_be_bytes(), b.to_be_bytes()].concat();
    let mut first = |a, b| {
        switch.forward(&frame(a, b)).1[..16]
            .iter()
            .fold(0u128, |n, &x| n << 8 | u128::from(x))
    };
    let (big, small) = (1u128 << 127, 5u128);
    assert_eq!(first(big, big + 3), 0);
    // The sum has wrapped at 128 bits.
    assert_eq!(first(big, big), 3 + 1);
    assert_eq!(first(big | small, small), 0);
    assert_eq!(first(big, 1), (big | (2 * small)) >> 64);
}

#[test]
fn counters_count_frames_and_bytes_of_existing_cells() {
    let parts = Parts {
        ingress: "counter(4, CounterType.packets_and_bytes) seen;",
        ingress_apply: "sm.egress_spec = 2; seen.count((bit<32>)hdr.h.a);",
        ..Parts::small()
    };
    let mut switch = parts.load();
    let seen = switch.pipeline.counter("I.seen").expect("the counter");
    for length in [60, 1514] {
        let mut frame = vec![0; length];
        frame[0] = 3;
        switch.forward(&frame);
    }
    switch.forward(&[4, 0, 0, 0]);
    assert_eq!(
        switch.pipeline.counter_read(seen, 3),
        Ok(Count {
            packets: 2,
            bytes: 1574
        })
    );
    assert_eq!(switch.pipeline.counter_read(seen, 0), Ok(Count::default()));
    switch
        .pipeline
        .counter_write(seen, 3, Count { packets: 10, bytes: 0 })
        .expect("to write it");
    switch.forward(&[3, 0, 0, 0]);
    assert_eq!(
        switch.pipeline.counter_read(seen, 3),
        Ok(Count { packets: 11, bytes: 4 })
    );
    assert!(switch.pipeline.counter_read(seen, 4).is_err());
}

#[test]
fn meters_colour_by_time_and_size() {
    let parts = Parts {
        ingress: "meter(2, MeterType.bytes) police;",
        ingress_apply: "sm.egress_spec = 2; police.execute_meter((bit<32>)hdr.h.a, hdr.h.b);",
        ..Parts::small()
    };
    let mut switch = parts.load();
    let police = switch.pipeline.meter("I.police").expect("the meter");
    let mut frame = [0; 100];
    frame[0] = 1;
    assert_eq!(switch.forward(&frame).1[1], 0);
    let config = MeterConfig {
        cir: 1000,
        cburst: 100,
        pir: 2000,
        pburst: 200,
        eburst: 0,
    };
    switch
        .pipeline
        .meter_write(police, 1, Some(config))
        .expect("to configure it");
    assert_eq!(switch.pipeline.meter_read(police, 1), Ok(Some(config)));
    let colours: Vec<u8> = (0..3).map(|_| switch.forward(&frame).1[1]).collect();
    assert_eq!(colours, [0, 1, 2]);
    switch.now += 100_000_000;
    let colours: Vec<u8> = (0..3).map(|_| switch.forward(&frame).1[1]).collect();
    // 100 ms: 100 committed bytes and 200 peak bytes.
    assert_eq!(colours, [0, 1, 2]);
    let backwards = MeterConfig {
        cir: 2,
        cburst: 1,
        pir: 1,
        pburst: 1,
        eburst: 0,
    };
    assert!(matches!(
        switch.pipeline.meter_write(police, 1, Some(backwards)),
        Err(TableError::BadValue(..))
    ));
    assert!(switch.pipeline.meter_write(police, 2, None).is_err());
}

#[test]
fn hashes_stay_between_base_and_limit() {
    let parts = Parts {
        ingress_apply: "sm.egress_spec = 2;
            hash(hdr.h.c, HashAlgorithm.crc16, (bit<16>)100, { hdr.h.a, hdr.h.b }, (bit<16>)10);",
        ..Parts::small()
    };
    let mut switch = parts.load();
    for a in 0..50 {
        let sent = switch.forward(&[a, 7, 0, 0]).1;
        assert!((100..110).contains(&u16::from_be_bytes([sent[2], sent[3]])));
    }
    let crc32 =
        "sm.egress_spec = 2; hash(hdr.h.c, HashAlgorithm.crc32, (bit<16>)0, { hdr.h.a, hdr.h.b }, (bit<32>)65536);";
    let mut switch = Parts {
        ingress_apply: crc32,
        ..Parts::small()
    }
    .load();
    // CRC-32 of "ab" is 9e83486d.
    assert_eq!(switch.forward(b"ab\0\0").1, [b'a', b'b', 0x48, 0x6d]);
}

#[test]
fn random_numbers_cover_their_interval_and_repeat_with_the_seed() {
    let parts = Parts {
        ingress_apply: "sm.egress_spec = 2; random(hdr.h.a, 3, 6);",
        ..Parts::small()
    };
    let draw = |seed| {
        let mut switch = parts.load();
        switch.pipeline.set_seed(seed);
        (0..200).map(|_| switch.forward(&[0; 4]).1[0]).collect::<Vec<u8>>()
    };
    let first = draw(1);
    let mut seen: Vec<u8> = first.clone();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [3, 4, 5, 6]);
    assert_eq!(draw(1), first);
    assert_ne!(draw(2), first);
}

#[test]
fn a_message_without_values_loads_as_p4c_writes_it() {
    let parts = Parts {
        ingress_apply: "sm.egress_spec = 2; log_msg(\"here\");",
        ..Parts::small()
    };
    let values: String = r#""parameters_vector", "value": "#.split_whitespace().collect();
    let json: String = parts.json().split_whitespace().collect();
    let of_p4c = json.replacen(&format!("{values}[]"), &format!("{values}{{}}"), 1);
    assert_ne!(json, of_p4c);
    for json in [json, of_p4c] {
        let mut switch = Switch::new(&json);
        switch.forward(&[1, 2, 3, 4]);
        assert_eq!(switch.out.log, ["here"]);
    }
}

#[test]
fn messages_and_failed_assertions_are_reported() {
    let parts = Parts {
        ingress_apply: "sm.egress_spec = 2; log_msg(\"a={} c={}\", { hdr.h.a, hdr.h.c });
            log_msg(\"{}, {}\", { hdr.h, hdr.h.a }); assert(hdr.h.a < 5);",
        ..Parts::small()
    };
    let mut switch = parts.load();
    switch.forward(&[9, 0, 1, 0]);
    assert_eq!(switch.out.log, ["a=9 c=256", "(a:9,b:0,c:256), 9"]);
    assert_eq!(switch.pipeline.failed_assertions(), 1);
    switch.forward(&[1, 0, 1, 0]);
    assert_eq!(switch.pipeline.failed_assertions(), 1);
}

#[test]
fn signed_and_saturating_arithmetic() {
    let parts = Parts {
        types: "header h_t { int<8> a; int<8> b; bit<8> c; bit<8> d; bit<8> r1; int<8> r2; bit<8> r3; bit<8> r4; bit<8> r5; }
                struct headers_t { h_t h; } struct meta_t { bit<8> x; }",
        ingress_apply: "sm.egress_spec = 2;
            hdr.h.r1 = hdr.h.c |+| hdr.h.d; hdr.h.r2 = hdr.h.a |+| hdr.h.b; hdr.h.r3 = hdr.h.c |-| hdr.h.d;
            hdr.h.r4 = hdr.h.c - hdr.h.d;
            if (hdr.h.a < hdr.h.b) { hdr.h.r5 = 1; } else { hdr.h.r5 = 0; }
            hdr.h.a = hdr.h.a >> 1;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    let out = switch.forward(&[0x80, 0xff, 200, 100, 0, 0, 0, 0, 0]).1;
    // -128 >> 1; -128 + -1 saturates; 200 + 100 saturates; 200 - 100.
    assert_eq!(out, [0xc0, 0xff, 200, 100, 255, 0x80, 100, 100, 1]);
    let out = switch.forward(&[0x7f, 0x01, 100, 200, 0, 0, 0, 0, 9]).1;
    assert_eq!(out, [0x3f, 0x01, 100, 200, 255, 0x7f, 0, 156, 0]);
}
