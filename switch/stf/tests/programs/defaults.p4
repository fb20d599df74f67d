// A default action that changes, tables that share an action, a table without a key.
#include "frame.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    action set(bit<8> r) { hdr.frame.r = r; }
    action send(bit<9> port) { sm.egress_spec = port; }
    table parameters {
        actions = { set; }
        default_action = set(1);
    }
    table fixed {
        actions = { set; }
        const default_action = set(2);
    }
    table forward {
        key = { hdr.frame.isValid() : exact; sm.ingress_port : exact; }
        actions = { send; NoAction; }
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        if (hdr.frame.op == 1) {
            parameters.apply();
        } else if (hdr.frame.op == 2) {
            fixed.apply();
        }
        forward.apply();
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
