// A stack, a union, lookahead, verify, a field of variable length, and a list of fields for clones.
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
header e_t { bit<7> v; bit<1> last; }
header two_t { bit<16> y; }
header o_t { bit<8> length; varbit<32> data; }
header_union u_t { e_t one; two_t two; }
error { Bad }
struct headers_t { h_t h; e_t[2] s; u_t u; o_t o; }
struct meta_t { @field_list(1) bit<8> kept; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(hdr.h); transition select(hdr.h.a) { 1: more; 2: one; 3: two; 4: options; 5: check;
                                                                 default: accept; } }
    state more { p.extract(hdr.s.next); transition select(hdr.s.last.last) { 1: accept; default: more; } }
    state one { p.extract(hdr.u.one); transition accept; }
    state two { p.extract(hdr.u.two); transition accept; }
    state options {
        bit<8> n = p.lookahead<bit<8>>();
        verify(n <= 4, error.Bad);
        p.extract(hdr.o, (bit<32>) n * 8);
        transition accept;
    }
    state check { transition select(p.lookahead<bit<16>>()) { 0x0102: two; default: accept; } }
}
control V(inout headers_t hdr, inout meta_t m) { apply {} }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        STATEMENTS
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply {} }
control C(inout headers_t hdr, inout meta_t m) { apply {} }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
