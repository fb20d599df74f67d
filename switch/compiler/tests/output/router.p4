// One of most things that BMv2 JSON and P4Info can tell of.
#include <core.p4>
#include <v1model.p4>
error { Odd }
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header opt_t { bit<8> len; varbit<64> data; }
header tag_t { bit<3> p; bit<1> d; bit<12> v; bit<16> type; }
struct headers_t { eth_t eth; tag_t[2] tags; opt_t opt; }
struct meta_t { bit<8> class; bool ok; int<4> level; }
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    value_set<bit<16>>(8) tunnels;
    state start { p.extract(hdr.eth); transition select(hdr.eth.type) { 0x8100: tag; 0x1000 &&& 0xf000: opt; tunnels: opt; default: accept; } }
    state tag { p.extract(hdr.tags.next); transition select(hdr.tags.last.type, meta.class) { (0x8100, _): tag; (_, 3): opt; default: accept; } }
    state opt { p.extract(hdr.opt, 8); verify(hdr.opt.len == 1, error.Odd); meta.class = 3; transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { verify_checksum(hdr.opt.isValid(), { hdr.eth.dst, hdr.eth.src }, hdr.eth.type, HashAlgorithm.csum16); } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    @queue_depth register<bit<16>>(64) depths;
    counter(512, CounterType.bytes) seen;
    direct_counter(CounterType.packets_and_bytes) hits;
    action_selector(HashAlgorithm.crc16, 32, 10) members;
    action drop() { mark_to_drop(sm); hits.count(); }
    action forward(bit<9> port, @id(7) bit<48> mac) { sm.egress_spec = port; hdr.eth.dst = mac; hits.count(); }
    table route {
        key = { hdr.eth.dst: exact; hdr.eth.type: ternary; sm.ingress_port: range; hdr.opt.isValid(): exact; hdr.tags[0].v: lpm @name("vlan"); }
        actions = { forward; drop; @defaultonly NoAction; }
        default_action = NoAction();
        counters = hits;
        size = 100;
    }
    action forward2(bit<9> port) { sm.egress_spec = port; }
    action drop2() { mark_to_drop(sm); }
    table spread { key = { hdr.eth.src: selector; hdr.eth.dst: exact; } actions = { forward2; } implementation = members; }
    @id(0x42) @name(".acl") table deny { key = { meta.class: optional; } actions = { drop2; NoAction; } const default_action = NoAction;
      const entries = { 1: drop2(); _: NoAction; } }
    apply {
        if (route.apply().hit) { seen.count((bit<32>)sm.ingress_port); } else if (meta.class == 2) { deny.apply(); } else { spread.apply(); }
        bit<16> n; depths.read(n, (bit<32>)sm.egress_spec); depths.write(0, n + 1);
        digest<meta_t>(1, meta);
        hash(meta.class, HashAlgorithm.crc32, 8w0, { hdr.eth.src, n }, 16w8);
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { update_checksum(hdr.eth.isValid(), { hdr.eth.dst }, hdr.eth.type, HashAlgorithm.csum16); } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
