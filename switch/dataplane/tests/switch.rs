//! The work of simple_switch around the P4 code: its docs/simple_switch.md, sentence by sentence.

use crate::common::{Parts, SMALL};
use p4sched_dataplane::{CloneSession, Outcomes, Queueing};

#[test]
fn a_packet_goes_where_egress_spec_says_and_port_0_if_nothing_does() {
    let mut switch = Parts {
        ingress_apply: "sm.egress_spec = (bit<9>)hdr.h.c;",
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.send(1, &[0, 0, 1, 0xfe, 5]), [(510, vec![0, 0, 1, 0xfe, 5])]);
    assert_eq!(switch.send(1, &[0, 0, 0, 0]), [(0, vec![0, 0, 0, 0])]);
    // 511 drops, whichever code writes it.
    assert_eq!(switch.send(1, &[0, 0, 1, 0xff]), []);
    assert!(switch.out.dropped);
}

#[test]
fn mark_to_drop_drops_at_ingress_and_at_egress() {
    let drop = "if (hdr.h.a == 1) { mark_to_drop(sm); }";
    let ingress = format!("sm.egress_spec = 2; sm.mcast_grp = 1; {drop}");
    let mut switch = Parts {
        ingress_apply: &ingress,
        ..Parts::small()
    }
    .load();
    switch.pipeline.mcast_group_set(1, vec![(3, 0)]);
    assert_eq!(switch.send(1, &[1, 0, 0, 0]), []);
    assert_eq!(switch.send(1, &[2, 0, 0, 0]).len(), 1);

    let mut switch = Parts {
        ingress_apply: "sm.egress_spec = 2;",
        egress_apply: drop,
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.send(1, &[1, 0, 0, 0]), []);
    assert!(switch.out.dropped);
    assert_eq!(switch.send(1, &[2, 0, 0, 0]).len(), 1);
}

#[test]
fn exit_ends_ingress_but_not_egress() {
    let parts = Parts {
        ingress: "action leave() { exit; }",
        ingress_apply: "sm.egress_spec = 2; if (hdr.h.a == 1) { leave(); } hdr.h.b = 1;",
        egress_apply: "hdr.h.c = 9;",
        ..Parts::small()
    };
    let mut switch = parts.load();
    assert_eq!(switch.forward(&[1, 0, 0, 0]).1, [1, 0, 0, 9]);
    assert_eq!(switch.forward(&[2, 0, 0, 0]).1, [2, 1, 0, 9]);
}

#[test]
fn metadata_tells_port_length_time_and_queue() {
    let parts = Parts {
        types: "header h_t { bit<9> port; bit<7> pad; bit<32> length; bit<48> arrived; bit<48> left; bit<32> waited;
                    bit<32> enqueued; bit<32> depth; bit<32> depth_left; bit<9> out; bit<7> pad2; }
                struct headers_t { h_t h; } struct meta_t { bit<8> x; }",
        parser: "state start { p.extract(hdr.h); transition accept; }",
        ingress_apply: "sm.egress_spec = 5; hdr.h.port = sm.ingress_port; hdr.h.length = sm.packet_length;
                    hdr.h.arrived = sm.ingress_global_timestamp; sm.priority = 6;",
        egress_apply: "hdr.h.left = sm.egress_global_timestamp; hdr.h.waited = sm.deq_timedelta;
                    hdr.h.enqueued = sm.enq_timestamp; hdr.h.depth = (bit<32>)sm.enq_qdepth;
                    hdr.h.depth_left = (bit<32>)sm.deq_qdepth; hdr.h.out = sm.egress_port;",
        deparser: "p.emit(hdr.h);",
        ..Parts::default()
    };
    let mut switch = parts.load();
    let pipeline = &mut switch.pipeline;
    let mut out = Outcomes::default();
    pipeline.ingress(7_999_999, 258, &[0; 100], &mut out);
    let packet = out.enqueue.remove(0);
    assert_eq!((packet.port, packet.priority, packet.frame_len), (5, 6, 100));
    let port = pipeline.field("standard_metadata.ingress_port").expect("a field");
    let arrived = pipeline.field("hdr.h.arrived").expect("a field");
    assert_eq!(
        (
            pipeline.read(&packet.packet, port),
            pipeline.read(&packet.packet, arrived)
        ),
        (258, 7999)
    );
    let queueing = Queueing {
        port: 5,
        enq_ns: 8_000_000,
        enq_qdepth: 3,
        deq_qdepth: 4,
        qid: 6,
    };
    pipeline.egress(9_500_000, packet.packet, queueing, &mut out);
    let frame = out.frame.expect("a frame").frame.to_vec();
    let number = |range: std::ops::Range<usize>| frame[range].iter().fold(0u64, |n, &b| n << 8 | u64::from(b));
    assert_eq!((number(0..2) >> 7, number(2..6), number(6..12)), (258, 100, 7999));
    assert_eq!((number(12..18), number(18..22), number(22..26)), (9500, 1500, 8000));
    assert_eq!((number(26..30), number(30..34), number(34..36) >> 7), (3, 4, 5));
}

