// A checksum that is verified at ingress, and computed at egress.
#define HEADERS
#define METADATA
#define CHECKSUMS
#include "frame.p4"

header sum_t {
    bit<8> op;
    bit<8> a;
    bit<16> sum;
}
struct headers_t {
    sum_t h;
}
struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.h.op == 1, { hdr.h.op, hdr.h.a }, hdr.h.sum, HashAlgorithm.csum16);
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.checksum_error == 1) {
            hdr.h.op = 0xee;
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }

control C(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.h.op == 2, { hdr.h.op, hdr.h.a }, hdr.h.sum, HashAlgorithm.csum16);
    }
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.h);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
