// AIFO with a window for each user. A user that lies about its ranks, or sends many packets, changes its own
// quantiles alone.
//
// One queue. A packet is admitted if few of its user's recent ranks are smaller than its own; the longer the queue, the
// fewer. include/aifo_admission.p4 has the rule.
//
// Eight windows for each port: user u has window u modulo 8, so users 1 to 7 and the packets without a user (user 0) have
// one each. Users whose numbers differ by a multiple of 8 share one.
#include <core.p4>
#include <v1model.p4>

#define WINDOWS 4096
#include "include/lab.p4"
#include "include/rank.p4"
#include "include/carry_out.p4"
#include "include/egress.p4"
#include "include/window.p4"
#include "include/aifo_admission.p4"

control AifoOwnIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    Window() window;
    ReadLength() read_length;
    AifoAdmission() admission;
    TailDrop() tail_drop;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;

    bit<16> target;
    bit<16> size;
    bit<8> headroom;
    bit<8> window_size;
    bit<32> sample_every;

    bit<32> own_window;
    bit<8> smaller;
    bit<32> length;
    bit<2> verdict;

    //   target_packets    C, packets
    //   capacity_packets  size of the queue, packets
    //   headroom_256      K: k in 1/256
    //   window_ranks      |W|, 1 .. 32
    //   sampling          S: every S-th rank enters the window
    @action_restriction("target_packets != 0; capacity_packets != 0;"
                        "window_ranks >= 1 && window_ranks <= 32; sampling != 0")
    action set_aifo(bit<16> target_packets, bit<16> capacity_packets, bit<8> headroom_256, bit<8> window_ranks,
                    bit<32> sampling) {
        target = target_packets;
        size = capacity_packets;
        headroom = headroom_256;
        window_size = window_ranks;
        sample_every = sampling;
    }
    // The paper's defaults: C = 20, k = 0.1, |W| = 20, S = 15.
    table aifo_own_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_aifo; }
        default_action = set_aifo(20, 20, 26, 20, 15);
        size = MAX_PORTS;
    }

    apply {
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            aifo_own_params.apply();
            standard_metadata.priority = 0;
            own_window = (bit<32>) (standard_metadata.egress_spec ++ meta.user[2:0]);
            window.apply(own_window, meta.rank, window_size, sample_every, smaller);
            read_length.apply(standard_metadata.egress_spec, standard_metadata.priority, length);
            admission.apply(smaller, window_size, length, target, headroom, verdict);
            tail_drop.apply(length, size, verdict);
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), AifoOwnIngress(), RankedEgress(), LabComputeChecksum(), LabDeparser()) main;
