// FIFO with tail drop: the baseline of every paper. Users and ranks are known as in the other programs, so an
// ideal scheduler behind this program knows them too: deficit round robin by user, PIFO by rank.
#include <core.p4>
#include <v1model.p4>

#include "shared/constants.p4"
#include "shared/headers.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/forwarding.p4"
#include "include/users.p4"
#include "include/queue_depth.p4"
#include "include/tail_drop.p4"
#include "include/rank.p4"

control FifoIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ChargeFlow() charge_flow;
    AdmitToQueue() admit;
    bit<16> limit = 0;

    // depth: room of the queue in packets; 0 leaves it to the queue itself.
    action set_depth(bit<16> depth) {
        limit = depth;
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
            admit.apply(meta, standard_metadata, limit);
            charge_flow.apply(meta);
        }
    }
}

control FifoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    LeaveQueue() leave;
    AdvanceTime() advance_time;
    apply {
        leave.apply(meta, standard_metadata);
        advance_time.apply(meta, standard_metadata);
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), FifoIngress(), FifoEgress(), LabComputeChecksum(), LabDeparser()) main;
