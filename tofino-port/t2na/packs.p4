// PACKS ("Everything Matters in Programmable Packet Scheduling", NSDI 2025). For Tofino 2, whose ghost thread tells ingress
// the lengths of the queues.
//
// Up to 8 strict-priority queues. One rule decides whether a packet is admitted and which queue it goes to.
// ../include/packs_mapping.p4 has the rule, in the paper's form for Tofino 2.
#include <core.p4>
#include <t2na.p4>

#define GHOST_THREAD
#define PORT_LENGTHS
#include "../include/lab.p4"
#include "../include/rank.p4"
#include "../include/carry_out.p4"
#include "../include/egress.p4"
#include "../include/window.p4"
#include "../include/packs_mapping.p4"

// Numbers that a stateful ALU takes must lie in whole containers.
@pa_container_size("ingress", "window_size_0", 32)
@pa_container_size("ingress", "sample_every_0", 32)
control PacksIngress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig_intr_md,
                     in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                     inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                     inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    ChooseQueue() choose_queue;
    Window() window;
    PacksMapping() mapping;
    CountDepth() count_depth;
    CarryOut() carry_out;

    queue_sizes_t sizes;
    bit<16> headroom;
    bit<32> window_size;
    bit<32> sample_every;

    bit<8> smaller;
    bit<32> length;
    bit<2> verdict;

    //   size_1 .. size_8  B_i, packets; 0: there is no such queue, and none after it. Queue i has priority 8 - i. The queues of
    //                     the traffic manager must have these sizes.
    //   headroom_256      K: k in 1/256
    //   window_ranks      |W|, 1 .. 16
    //   sampling          S: every S-th rank enters the window
    @action_restriction("size_1 != 0; size_2 != 0 || size_3 == 0; size_3 != 0 || size_4 == 0; size_4 != 0 || size_5 == 0;"
                        "size_5 != 0 || size_6 == 0; size_6 != 0 || size_7 == 0; size_7 != 0 || size_8 == 0;"
                        "window_ranks >= 1 && window_ranks <= 16; sampling != 0")
    action set_packs(bit<16> size_1, bit<16> size_2, bit<16> size_3, bit<16> size_4,
                     bit<16> size_5, bit<16> size_6, bit<16> size_7, bit<16> size_8,
                     bit<8> headroom_256, bit<8> window_ranks, bit<32> sampling) {
        sizes.size_1 = size_1;
        sizes.size_2 = size_2;
        sizes.size_3 = size_3;
        sizes.size_4 = size_4;
        sizes.size_5 = size_5;
        sizes.size_6 = size_6;
        sizes.size_7 = size_7;
        sizes.size_8 = size_8;
        headroom = (bit<16>) headroom_256;
        window_size = (bit<32>) window_ranks;
        sample_every = sampling;
    }
    // 8 queues of 10 packets (PACKS 6.1), k = 0, the window of their Tofino 2 build.
    table packs_params {
        key = { ig_tm_md.ucast_egress_port: exact @name("egress_spec"); }
        actions = { set_packs; }
        default_action = set_packs(10, 10, 10, 10, 10, 10, 10, 10, 0, 16, 1);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, ig_dprsr_md, ig_tm_md);
        if (!meta.discard) {
            choose_queue.apply(meta, ig_tm_md.ucast_egress_port, 0);
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, ig_tm_md);
            packs_params.apply();
            window.apply(ig_tm_md.ucast_egress_port, meta.inverse_rank, window_size, sample_every, smaller);
            mapping.apply(meta, ig_tm_md.ucast_egress_port, smaller, window_size, sizes, headroom, length, verdict);
            count_depth.apply(ig_tm_md.ucast_egress_port, length);
            carry_out.apply(hdr, meta, ig_dprsr_md, ig_tm_md, verdict);
        }
    }
}

Pipeline(LabIngressParser(), PacksIngress(), LabIngressDeparser(),
         LabEgressParser(), RankedEgress(), LabEgressDeparser(), QueueLengths()) pipe;

Switch(pipe) main;
