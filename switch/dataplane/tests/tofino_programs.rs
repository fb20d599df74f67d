//! Compiled Tofino programs: their externs, packet by packet.

use crate::common::tofino::Chip;
use p4sched_compiler::{Arch, EmbeddedIncludes, Input, Options, compile};
use p4sched_dataplane::{ActionCall, CloneSession, MatchKey};

/// The parts of a program around one header; an empty part does nothing.
#[derive(Clone, Copy, Default)]
struct Parts<'a> {
    t2na: bool,
    /// Types and instances before the parser.
    types: &'a str,
    /// States from `parse_frame` on: of ingress here, of egress below.
    parser: Option<&'a str>,
    egress_parser: Option<&'a str>,
    ingress: &'a str,
    ingress_apply: &'a str,
    ingress_deparser: &'a str,
    ingress_deparser_apply: &'a str,
    egress_apply: &'a str,
    egress_deparser: &'a str,
    egress_deparser_apply: &'a str,
    /// Declarations of the ghost control, and its apply block.
    ghost: Option<(&'a str, &'a str)>,
}

const FRAME: &str = "state parse_frame { pkt.extract(hdr.h); transition accept; }";

impl Parts<'_> {
    fn source(&self) -> String {
        let arch = if self.t2na { "t2na" } else { "tna" };
        let (ghost, ghost_argument) = match self.ghost {
            Some((locals, apply)) => (
                format!("control G(in ghost_intrinsic_metadata_t gh_intr_md) {{ {locals} apply {{ {apply} }} }}"),
                ", G()",
            ),
            None => (String::new(), ""),
        };
        format!(
            "#include <core.p4>
#include <{arch}.p4>
header h_t {{ bit<8> kind; bit<8> port; bit<16> value; bit<32> big; }}
header note_t {{ bit<8> mark; bit<16> text; bit<5> _pad; bit<3> rest; }}
header data_t {{ bit<64> data; }}
struct headers_t {{ note_t note; h_t h; }}
struct meta_t {{ bit<16> user; bit<8> length; data_t data; }}
{types}
parser IP(packet_in pkt, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t ig_intr_md) {{
    state start {{ pkt.extract(ig_intr_md); transition select(ig_intr_md.resubmit_flag) {{ 1: resubmitted; default: first; }} }}
    state first {{ pkt.advance(PORT_METADATA_SIZE); transition parse_frame; }}
    state resubmitted {{ pkt.extract(meta.data); pkt.advance(PORT_METADATA_SIZE - 64); transition parse_frame; }}
    {parser}
}}
{ghost}
control I(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
          in ingress_intrinsic_metadata_from_parser_t ig_prsr_md, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
          inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {{
    {ingress}
    apply {{ ig_tm_md.ucast_egress_port = (bit<9>)hdr.h.port; {ingress_apply} }}
}}
control ID(packet_out pkt, inout headers_t hdr, in meta_t meta, in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {{
    {ingress_deparser}
    apply {{ {ingress_deparser_apply} pkt.emit(hdr); }}
}}
parser EP(packet_in pkt, out headers_t hdr, out meta_t meta, out egress_intrinsic_metadata_t eg_intr_md) {{
    state start {{ pkt.extract(eg_intr_md); transition parse_frame; }}
    {egress_parser}
}}
control E(inout headers_t hdr, inout meta_t meta, in egress_intrinsic_metadata_t eg_intr_md,
          in egress_intrinsic_metadata_from_parser_t eg_prsr_md, inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
          inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {{
    apply {{ {egress_apply} }}
}}
control ED(packet_out pkt, inout headers_t hdr, in meta_t meta, in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {{
    {egress_deparser}
    apply {{ {egress_deparser_apply} pkt.emit(hdr); }}
}}
Pipeline(IP(), I(), ID(), EP(), E(), ED(){ghost_argument}) pipe;
Switch(pipe) main;
",
            types = self.types,
            parser = self.parser.unwrap_or(FRAME),
            egress_parser = self.egress_parser.unwrap_or(FRAME),
            ingress = self.ingress,
            ingress_apply = self.ingress_apply,
            ingress_deparser = self.ingress_deparser,
            ingress_deparser_apply = self.ingress_deparser_apply,
            egress_apply = self.egress_apply,
            egress_deparser = self.egress_deparser,
            egress_deparser_apply = self.egress_deparser_apply,
        )
    }

    fn load(&self) -> Chip {
        let text = self.source();
        let input = Input {
            name: "test.p4",
            text: &text,
        };
        let options = Options {
            arch: if self.t2na { Arch::T2na } else { Arch::Tna },
            ..Options::default()
        };
        match compile(&input, &EmbeddedIncludes, &options) {
            Ok(compiled) => Chip::new(&serde_json::from_str(&compiled.json).expect("JSON")),
            Err(diagnostics) => panic!("{diagnostics}\n{text}"),
        }
    }
}

/// A frame for port 7.
fn frame(kind: u8, value: u16, big: u32) -> Vec<u8> {
    let mut frame = vec![kind, 7];
    frame.extend(value.to_be_bytes());
    frame.extend(big.to_be_bytes());
    frame
}

/// `big` in the only frame that comes out.
fn big(chip: &mut Chip, sent: &[u8]) -> u32 {
    let sent = chip.send(3, sent);
    assert_eq!(sent.len(), 1, "{sent:?}");
    let frame = &sent[0].2;
    u32::from_be_bytes([frame[4], frame[5], frame[6], frame[7]])
}

#[test]
fn a_register_action_returns_the_old_or_the_new_value() {
    let mut chip = Parts {
        ingress: "Register<bit<32>, bit<8>>(5, 7) r;
            RegisterAction<bit<32>, bit<8>, bit<32>>(r) before = {
                void apply(inout bit<32> value, out bit<32> rv) { rv = value; value = value + 1; } };
            RegisterAction<bit<32>, bit<8>, bit<32>>(r) after = {
                void apply(inout bit<32> value, out bit<32> rv) { value = value |-| hdr.h.big; rv = value; } };",
        ingress_apply: "if (hdr.h.kind == 1) { hdr.h.big = before.execute(hdr.h.value[7:0]); }
            else { hdr.h.big = after.execute(hdr.h.value[7:0]); }",
        ..Parts::default()
    }
    .load();
    assert_eq!(
        [big(&mut chip, &frame(1, 2, 0)), big(&mut chip, &frame(1, 2, 0))],
        [7, 8]
    );
    assert_eq!(
        [big(&mut chip, &frame(2, 2, 4)), big(&mut chip, &frame(2, 2, 40))],
        [5, 0]
    );
    // An index has three bits; cell 5 does not exist.
    assert_eq!(
        [big(&mut chip, &frame(1, 9, 0)), big(&mut chip, &frame(1, 1, 0))],
        [7, 8]
    );
    assert_eq!(
        [big(&mut chip, &frame(1, 5, 0)), big(&mut chip, &frame(1, 13, 0))],
        [0, 0]
    );
}

#[test]
fn a_register_of_pairs_updates_both_halves_and_keeps_the_first_in_the_high_bits() {
    let mut chip = Parts {
        types: "struct pair_t { bit<32> first; bit<32> second; }",
        ingress: "Register<pair_t, bit<1>>(2, {1, 2}) r;
            RegisterAction<pair_t, bit<1>, bit<32>>(r) act = { void apply(inout pair_t v, out bit<32> rv) {
                rv = v.second;
                if (v.first > 2) { v.first = 0; v.second = v.second + hdr.h.big; } else { v.first = v.first + 1; } } };",
        ingress_apply: "hdr.h.big = act.execute(0);",
        ..Parts::default()
    }
    .load();
    let seen: Vec<u32> = (0..4).map(|_| big(&mut chip, &frame(0, 0, 10))).collect();
    assert_eq!(seen, [2, 2, 2, 12]);
    let register = chip.pipeline.register("pipe.I.r").expect("the register");
    assert_eq!(
        chip.pipeline.register_read(register, 0),
        Ok(vec![0, 0, 0, 1, 0, 0, 0, 12])
    );
    assert_eq!(
        chip.pipeline.register_read(register, 1),
        Ok(vec![0, 0, 0, 1, 0, 0, 0, 2])
    );
}

#[test]
fn a_low_pass_filter_averages_its_samples_over_time() {
    let mut chip = Parts {
        ingress: "@lpf_spec(1000000, 2000000, 1) Lpf<bit<32>, bit<8>>(4) low;",
        ingress_apply: "hdr.h.big = low.execute(hdr.h.big, hdr.h.kind);",
        ..Parts::default()
    }
    .load();
    // Half of the average after one time constant, for samples of 1000 from time 0 on.
    chip.now = 1_000_000;
    assert_eq!(big(&mut chip, &frame(2, 0, 1000)), 316);
    // Each of the other cells has its own average.
    assert_eq!(big(&mut chip, &frame(3, 0, 2000)), 632);
    chip.now = 3_000_000;
    assert_eq!(big(&mut chip, &frame(2, 0, 0)), 116, "632.1 / e, halved");
}

#[test]
fn each_entry_of_a_table_has_a_filter_of_its_own_that_begins_when_it_is_added() {
    let mut chip = Parts {
        ingress: "@lpf_spec(1000000, 1000000, 0) DirectLpf<bit<32>>() low;
            action average() { hdr.h.big = low.execute(hdr.h.big); }
            table flows { key = { hdr.h.kind: exact; } actions = { average; NoAction; }
                default_action = NoAction(); filters = low; size = 8; }",
        ingress_apply: "flows.apply();",
        ..Parts::default()
    }
    .load();
    chip.now = 5_000_000;
    assert_eq!(big(&mut chip, &frame(1, 0, 1000)), 1000, "no entry, no filter");
    let table = chip.pipeline.table("pipe.I.flows").expect("the table");
    let action = chip.pipeline.table_action(table, "I.average").expect("the action");
    let call = ActionCall::Action {
        action,
        params: Vec::new(),
    };
    for kind in [1, 2] {
        let key = [MatchKey::Exact(vec![kind])];
        chip.pipeline.table_insert(table, &key, 0, &call).expect("an entry");
    }
    chip.now = 6_000_000;
    assert_eq!(big(&mut chip, &frame(1, 0, 1000)), 632);
    assert_eq!(big(&mut chip, &frame(2, 0, 100)), 63);
}

#[test]
fn random_early_detection_drops_by_the_average() {
    let mut chip = Parts {
        ingress: "@wred_spec(0, 100, 300, 50) Wred<bit<32>, bit<8>>(4, 7, 9) red;",
        ingress_apply: "hdr.h.big = (bit<32>) red.execute(hdr.h.big, hdr.h.kind);",
        ..Parts::default()
    }
    .load();
    let mut drops = |sample| (0..1000).filter(|_| big(&mut chip, &frame(0, 0, sample)) == 7).count();
    assert_eq!([drops(100), drops(301)], [0, 1000]);
    let half = drops(200);
    assert!((200..300).contains(&half), "a quarter of 1000: {half}");
}

#[test]
fn a_header_bridges_metadata_from_ingress_to_egress() {
    let mut chip = Parts {
        ingress_apply: "meta.user = 0x1234; hdr.note.setValid(); hdr.note.mark = 0xaa; hdr.note.text = meta.user;",
        egress_parser: Some("state parse_frame { pkt.extract(hdr.note); pkt.extract(hdr.h); transition accept; }"),
        egress_apply: "hdr.h.value = hdr.note.text + meta.user; hdr.h.big = (bit<32>)eg_intr_md.pkt_length;
            hdr.note.setInvalid();",
        ..Parts::default()
    }
    .load();
    // Egress starts with its own metadata, of zeros.
    assert_eq!(
        chip.send(3, &frame(1, 0, 0)),
        [(7, 0, vec![1, 7, 0x12, 0x34, 0, 0, 0, 12])]
    );
}

const MIRROR_PARSER: &str =
    "state parse_frame { transition select(pkt.lookahead<bit<8>>()) { 0xcc: mirrored; default: plain; } }
    state mirrored { pkt.extract(hdr.note); transition plain; }
    state plain { pkt.extract(hdr.h); transition accept; }";

#[test]
fn mirrors_carry_their_header_from_both_deparsers() {
    let emit = "if (TYPE.mirror_type == 1) { mirror.emit<note_t>(WHERE, {0xcc, hdr.h.value, 0, 0}); }";
    let ingress = emit
        .replace("TYPE", "ig_dprsr_md")
        .replace("WHERE", "(bit<10>)hdr.h.big[9:0]");
    let egress = emit.replace("TYPE", "eg_dprsr_md").replace("WHERE", "6");
    let mut chip = Parts {
        ingress_apply: "if (hdr.h.kind == 1) { ig_dprsr_md.mirror_type = 1; hdr.h.value = 5; }",
        ingress_deparser: "Mirror() mirror;",
        ingress_deparser_apply: &ingress,
        egress_parser: Some(MIRROR_PARSER),
        egress_apply: "if (hdr.h.kind == 2 && !hdr.note.isValid()) { eg_dprsr_md.mirror_type = 1; hdr.h.value = 6; }
            if (hdr.note.isValid()) { hdr.h.kind = 9; }",
        egress_deparser: "Mirror() mirror;",
        egress_deparser_apply: &egress,
        ..Parts::default()
    }
    .load();
    for (id, port) in [(5, 8), (6, 9)] {
        let session = CloneSession {
            replicas: vec![(port, 0)],
            ..CloneSession::default()
        };
        chip.pipeline.clone_session_set(id, session);
    }
    // The copy of ingress is the frame as it arrived, that of egress the frame as it leaves.
    let copy = [vec![0xcc, 0, 5, 0], frame(9, 0, 5)].concat();
    assert_eq!(chip.send(3, &frame(1, 0, 5)), [(8, 0, copy), (7, 0, frame(1, 5, 5))]);
    let copy = [vec![0xcc, 0, 6, 0], frame(9, 6, 0)].concat();
    assert_eq!(chip.send(3, &frame(2, 0, 0)), [(7, 0, frame(2, 6, 0)), (9, 0, copy)]);
    assert_eq!(chip.send(3, &frame(3, 0, 0)).len(), 1);
}

#[test]
fn a_resubmitted_packet_brings_its_data() {
    for t2na in [false, true] {
        let mut chip = Parts {
            t2na,
            ingress_apply: "if (ig_intr_md.resubmit_flag == 0) { ig_dprsr_md.resubmit_type = 2; hdr.h.value = 1; }
                else { hdr.h.big = meta.data.data[31:0]; }",
            ingress_deparser: "Resubmit() resubmit;",
            ingress_deparser_apply: "if (ig_dprsr_md.resubmit_type == 2) { resubmit.emit<data_t>({48w7 ++ hdr.h.value}); }",
            ..Parts::default()
        }
        .load();
        assert_eq!(chip.send(3, &frame(1, 0, 0)), [(7, 0, frame(1, 0, 7 << 16 | 1))]);
    }
}

#[test]
fn a_digest_packs_fields() {
    let mut chip = Parts {
        types: "struct learn_t { bit<8> kind; bit<9> port; }",
        ingress_apply: "if (hdr.h.kind == 4) { ig_dprsr_md.digest_type = 1; }",
        ingress_deparser: "Digest<learn_t>() digest;",
        ingress_deparser_apply: "if (ig_dprsr_md.digest_type == 1) { digest.pack({hdr.h.kind, (bit<9>)hdr.h.value[8:0]}); }",
        ..Parts::default()
    }
    .load();
    chip.pipeline.ingress(0, 3, &frame(4, 0x101, 0), &mut chip.out);
    assert_eq!(chip.out.digests[0].fields, [vec![4], vec![1, 1]]);
    chip.out.clear();
    chip.pipeline.ingress(0, 3, &frame(5, 0x101, 0), &mut chip.out);
    assert!(chip.out.digests.is_empty());
}

#[test]
fn the_ghost_thread_writes_what_ingress_reads() {
    let mut chip = Parts {
        t2na: true,
        types: "Register<bit<32>, bit<11>>(2048) lengths;",
        ghost: Some((
            "RegisterAction<bit<32>, bit<11>, bit<32>>(lengths) store = {
                void apply(inout bit<32> value) { value = (bit<32>)gh_intr_md.qlength; } };",
            "store.execute(gh_intr_md.qid);",
        )),
        ingress: "RegisterAction<bit<32>, bit<11>, bit<32>>(lengths) load = {
                void apply(inout bit<32> value, out bit<32> rv) { rv = value; } };",
        ingress_apply: "hdr.h.big = load.execute((bit<11>)hdr.h.value[10:0]);",
        ..Parts::default()
    }
    .load();
    chip.pipeline.ghost(0, 9, 2, 41);
    assert_eq!(big(&mut chip, &frame(1, 9 << 3 | 2, 0)), 41);
    assert_eq!(big(&mut chip, &frame(1, 9 << 3, 0)), 0);
}

#[test]
fn an_ingress_that_reads_parser_errors_gets_the_packet() {
    let parts = Parts {
        ingress_apply: "if (ig_prsr_md.parser_err != 0) { ig_tm_md.ucast_egress_port = (bit<9>)ig_prsr_md.parser_err[8:0]; }",
        ..Parts::default()
    };
    let short = [1, 7, 0];
    assert_eq!(parts.load().send(3, &short), [(2, 0, short.to_vec())]);
    assert_eq!(Parts::default().load().send(3, &short), []);
    // A select in which no case matches.
    let strict = Parts {
        parser: Some(
            "state parse_frame { pkt.extract(hdr.h); transition select(hdr.h.kind) { 1: accept; 2: refused; } }
             state refused { transition reject; }",
        ),
        ..parts
    };
    let mut chip = strict.load();
    assert_eq!(chip.send(3, &frame(1, 0, 0)), [(7, 0, frame(1, 0, 0))]);
    for kind in [2, 3] {
        assert_eq!(chip.send(3, &frame(kind, 0, 0)), [(1, 0, frame(kind, 0, 0))]);
    }
}

#[test]
fn a_hash_with_a_polynomial_and_a_checksum() {
    let mut chip = Parts {
        ingress: "CRCPolynomial<bit<16>>(0x1021, false, false, false, 0xffff, 0) poly;
            Hash<bit<16>>(HashAlgorithm_t.CUSTOM, poly) custom;
            Hash<bit<32>>(HashAlgorithm_t.CRC32) crc;",
        ingress_apply: "if (hdr.h.kind == 1) { hdr.h.value = custom.get({hdr.h.big}); } else { hdr.h.big = crc.get({hdr.h.big}); }",
        ingress_deparser: "Checksum() sum;",
        ingress_deparser_apply: "if (hdr.h.kind == 3) { hdr.h.value = sum.update({hdr.h.kind, hdr.h.port, hdr.h.big}); }",
        ..Parts::default()
    }
    .load();
    // CRC-16/IBM-3740 and CRC-32 of "1234".
    let text = u32::from_be_bytes(*b"1234");
    assert_eq!(chip.send(3, &frame(1, 0, text))[0].2[2..4], 0x5349u16.to_be_bytes());
    assert_eq!(big(&mut chip, &frame(2, 0, text)), 0x9be3_e0a3);
    let sent = chip.send(3, &frame(3, 0, text)).remove(0).2;
    let words = sent
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
}

#[test]
fn egress_leaves_the_payload_in_its_place() {
    for t2na in [false, true] {
        let mut chip = Parts {
            t2na,
            egress_apply: "hdr.note.setValid(); hdr.note.mark = 5;",
            ..Parts::default()
        }
        .load();
        let sent = [frame(1, 2, 3), vec![9; 1000]].concat();
        chip.pipeline.ingress(0, 1, &sent, &mut chip.out);
        let packet = chip.out.enqueue.pop().expect("a port").packet;
        let end = packet.payload().as_ptr_range().end;
        chip.pipeline.egress(1, packet, chip.queueing, &mut chip.out);
        let left = chip.out.frame.take().expect("a frame").frame;
        assert_eq!((left.len(), &left[4..]), (sent.len() + 4, &sent[..]));
        assert_eq!(left.as_ptr_range().end, end);
    }
}
