// A value set, an action selector, a digest, a packet that comes again, a stack of unions: parts for proofs of two programs.
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
header e_t { bit<8> v; }
header o_t { bit<8> length; varbit<16> data; }
header_union u_t { e_t one; h_t two; }
struct headers_t { h_t h; e_t[2] s; u_t[2] u; o_t o; o_t p; }
struct meta_t { @field_list(1) bit<8> kept; bit<8> seen; int<8> number; }
struct news_t { bit<8> one; bit<8> two; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    value_set<bit<8>>(4) known;
    state start { p.extract(hdr.h); transition select(hdr.h.a) { CASES default: accept; } }
    state stack { p.extract(hdr.s[0]); p.extract(hdr.s[1]); transition accept; }
    state skip { p.advance((bit<32>) hdr.h.b[3:0] << 3); p.extract(hdr.s[0]); transition accept; }
    state times { p.advance((bit<32>) hdr.h.b[3:0] * 8); p.extract(hdr.s[0]); transition accept; }
    state wrong { p.advance((bit<32>) hdr.h.b[2:0] * 8); p.extract(hdr.s[0]); transition accept; }
    state union { p.extract(hdr.u[1].two); transition accept; }
    state unions { p.extract(hdr.u.next.one); transition select(p.lookahead<bit<8>>()) { 0: unions; default: accept; } }
    state options { p.extract(hdr.o, 8); p.extract(hdr.p, 16); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply {} }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action to(bit<9> port) { s.egress_spec = port; }
    table chosen {
        key = { hdr.h.a: exact; hdr.h.b: selector; m.seen: selector; }
        actions = { to; NoAction; }
        implementation = action_selector(HashAlgorithm.crc16, 8, 8);
    }
    direct_meter<bit<8>>(MeterType.packets) rate;
    action metered() { rate.read(m.seen); }
    table paced { key = { hdr.h.a: exact; } actions = { metered; NoAction; } meters = rate; }
    apply {
        s.egress_spec = 1;
        STATEMENTS
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply {} }
control C(inout headers_t hdr, inout meta_t m) { apply {} }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
