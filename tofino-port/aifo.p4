// AIFO: admission-in first-out (Yu et al., "Programmable Packet Scheduling with a Single Queue", SIGCOMM 2021).
// For Tofino 1. programs/aifo.md says what is in which stage.
//
// One queue. A packet is admitted if few of the recent ranks are smaller than its own; the longer the queue, the fewer.
// include/aifo_admission.p4 has the rule.
#include <core.p4>
#include <tna.p4>

#define LENGTH_REPORTS
#define TAKES_WORKERS
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/window.p4"
#include "include/aifo_admission.p4"

// Numbers that a stateful ALU takes must lie in whole containers.
@pa_container_size("ingress", "window_size_0", 32)
@pa_container_size("ingress", "sample_every_0", 32)
control AifoIngress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                    in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                    inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                    inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    TakeLength() take_length;
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ChooseQueue() choose_queue;
    Window() window;
    ReadLength() read_length;
    TailDrop() tail_drop;
    AifoAdmission() admission;
    CountDepth() count_depth;
    CarryOut() carry_out;

    bit<32> target;
    bit<32> size;
    bit<16> headroom;
    bit<32> window_size;
    bit<32> sample_every;

    bit<8> smaller;
    bit<32> length;
    bool full;
    bit<2> verdict;

    //   target_packets    C, packets
    //   capacity_packets  size of the queue, packets
    //   headroom_256      K: k in 1/256
    //   window_ranks      |W|, 1 .. 16
    //   sampling          S: every S-th rank enters the window
    @action_restriction("target_packets != 0; capacity_packets != 0;"
                        "window_ranks >= 1 && window_ranks <= 16; sampling != 0")
    action set_aifo(bit<16> target_packets, bit<16> capacity_packets, bit<8> headroom_256, bit<8> window_ranks,
                    bit<32> sampling) {
        target = (bit<32>) target_packets;
        size = (bit<32>) capacity_packets;
        headroom = (bit<16>) headroom_256;
        window_size = (bit<32>) window_ranks;
        sample_every = sampling;
    }
    // The paper's defaults with the window of its Tofino build: C = 20, k = 0.1, |W| = 16, S = 15. The queue is larger than C, for what
    // is admitted between two departures.
    table aifo_params {
        key = { ig_tm_md.ucast_egress_port: exact @name("egress_spec"); }
        actions = { set_aifo; }
        default_action = set_aifo(20, 40, 26, 16, 15);
        size = MAX_PORTS;
    }

    apply {
        if (BRINGS_LENGTH) {
            take_length.apply(hdr, meta, ig_intr_md, ig_dprsr_md, ig_tm_md);
        } else {
            forwarding.apply(hdr, meta, ig_dprsr_md, ig_tm_md);
            if (!meta.discard) {
                choose_queue.apply(meta, ig_tm_md.ucast_egress_port, 0);
                users.apply(hdr, meta);
                ranking.apply(hdr, meta, ig_tm_md);
                aifo_params.apply();
                window.apply(ig_tm_md.ucast_egress_port, meta.inverse_rank, window_size, sample_every, smaller);
                read_length.apply(meta, length);
                tail_drop.apply(length, size, full);
                admission.apply(smaller, window_size, length, target, headroom, full, verdict);
                count_depth.apply(ig_tm_md.ucast_egress_port, length);
                carry_out.apply(hdr, meta, ig_dprsr_md, ig_tm_md, verdict);
            }
        }
    }
}

Pipeline(LabIngressParser(), AifoIngress(), LabIngressDeparser(),
         LabEgressParser(), RankedEgress(), LabEgressDeparser()) pipe;

Switch(pipe) main;
