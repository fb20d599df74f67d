// FIFO with tail drop: the baseline of every paper. Users and ranks are known as in the other programs, so an ideal
// scheduler behind this program can use them: deficit round robin the user, PIFO the rank.
#include <core.p4>
#include <v1model.p4>

#include "include/lab.p4"
#include "include/rank.p4"
#include "include/tail_drop.p4"
#include "include/egress.p4"

control FifoIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    AdmitToQueue() admit;
    ChargeFlow() charge_flow;

    bit<16> size;

    // depth: size of the queue, packets; 0 leaves it to the queue itself.
    action set_depth(bit<16> depth) {
        size = depth;
    }
    table fifo_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_depth; }
        default_action = set_depth(0);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            fifo_params.apply();
            standard_metadata.priority = 0;
            admit.apply(meta, standard_metadata, size);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), FifoIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
