#include <core.p4>
#include <v1model.p4>
error { Odd }
enum bit<8> Kind { one = 1, two = 2 }
header h_t { bit<8> a; bit<8> b; bit<16> c; }
header o_t { bit<8> n; varbit<64> data; }
header_union u_t { h_t h; o_t o; }
struct headers_t { h_t h; h_t[3] s; u_t u; }
struct meta_t { @field_list(1) bit<8> kept; tuple<bit<4>, bit<4>> pair; Kind kind; }
bit<8> twice(in bit<8> x) { if (x == 0) { return 1; } return x + x; }
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    value_set<bit<8>>(4) known;
    state start { p.extract(hdr.h); verify(hdr.h.a != 9, error.Odd); transition select(hdr.h.a, hdr.h.b) {
        (1, 2 .. 5): more; (_, 8w4 &&& 8w0xc): accept; default: more; } }
    state more { p.extract(hdr.s.next); transition select(hdr.s.last.a) { known: accept; 0: rest; default: more; } }
    state rest { p.extract(hdr.u.o, (bit<32>)p.lookahead<bit<8>>() << 3); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { verify_checksum(true, { hdr.h.a, hdr.h.b }, hdr.h.c, HashAlgorithm.csum16); } }
control Sub(inout bit<8> x)(bit<8> step) { register<bit<8>>(4) r; apply { bit<8> n; r.read(n, 0); x = n |+| step; r.write(0, x); } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    Sub(3) sub;
    direct_counter(CounterType.packets) hits;
    action set(inout bit<8> x, bit<9> port) { sm.egress_spec = port; x = 1; hits.count(); }
    action drop() { mark_to_drop(sm); exit; }
    @name("first") table t {
        key = { hdr.h.a: exact; hdr.h.c: ternary; hdr.h.b & 0xf: exact @name("low"); }
        actions = { set(meta.kept); drop; NoAction; }
        const default_action = NoAction;
        counters = hits;
        const entries = { (1, _, 2): drop(); (2, 0x10 &&& 0xf0, 3): drop; }
    }
    apply {
        bit<8> n = 0;
        for (bit<8> i in 1 .. 3) { if (i == hdr.h.a) { continue; } n += twice(i); }
        switch (t.apply().action_run) { drop: { hdr.h.b = 1; } default: { sub.apply(hdr.h.b); } }
        hdr.h.c[7:4] = (bit<4>)n; hdr.s[hdr.h.a[1:0]].b = n > 3 ? hdr.h.a : -hdr.h.b;
        if (!hdr.u.isValid() && hdr.s[0].isValid()) { hdr.s.push_front(1); hdr.s[0] = { 1, n, (bit<16>)(int<16>)(int<8>)n }; }
        hash(hdr.h.c, HashAlgorithm.crc16, 16w0, { hdr.h.a, meta.kept }, 16w100);
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { clone_preserving_field_list(CloneType.E2E, 3, 1); } }
control C(inout headers_t hdr, inout meta_t meta) { apply { update_checksum(hdr.h.isValid(), { hdr.h.a }, hdr.h.c, HashAlgorithm.csum16); } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
