// RIFO's rule alone, for the resource tables of the papers (controller/p4sched/reproducing/resources.py): rifo.p4 without
// routes, users, sources of ranks, histograms and counters. A packet's rank is in its header, and it leaves where it came from.
#include <core.p4>
#include <tna.p4>

#define LENGTH_REPORTS
#include "../include/lab.p4"
#include "../include/rank_range.p4"
#include "../include/rifo_admission.p4"
#include "egress.p4"

control RifoRule(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                 in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                 inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    TakeLength() take_length;
    ChooseQueue() choose_queue;
    RankRange() rank_range;
    CountArrival() count_arrival;
    TailDrop() tail_drop;
    RifoAdmission() admission;
    EnterQueue() enter;

    bit<32> size;
    bit<8> headroom;
    bit<32> tracking_range;

    bit<32> not_lowest;
    bit<32> highest;
    bit<32> length;
    bool full;
    bit<2> verdict;

    action set_rifo(bit<16> capacity_packets, bit<8> headroom_256, bit<32> tracking_packets) {
        size = (bit<32>) capacity_packets;
        headroom = headroom_256;
        tracking_range = tracking_packets;
    }
    table rifo_params {
        key = { ig_intr_md.ingress_port: exact; }
        actions = { set_rifo; }
        default_action = set_rifo(20, 26, 50);
        size = MAX_PORTS;
    }
    action take_rank() {
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        meta.rank = hdr.rank.rank;
        meta.inverse_rank = 0xffffffff - hdr.rank.rank;
    }

    apply {
        if (BRINGS_LENGTH) {
            take_length.apply(hdr, meta, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else {
            choose_queue.apply(meta, ig_intr_md.ingress_port, 0);
            take_rank();
            rifo_params.apply();
            rank_range.apply(ig_intr_md.ingress_port, meta.rank, meta.inverse_rank, tracking_range, not_lowest, highest);
            count_arrival.apply(meta, size, length);
            tail_drop.apply(length, size, full);
            admission.apply(meta.rank, not_lowest, highest, length, size, headroom, full, verdict);
            enter.apply(hdr, meta, ig_dprsr_md, ig_tm_md, verdict);
        }
    }
}

Pipeline(LabIngressParser(), RifoRule(), LabIngressDeparser(),
         LabEgressParser(), RuleEgress(), LabEgressDeparser()) pipe;

Switch(pipe) main;
