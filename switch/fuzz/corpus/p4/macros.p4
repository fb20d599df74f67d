#include <core.p4>
#include <v1model.p4>
#define EMPTY
#define PASTE(a, b) a ## b
#define NAMED(a, b) PASTE(a, b)
#define TEXT(...) #__VA_ARGS__
#define FIELDS(type, first, rest...) type first; type NAMED(rest, _t)
#define CALL(f, ...) f(__VA_ARGS__ __VA_OPT__(,) 0)
#define SET(x, n) x = \
    8w ## n
#if defined(EMPTY) && !(0x7fff & ~0 >> 63 ? 'a' == 97u : -1 / 1 < 0) || __has_include(<core.p4>)
header h_t { FIELDS(bit<8>, a, b); bit<16> c; }
#elifdef EMPTY
# error "not here"
#else
'open
#name(x)
#endif
struct headers_t { h_t h; }
struct meta_t { bit<8> NAMED(kept, __COUNTER__); }
#pragma push_macro("SET")
#line 100 "other.p4"
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
@my(TEXT(I, "x"))
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action go(bit<8> n, bit<8> m) { hdr.h.b_t = n + m; }
    apply {
        CALL
        (go,
#ifdef SET
         3
#endif
        );
        SET(hdr.h.a, 0x1F);
        _Pragma("pop_macro(\"SET\")") sm.egress_spec = 2;
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out p, in headers_t hdr) { apply { log_msg("before"); p.emit(hdr.h); log_msg(TEXT(a "b" {}), { hdr.h.a }); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
