// Gearbox (Gao et al., NSDI 2022): weighted fair queueing by virtual finish times, in levels of FIFOs.
//
// The port has the levels. The program gives the flow of each packet, and what a byte of the flow costs.
#include <core.p4>
#include <v1model.p4>

#define TARGET_METADATA bit<32> cost;
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"

control GearboxIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ReadLength() read_length;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<8> by_rank;
    bit<32> length;

    //   weights   1: the rank of a packet is 256 / weight of its flow;  0: all flows have weight 1
    @action_restriction("weights <= 1")
    action set_gearbox(bit<8> weights) {
        by_rank = weights;
    }
    table gearbox_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_gearbox; }
        default_action = set_gearbox(0);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            gearbox_params.apply();
            hash(meta.flow, HashAlgorithm.crc32, 32w0, { FIVE_TUPLE }, (bit<32>) MAX_FLOWS);
            // To the port, 0 is weight 1.
            meta.cost = 0;
            if (by_rank == 1) {
                meta.cost = meta.rank;
            }
            standard_metadata.priority = 0;
            read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
            carry_out.apply(meta, standard_metadata, ADMITTED, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), GearboxIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