#[test]
fn multicast_makes_one_copy_a_replica_each_with_its_rid() {
    let parts = Parts {
        ingress_apply: "sm.mcast_grp = (bit<16>)hdr.h.a; hdr.h.b = 7;",
        egress_apply: "hdr.h.c = sm.egress_rid; if (sm.instance_type != 5) { hdr.h.a = 0xff; }",
        ..Parts::small()
    };
    let mut switch = parts.load();
    switch.pipeline.mcast_group_set(4, vec![(1, 10), (2, 20), (2, 21)]);
    let copies = switch.send(9, &[4, 0, 0, 0, 0xaa]);
    let copy = |port, rid| (port, vec![4, 7, 0, rid, 0xaa]);
    assert_eq!(copies, [copy(1, 10), copy(2, 20), copy(2, 21)]);
    // A group that does not exist makes no copies, and the original is dropped.
    assert_eq!(switch.send(9, &[5, 0, 0, 0]), []);
    assert!(switch.out.dropped);
    assert!(switch.pipeline.mcast_group_delete(4));
    assert_eq!(switch.send(9, &[4, 0, 0, 0]), []);
}

#[test]
fn an_ingress_clone_is_the_packet_as_it_arrived_with_the_listed_metadata() {
    let parts = Parts {
        ingress_apply: "sm.egress_spec = 2; hdr.h.a = 0x99; meta.kept = 5; meta.lost = 6;
                        clone_preserving_field_list(CloneType.I2E, 3, 1);",
        egress_apply: "if (sm.instance_type == 1) { hdr.h.b = meta.kept; hdr.h.c = (bit<16>)meta.lost; }",
        ..Parts::small()
    };
    let mut switch = parts.load();
    assert_eq!(switch.send(1, &[1, 0, 0, 0]), [(2, vec![0x99, 0, 0, 0])]);
    let session = CloneSession {
        replicas: vec![(7, 0), (8, 1)],
        ..CloneSession::default()
    };
    switch.pipeline.clone_session_set(3, session);
    let sent = switch.send(1, &[1, 0, 0, 0]);
    assert_eq!(
        sent,
        [(7, vec![1, 5, 0, 0]), (8, vec![1, 5, 0, 0]), (2, vec![0x99, 0, 0, 0])]
    );
}

#[test]
fn a_clone_session_truncates_and_chooses_the_queue() {
    let parts = Parts {
        ingress_apply: "mark_to_drop(sm); clone(CloneType.I2E, 3);",
        ..Parts::small()
    };
    let mut switch = parts.load();
    let session = CloneSession {
        replicas: vec![(7, 0)],
        group: None,
        truncate_to: Some(6),
        class_of_service: 4,
    };
    switch.pipeline.clone_session_set(3, session);
    switch.pipeline.ingress(0, 1, &[1; 20], &mut switch.out);
    let clone = switch.out.enqueue.remove(0);
    assert_eq!((clone.port, clone.priority, clone.frame_len), (7, 4, 6));
    let queueing = Queueing {
        port: 7,
        ..Queueing::default()
    };
    switch.pipeline.egress(0, clone.packet, queueing, &mut switch.out);
    assert_eq!(switch.out.frame.take().expect("a frame").frame[..], [1; 6]);
}

