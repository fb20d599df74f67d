// AIFO: admission-in first-out (Yu et al., "Programmable Packet Scheduling with a Single Queue", SIGCOMM 2021).
//
//   W: the last |W| ranks (every S-th one);  q: entries of W strictly smaller than the packet's rank
//   c: length of the one queue;  C: its target;  k = K/256: headroom
//   admit iff  q C (256 - K) <= |W| (C - c) 256
//
// c is exact where the traffic manager honours @queue_depth. Built with -D WORKER_PACKETS, recirculating packets bring
// it from egress, as in the paper's Tofino build; built with -D PORTABLE_DEPTH, c is what BMv2 can know.
#include <core.p4>
#include <v1model.p4>

#include "shared/constants.p4"
#include "shared/headers.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/forwarding.p4"
#include "include/users.p4"
#include "include/queue_depth.p4"
#include "include/rank.p4"
#include "include/admission.p4"
#include "include/window.p4"
#ifdef WORKER_PACKETS
#include "include/worker.p4"
#endif

control AifoIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Forwarding() forwarding;
    Users() users;
    Rank() ranking;
    Window() window;
    CarryOut() carry_out;
    ChargeFlow() charge_flow;
#ifdef WORKER_PACKETS
    WorkerIngress() worker;
#endif

    bit<16> target = 0;
    bit<16> room = 0;
    bit<8> headroom = 0;
    bit<8> window_size = 1;
    bit<32> sample_every = 1;

    bit<32> port;
    bit<32> length;
    bit<8> smaller;
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
        room = capacity_packets;
        headroom = headroom_256;
        window_size = window_ranks;
        sample_every = sampling;
    }
    // The paper's defaults: C = 20, k = 0.1, |W| = 20, S = 15.
    table aifo_params {
        key = { standard_metadata.egress_spec: exact; }
        actions = { set_aifo; }
        default_action = set_aifo(20, 20, 26, 20, 15);
        size = MAX_PORTS;
    }

    apply {
#ifdef WORKER_PACKETS
        if (hdr.worker.isValid()) {
            worker.apply(hdr, standard_metadata);
            return;
        }
#endif
        forwarding.apply(hdr, meta, standard_metadata);
        if (!meta.discard) {
            users.apply(hdr, meta);
            ranking.apply(hdr, meta, standard_metadata);
            aifo_params.apply();
            standard_metadata.priority = 0;
            port = (bit<32>) standard_metadata.egress_spec;
            window.apply(port, meta.rank, window_size, sample_every, smaller);
#ifdef WORKER_PACKETS
            queue_length_ingress.read(length, port);
#else
            queue_depths.read(length, port << 3);
#endif
            verdict = REFUSED;
            if (length <= (bit<32>) target) {
                bit<64> needed = (bit<64>) smaller * (bit<64>) target * (256 - (bit<64>) headroom);
                bit<64> free = ((bit<64>) window_size * ((bit<64>) target - (bit<64>) length)) << 8;
                if (needed <= free) {
                    verdict = ADMITTED;
                    if (length >= (bit<32>) room) {
                        verdict = FULL;
                    }
                }
            }
            carry_out.apply(meta, standard_metadata, verdict, length);
            charge_flow.apply(meta);
        }
    }
}

control AifoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    LeaveQueue() leave;
    AdvanceTime() advance_time;
#ifdef WORKER_PACKETS
    WorkerEgress() worker;
#endif
    apply {
#ifdef WORKER_PACKETS
        worker.apply(hdr, standard_metadata);
        if (hdr.worker.isValid()) {
            return;
        }
#endif
        leave.apply(meta, standard_metadata);
        advance_time.apply(meta, standard_metadata);
    }
}

V1Switch(LabParser(), LabVerifyChecksum(), AifoIngress(), AifoEgress(), LabComputeChecksum(), LabDeparser()) main;
