#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<16> c; }
struct headers_t { h_t h; }
struct meta_t { bit<65535> kept; }
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition select(hdr.h.a) { 1 .. 3: accept; 7: reject; default: accept; } }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action say(bit<16> n) { hdr.h.c = n; }
    table t { key = { hdr.h.a: ternary; hdr.h.c: range; hdr.h.b: optional; } actions = { say; NoAction; } default_action = NoAction(); size = 4; const entries = { (1 &&& 3, 5 .. 9, _): say(5); (_, _, 7): say(6); } }
    apply { sm.egress_spec = 2; if (t.apply().hit) { hdr.h.b = hdr.h.a |+| 200; } else { mark_to_drop(sm); } }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