#[test]
fn an_egress_clone_is_the_packet_as_egress_left_it() {
    let parts = Parts {
        ingress_apply: "sm.egress_spec = 2;",
        egress_apply: "if (sm.instance_type == 0) { hdr.h.a = 0x99; meta.kept = 5; meta.lost = 6;
                           clone_preserving_field_list(CloneType.E2E, 3, 1); }
                       else if (sm.instance_type == 2) { hdr.h.b = meta.kept; hdr.h.c = (bit<16>)meta.lost; }",
        ..Parts::small()
    };
    let mut switch = parts.load();
    switch.pipeline.clone_session_set(
        3,
        CloneSession {
            replicas: vec![(7, 0)],
            ..CloneSession::default()
        },
    );
    let sent = switch.send(1, &[1, 0, 0, 0]);
    assert_eq!(sent, [(2, vec![0x99, 0, 0, 0]), (7, vec![0x99, 5, 0, 0])]);
}

#[test]
fn a_resubmitted_packet_starts_over_unchanged() {
    let parts = Parts {
        ingress_apply: "if (sm.instance_type == 0) { hdr.h.a = 0x77; meta.kept = 5; meta.lost = 6; sm.egress_spec = 3;
                            resubmit_preserving_field_list(1); }
                        else { hdr.h.b = meta.kept; hdr.h.c = (bit<16>)meta.lost; sm.egress_spec = 2; }",
        ..Parts::small()
    };
    assert_eq!(parts.load().send(1, &[1, 0, 0, 0]), [(2, vec![1, 5, 0, 0])]);
    // Endless resubmission: the packet is dropped.
    let forever = Parts {
        ingress_apply: "resubmit_preserving_field_list(1);",
        ..Parts::small()
    };
    let mut switch = forever.load();
    assert_eq!(switch.send(1, &[1, 0, 0, 0]), []);
    assert!(switch.out.dropped);
}

#[test]
fn a_recirculated_packet_is_parsed_again_as_it_was_deparsed() {
    let parts = Parts {
        types: SMALL,
        ingress_apply: "sm.egress_spec = 2; if (sm.instance_type == 4) { hdr.h.b = meta.kept;
                            hdr.h.c = (bit<16>)meta.lost + (bit<16>)sm.packet_length; }",
        egress_apply: "if (sm.instance_type == 0 && hdr.h.a < 3) { hdr.h.a = hdr.h.a + 1; meta.kept = hdr.h.a;
                           meta.lost = 100; recirculate_preserving_field_list(1); }",
        ..Parts::small()
    };
    let sent = parts.load().send(1, &[1, 0, 0, 0, 9]);
    // Egress sees instance type 0 (a normal packet) on every pass: two more passes, until a = 3.
    assert_eq!(sent, [(2, vec![3, 3, 0, 5, 9])]);
}

#[test]
fn a_digest_carries_its_fields() {
    let parts = Parts {
        types: "header h_t { bit<8> a; bit<8> b; bit<16> c; } struct headers_t { h_t h; }
                struct seen_t { bit<9> port; bit<16> c; } struct meta_t { seen_t seen; }",
        ingress_apply: "sm.egress_spec = 2; if (hdr.h.a == 1) { meta.seen = { sm.ingress_port, hdr.h.c };
                        digest<seen_t>(1, meta.seen); }",
        ..Parts::small()
    };
    let mut switch = parts.load();
    switch.send(300, &[0, 0, 0, 0]);
    assert!(switch.out.digests.is_empty());
    switch.send(300, &[1, 0, 0xab, 0xcd]);
    let digest = switch.out.digests.remove(0);
    assert_eq!(digest.fields, [vec![1, 44], vec![0xab, 0xcd]]);
    assert_eq!(switch.pipeline.digest_name(digest.digest), "seen_t");
}

#[test]
fn truncate_cuts_the_deparsed_frame() {
    let mut switch = Parts {
        ingress_apply: "sm.egress_spec = 2; truncate(6);",
        ..Parts::small()
    }
    .load();
    assert_eq!(switch.forward(&[1, 2, 3, 4, 5, 6, 7, 8]).1, [1, 2, 3, 4, 5, 6]);
    assert_eq!(switch.forward(&[1, 2, 3, 4, 5]).1, [1, 2, 3, 4, 5]);
}

