// Multicast, clones, resubmission, recirculation, truncation, what survives of metadata.
#define METADATA
struct metadata_t {
    @field_list(1)
    bit<8> kept;
    bit<8> forgotten;
}
#include "frame.p4"

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.instance_type == 6) {
            // resubmitted: the frame is as it arrived, the kept field as it was
            hdr.frame.r = meta.kept;
            hdr.frame.b = meta.forgotten;
            return;
        }
        if (sm.instance_type == 4) {
            // recirculated: the frame is as it left
            hdr.frame.b = hdr.frame.b + 1;
            return;
        }
        meta.kept = 0x33;
        meta.forgotten = 0x44;
        switch (hdr.frame.op) {
            1: { sm.mcast_grp = (bit<16>) hdr.frame.a; sm.egress_spec = 511; }
            2: { clone_preserving_field_list(CloneType.I2E, (bit<32>) hdr.frame.a, 1); hdr.frame.r = 1; }
            3: { resubmit_preserving_field_list(1); }
            5: { mark_to_drop(sm); }
            6: { truncate(3); }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
    apply {
        if (hdr.frame.op == 1) {
            hdr.frame.r = sm.egress_rid[7:0];
        } else if (sm.instance_type == 1 || sm.instance_type == 2) {
            hdr.frame.r = meta.kept;
        } else if (hdr.frame.op == 4 && hdr.frame.r == 0) {
            // at egress the type of a recirculated packet is that of any other
            hdr.frame.r = 0x55;
            recirculate_preserving_field_list(1);
        } else if (hdr.frame.op == 7) {
            clone(CloneType.E2E, (bit<32>) hdr.frame.a);
            hdr.frame.op = 8;
        }
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
