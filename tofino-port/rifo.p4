// RIFO: range-in first-out ("RIFO: Pushing the Efficiency of Programmable Packet Schedulers").
// For Tofino 1. programs/rifo.md says what is in which stage.
//
// One queue. A packet is admitted by the place of its rank between the smallest and the largest of the recent ranks.
// include/rifo_admission.p4 has the rule.
#include <core.p4>
#include <tna.p4>

#define LENGTH_REPORTS
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/rank_range.p4"
#include "include/rifo_admission.p4"

control RifoIngress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    TakeLength() take_length;
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ChooseQueue() choose_queue;
    RankRange() rank_range;
    CountArrival() count_arrival;
    TailDrop() tail_drop;
    RifoAdmission() admission;
    CountDepth() count_depth;
    CarryOut() carry_out;

    bit<32> size;
    bit<8> headroom;
    bit<32> tracking_range;

    // The complement of the smallest rank.
    bit<32> not_lowest;
    bit<32> highest;
    bit<32> length;
    bool full;
    bit<2> verdict;

    //   capacity_packets  B, packets
    //   headroom_256      K: k in 1/256
    //   tracking_packets  T: the range starts anew after so many arrivals
    @action_restriction("capacity_packets != 0; tracking_packets != 0")
    action set_rifo(bit<16> capacity_packets, bit<8> headroom_256, bit<32> tracking_packets) {
        size = (bit<32>) capacity_packets;
        headroom = headroom_256;
        tracking_range = tracking_packets;
    }
    // The paper's defaults: B = 20, k = 0.1, T = 50.
    table rifo_params {
        key = { ig_tm_md.ucast_egress_port: exact @name("egress_spec"); }
        actions = { set_rifo; }
        default_action = set_rifo(20, 26, 50);
        size = MAX_PORTS;
    }

    apply {
        if (BRINGS_LENGTH) {
            take_length.apply(hdr, meta, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else {
            forwarding.apply(hdr, meta, ig_dprsr_md, ig_tm_md);
            if (!meta.discard) {
                users.apply(hdr, meta);
                ranking.apply(hdr, meta, ig_tm_md);
                rifo_params.apply();
                rank_range.apply(ig_tm_md.ucast_egress_port, meta.rank, meta.inverse_rank, tracking_range, not_lowest, highest);
                choose_queue.apply(meta, ig_tm_md.ucast_egress_port, 0);
                count_arrival.apply(meta, size, length);
                tail_drop.apply(length, size, full);
                admission.apply(meta.rank, not_lowest, highest, length, size, headroom, full, verdict);
                count_depth.apply(ig_tm_md.ucast_egress_port, length);
                carry_out.apply(hdr, meta, ig_dprsr_md, ig_tm_md, verdict);
            }
        }
    }
}

Pipeline(LabIngressParser(), RifoIngress(), LabIngressDeparser(),
         LabEgressParser(), RankedEgress(), LabEgressDeparser()) pipe;

Switch(pipe) main;
