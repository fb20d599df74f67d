// Action selectors: entries that point to a member or to a group of members.
#include "frame.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action to(bit<9> port, bit<8> r) {
        sm.egress_spec = port;
        hdr.frame.r = r;
    }

    @name("ways") action_selector(HashAlgorithm.crc16, 16, 8) ways;

    table routes {
        key = {
            hdr.frame.a: exact;
            hdr.frame.b: selector;
        }
        actions = { to; }
        implementation = ways;
    }

    apply {
        sm.egress_spec = 1;
        routes.apply();
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply { }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
