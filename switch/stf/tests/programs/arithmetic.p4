// Operators on unsigned, signed and saturating numbers, slices, concatenation, casts.
#include "frame.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        bit<8> a = hdr.frame.a;
        bit<8> b = hdr.frame.b;
        int<8> s = (int<8>) a;
        switch (hdr.frame.op) {
            1: { hdr.frame.r = a + b; }
            2: { hdr.frame.r = a - b; }
            3: { hdr.frame.r = a |+| b; }
            4: { hdr.frame.r = a |-| b; }
            5: { hdr.frame.r = a * b; }
            6: { hdr.frame.r = (a & b) ^ (a | b); }
            7: { hdr.frame.r = ~a; }
            8: { hdr.frame.r = a << b; }
            9: { hdr.frame.r = (bit<8>) (s >> 1); }
            10: { hdr.frame.r = a[3:0] ++ b[7:4]; }
            11: { hdr.frame.r = (bit<8>) (bit<1>) (s < 0); }
            12: { hdr.frame.r = (bit<8>) (s |+| 100); }
            13: { hdr.frame.r[7:4] = b[3:0]; }
            14: { hdr.frame.r = a > b ? a : b; }
            15: { hdr.frame.r = (bit<8>) (a == b && !(a == 0) ? 8w1 : 8w2); }
            default: { hdr.frame.r = 0xee; }
        }
        sm.egress_spec = 1;
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
