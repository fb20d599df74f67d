// RIFO with a range for each user. A user that lies about its ranks, or sends many packets, changes its own
// range alone.
//
// One queue. A packet is admitted by the place of its rank between the smallest and the largest of its user's recent
// ranks. include/rifo_admission.p4 has the rule.
//
// Eight ranges for each port: user u has range u modulo 8, so users 1 to 7 and the packets without a user (user 0) have
// one each. Users whose numbers differ by a multiple of 8 share one.
#include <core.p4>
#include <v1model.p4>

#define RANGES 4096
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/rank_range.p4"
#include "include/rifo_admission.p4"

control RifoOwnIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    RankRange() rank_range;
    ReadLength() read_length;
    RifoAdmission() admission;
    TailDrop() tail_drop;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<16> size;
    bit<8> headroom;
    bit<32> tracking_range;

    bit<32> own_range;
    bit<32> lowest;
    bit<32> highest;
    bit<32> length;
    bit<2> verdict;

    //   capacity_packets  B, packets
    //   headroom_256      K: k in 1/256
    //   tracking_packets  T: the range starts anew after so many arrivals
    @action_restriction("capacity_packets != 0; tracking_packets != 0")
    action set_rifo(bit<16> capacity_packets, bit<8> headroom_256, bit<32> tracking_packets) {
        size = capacity_packets;
        headroom = headroom_256;
        tracking_range = tracking_packets;
    }
    // The paper's defaults: B = 20, k = 0.1, T = 50.
    table rifo_own_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_rifo; }
        default_action = set_rifo(20, 26, 50);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            rifo_own_params.apply();
            standard_metadata.priority = 0;
            own_range = (bit<32>) (standard_metadata.egress_spec ++ meta.user[2:0]);
            rank_range.apply(own_range, meta.rank, tracking_range, lowest, highest);
            read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
            admission.apply(meta.rank, lowest, highest, length, size, headroom, verdict);
            tail_drop.apply(length, size, verdict);
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), RifoOwnIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
