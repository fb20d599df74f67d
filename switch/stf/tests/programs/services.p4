// What concerns others than the packet: digests, messages in the log, assertions, a value set without members, a table with a
// selector. The packet goes its way.
#define HEADERS
#define CHECKSUMS
#include "frame.p4"

struct headers_t {
    frame_t frame;
}
struct learnt_t {
    bit<8> a;
    bit<8> b;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    value_set<bit<8>>(4) known;
    state start {
        packet.extract(hdr.frame);
        transition select (hdr.frame.op) {
            known: never;
            default: accept;
        }
    }
    state never {
        hdr.frame.r = 0xff;
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action_selector(HashAlgorithm.crc16, 32w16, 32w8) members;
    action to(bit<9> port) { sm.egress_spec = port; }
    action stay() { sm.egress_spec = 2; }
    table balanced {
        key = {
            hdr.frame.op : exact;
            hdr.frame.a : selector;
        }
        actions = { to; stay; }
        implementation = members;
    }
    apply {
        sm.egress_spec = 1;
        switch (hdr.frame.op) {
            1: {
                digest<learnt_t>(1, { hdr.frame.a, hdr.frame.b });
                hdr.frame.r = 1;
            }
            2: {
                log_msg("a is {}, the frame {}", { hdr.frame.a, hdr.frame });
                log_msg("nothing to tell");
                hdr.frame.r = 2;
            }
            3: {
                assert(hdr.frame.op == 3);
                assume(hdr.frame.isValid());
                hdr.frame.r = 3;
            }
            4: { balanced.apply(); }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }

control C(inout headers_t hdr, inout metadata_t meta) { apply { } }

control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.frame); }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
