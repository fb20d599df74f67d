// SCRR (Sharafzadeh et al., NSDI 2025): round robin over flows without a quantum.
//
// The port chooses at departure. The program gives the flow of each packet.
#include <core.p4>
#include <v1model.p4>

#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"

control ScrrIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ReadLength() read_length;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<32> length;

    // All parameters belong to the port.
    action set_scrr() {}
    table scrr_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_scrr; }
        default_action = set_scrr();
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            scrr_params.apply();
            hash(meta.flow, HashAlgorithm.crc32, 32w0, { FIVE_TUPLE }, (bit<32>) MAX_FLOWS);
            standard_metadata.priority = 0;
            read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
            carry_out.apply(meta, standard_metadata, ADMITTED, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), ScrrIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
