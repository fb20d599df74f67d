#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
struct headers_t { h_t h; }
struct meta_t { bit<8> kept; }
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition select(hdr.h.a) { 1 .. 3: accept; 7: reject; default: accept; } }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action say(bit<16> n) { hdr.h.c = n; }
    table t { key = { hdr.h.c: lpm; } actions = { say; NoAction; } default_action = NoAction(); size = 4;  }
    apply { sm.egress_spec = 2; bit<16> x = hdr.h.c; int<16> y = (int<16>)x; x = (bit<16>)(y >> 2) ^ (hdr.h.a ++ hdr.h.b); x[3:0] = x[15:12]; hdr.h.c = x == 0 ? 16w1 : x - 1; switch (t.apply().action_run) { say: { exit; } default: { } } if (hdr.h.isValid() && !(hdr.h.a < 3 || hdr.h.b >= 4)) { hdr.h.setInvalid(); } }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
