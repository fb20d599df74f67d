// AIFO's rule alone, for the resource tables of the papers (controller/p4sched/reproducing/resources.py): aifo.p4 without
// routes, users, sources of ranks, histograms and counters. A packet's rank is in its header, and it leaves where it came from.
#include <core.p4>
#include <tna.p4>

#define LENGTH_REPORTS
#define TAKES_WORKERS
#include "../include/lab.p4"
#include "../include/window.p4"
#include "../include/aifo_admission.p4"
#include "egress.p4"

@pa_container_size("ingress", "window_size_0", 32)
@pa_container_size("ingress", "sample_every_0", 32)
control AifoRule(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                 in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                 inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                 inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    TakeLength() take_length;
    ChooseQueue() choose_queue;
    Window() window;
    ReadLength() read_length;
    TailDrop() tail_drop;
    AifoAdmission() admission;
    EnterQueue() enter;

    bit<32> target;
    bit<32> size;
    bit<16> headroom;
    bit<32> window_size;
    bit<32> sample_every;

    bit<8> smaller;
    bit<32> length;
    bool full;
    bit<2> verdict;

    action set_aifo(bit<16> target_packets, bit<16> capacity_packets, bit<8> headroom_256, bit<8> window_ranks,
                    bit<32> sampling) {
        target = (bit<32>) target_packets;
        size = (bit<32>) capacity_packets;
        headroom = (bit<16>) headroom_256;
        window_size = (bit<32>) window_ranks;
        sample_every = sampling;
    }
    table aifo_params {
        key = { ig_intr_md.ingress_port: exact; }
        actions = { set_aifo; }
        default_action = set_aifo(20, 40, 26, 16, 15);
        size = MAX_PORTS;
    }
    action take_rank() {
        ig_tm_md.ucast_egress_port = ig_intr_md.ingress_port;
        meta.inverse_rank = 0xffffffff - hdr.rank.rank;
    }

    apply {
        if (BRINGS_LENGTH) {
            take_length.apply(hdr, meta, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else {
            choose_queue.apply(meta, ig_intr_md.ingress_port, 0);
            take_rank();
            aifo_params.apply();
            window.apply(ig_intr_md.ingress_port, meta.inverse_rank, window_size, sample_every, smaller);
            read_length.apply(meta, length);
            tail_drop.apply(length, size, full);
            admission.apply(smaller, window_size, length, target, headroom, full, verdict);
            enter.apply(hdr, meta, ig_dprsr_md, ig_tm_md, verdict);
        }
    }
}

Pipeline(LabIngressParser(), AifoRule(), LabIngressDeparser(),
         LabEgressParser(), RuleEgress(), LabEgressDeparser()) pipe;

Switch(pipe) main;