#[test]
fn the_deparser_emits_valid_headers_only() {
    let parts = Parts {
        types: "header h_t { bit<8> a; } header g_t { bit<16> b; }
                struct headers_t { h_t h; g_t g; } struct meta_t { bit<8> x; }",
        parser: "state start { p.extract(hdr.h); transition accept; }",
        ingress_apply: "sm.egress_spec = 2; if (hdr.h.a == 1) { hdr.g.setValid(); hdr.g.b = 0x1234; hdr.h.setInvalid(); }",
        deparser: "p.emit(hdr.g); p.emit(hdr.h);",
        ..Parts::default()
    };
    let mut switch = parts.load();
    assert_eq!(switch.forward(&[1, 9]).1, [0x12, 0x34, 9]);
    assert_eq!(switch.forward(&[2, 9]).1, [2, 9]);
}

#[test]
fn checksums_are_verified_and_updated_under_their_conditions() {
    let parts = Parts {
        types: "header h_t { bit<8> a; bit<8> b; bit<16> c; } struct headers_t { h_t h; } struct meta_t { bit<8> x; }",
        verify: "verify_checksum(hdr.h.a < 9, { hdr.h.a, hdr.h.b }, hdr.h.c, HashAlgorithm.csum16);",
        ingress_apply: "sm.egress_spec = 2; hdr.h.b = (bit<8>)sm.checksum_error;",
        update: "update_checksum(hdr.h.a > 1, { hdr.h.a, hdr.h.b }, hdr.h.c, HashAlgorithm.csum16);",
        ..Parts::small()
    };
    let mut switch = parts.load();
    // Correct; wrong; wrong, but its condition excludes it from the check.
    assert_eq!(switch.forward(&[1, 7, !1, !7]).1, [1, 0, !1, !7]);
    assert_eq!(switch.forward(&[2, 7, 0, 0]).1, [2, 1, !2, !1]);
    assert_eq!(switch.forward(&[9, 7, 0, 0]).1, [9, 0, !9, !0]);
}

#[test]
fn another_programs_packet_is_dropped_and_the_same_programs_is_not() {
    let parts = Parts {
        ingress_apply: "sm.egress_spec = 2;",
        ..Parts::small()
    };
    let mut first = parts.load();
    let mut again = parts.load();
    let mut other = Parts {
        ingress_apply: "sm.egress_spec = 3;",
        ..parts
    }
    .load();
    for (switch, delivered) in [(&mut again, true), (&mut other, false)] {
        first.pipeline.ingress(0, 1, &[1, 2, 3, 4], &mut first.out);
        let packet = first.out.enqueue.remove(0).packet;
        switch.pipeline.egress(0, packet, Queueing::default(), &mut switch.out);
        assert_eq!(switch.out.frame.is_some(), delivered);
        assert_eq!(switch.out.dropped, !delivered);
    }
}

#[test]
fn headers_more_or_less_leave_the_payload_in_its_place() {
    let parts = Parts {
        types: "header h_t { bit<8> a; bit<8> b; bit<16> c; } header x_t { bit<64> v; }
                struct headers_t { x_t x; h_t h; } struct meta_t { bit<8> n; }",
        parser: "state start { p.extract(hdr.h); transition accept; }",
        ingress_apply: "sm.egress_spec = 2;
                        if (hdr.h.a == 1) { hdr.x.setValid(); hdr.x.v = 7; } else { hdr.h.setInvalid(); }",
        deparser: "p.emit(hdr.x); p.emit(hdr.h);",
        ..Parts::default()
    };
    let mut pipeline = parts.load().pipeline;
    let mut out = Outcomes::default();
    for (kind, headers) in [(1, vec![0, 0, 0, 0, 0, 0, 0, 7, 1, 0, 0, 0]), (2, vec![])] {
        pipeline.ingress(0, 1, &[kind, 0, 0, 0, 7, 8, 9], &mut out);
        let packet = out.enqueue.pop().expect("a port").packet;
        let payload = packet.payload().as_ptr_range();
        pipeline.egress(1, packet, Queueing::default(), &mut out);
        let frame = out.frame.take().expect("a frame").frame;
        assert_eq!(frame[..], [headers, vec![7, 8, 9]].concat());
        assert_eq!(frame[frame.len() - 3..].as_ptr_range(), payload);
        out.clear();
    }
}
