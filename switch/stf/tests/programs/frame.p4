// What the programs of this folder share: four bytes in front of everything.
#include <core.p4>
#include <v1model.p4>

// `op` chooses what a program does with `a` and `b`; `r` is what comes of it.
header frame_t {
    bit<8> op;
    bit<8> a;
    bit<8> b;
    bit<8> r;
}

#ifndef METADATA
struct metadata_t { }
#endif

#ifndef HEADERS
struct headers_t {
    frame_t frame;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.frame);
        transition accept;
    }
}

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.frame);
    }
}
#endif

#ifndef CHECKSUMS
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
#endif
